//! Questions about contracts, answered by `contract`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod asked;
mod broken;
mod documents;
mod hostile;
mod paths;
mod program;
mod questions;
mod support;
mod whole;
