//! Passages of documents in OpenSearch: a [`DocumentStore`](hanok_retrieval::DocumentStore) for `hanok-retrieval`.

mod entries;
mod http;
mod store;

// The crate whose types stand in what this one says.
pub use hanok_retrieval as retrieval;

pub use store::{OpenSearchConfig, OpenSearchStore};
