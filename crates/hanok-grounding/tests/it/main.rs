//! Figures of answers and their sources.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

mod agents;
mod evaluation;
mod forms;
mod properties;
