//! Clusters: what their scenarios are told, and what they find.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod cluster;
mod jobs;
mod machine;
mod office;
