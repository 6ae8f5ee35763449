//! Conversations with `chat`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod asked;
mod broken;
mod meaning;
mod program;
mod scenarios;
mod server;
mod support;
