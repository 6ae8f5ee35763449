//! The examples that work with tools, and those that are one idea each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod orchestrator;
mod real_estate;
mod served;
mod small;
