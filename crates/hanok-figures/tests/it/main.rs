//! Amounts are read as people write them, and figures are exact.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod amounts;
mod calculator;
mod number;
