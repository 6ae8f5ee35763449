//! What the tools do, and what they refuse.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod clock;
#[path = "../../../hanok-egress/tests/it/support/mod.rs"]
mod support;
mod todos;
mod tools;
