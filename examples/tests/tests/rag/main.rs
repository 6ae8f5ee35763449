//! Questions about the documents and the people of an office, answered by `rag`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod asked;
mod broken;
mod directory;
mod knowledge;
mod meaning;
mod offline;
mod processes;
mod program;
mod taken_away;
