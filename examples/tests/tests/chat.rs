//! Conversations with `chat`.

mod asked;
mod broken;
mod meaning;
mod program;
mod scenarios;
mod server;
mod support;
