//! The store in files holds every claim of the suite, and outlives what happens to its process and its files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may stop at what it did not expect, and is waited for"
)]

mod files;
mod kills;
mod ranking;
mod support;

use hanok_index::IndexOptions;
use hanok_retrieval::Terms;
use support::in_folder;

hanok_testkit::document_store_conforms!(in_folder(IndexOptions::new()).await);

mod by_words {
    use super::*;

    hanok_testkit::document_store_conforms!(
        in_folder(IndexOptions::new().terms(Terms::Both)).await
    );
}
