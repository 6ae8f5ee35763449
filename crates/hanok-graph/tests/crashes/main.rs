//! What is left of a run that dies, and what becomes of it: crashes, claims, deploys, durability, races.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

#[path = "../asking/mod.rs"]
mod asking;
mod claims;
mod crash;
mod deploys;
mod doubts;
mod dropped;
mod durability;
mod effects;
mod lives;
mod many;
mod poisoned;
mod races;
mod random;
mod regressions;
mod shared;
#[path = "../support/mod.rs"]
mod support;
