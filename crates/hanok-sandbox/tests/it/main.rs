//! What the tools reach, and what they refuse.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod files;
mod python_repl;
mod read_file;
#[cfg(feature = "web")]
#[path = "../../../hanok-egress/tests/it/server/mod.rs"]
mod server;
#[path = "../../../hanok-egress/tests/it/support/mod.rs"]
mod support;
mod web_tools;
