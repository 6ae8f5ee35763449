//! Requests of `orchestrator`, its people and its servers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod deaths;
mod paths;
mod program;
mod requests;
mod typed;
