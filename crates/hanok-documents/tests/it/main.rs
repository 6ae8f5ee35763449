//! Documents are read as people have them, and contracts by their articles.

mod contract;
mod documents;
mod pdf;
mod samples;
mod structures;

use hanok_retrieval::LoadOptions;

/// The defaults, with every reader.
fn options() -> LoadOptions {
    hanok_documents::readers(LoadOptions::new())
}
