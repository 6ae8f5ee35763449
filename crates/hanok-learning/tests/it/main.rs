//! Long-term memory: evidence counts once, whatever dies, and what is forgotten leaves nothing.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod apart;
mod counts;
mod deaths;
mod evaluation;
mod forgets;
mod orchestration;
mod proposals;
mod recall;
mod support;
mod writers;
