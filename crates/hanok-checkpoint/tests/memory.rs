//! The store in memory does what every store does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use hanok_checkpoint::Memory;

#[macro_use]
mod conformance;

conforms!(Memory::new());
