//! What the client fetches, and what it refuses.

mod egress;
mod server;
mod support;
