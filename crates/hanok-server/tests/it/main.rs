//! Tests of the server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test may stop at what it did not expect, and says how it went"
)]

mod approve;
mod chat;
mod clerk;
mod guarded;
mod kills;
mod langgraph_runs;
mod langgraph_state;
mod langgraph_store;
mod langgraph_threads;
mod openai;
mod runs;
mod samples;
mod served;
mod simulated;
mod socket;
mod strangers;
mod support;
