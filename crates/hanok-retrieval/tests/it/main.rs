//! What is split and found.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod embedded;
mod english;
mod ngrams;
mod recall;
mod reranked;
mod search_tool;
mod split;
mod store;
mod update;
