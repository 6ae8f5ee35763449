//! The command, end to end, on files that graphs have written. One program, since each more would link all of hanok once more.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

mod decisions;
mod requests;
mod support;
mod verbs;
