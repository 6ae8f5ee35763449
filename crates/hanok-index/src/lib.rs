//! Passages of documents in the files of a folder: a [`DocumentStore`](hanok_retrieval::DocumentStore) for `hanok-retrieval`, on
//! tantivy.
//!
//! - `schema`: the fields of an entry.
//! - `folder`: opening a folder. What is in it is an index of this crate, whole, or nothing.
//! - `search`: keywords by tantivy's BM25, vectors one by one.
//! - `store`: the store.

mod folder;
mod schema;
mod search;
mod store;
mod vectors;

// The crate whose types stand in what this one says.
pub use hanok_retrieval as retrieval;

pub use store::{IndexOptions, IndexStore};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
