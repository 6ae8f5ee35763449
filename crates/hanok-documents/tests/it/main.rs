//! Documents are read as people have them, and contracts by their articles.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod contract;
mod documents;
mod library;
mod pdf;
mod samples;
mod structures;

use hanok_documents::LoadOptions;

/// The defaults, with every reader.
fn options() -> LoadOptions {
    hanok_documents::readers(LoadOptions::new())
}
