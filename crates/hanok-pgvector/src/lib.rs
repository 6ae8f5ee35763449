//! Passages of documents in PostgreSQL with pgvector: a [`DocumentStore`](hanok_retrieval::DocumentStore) for `hanok-retrieval`.

mod ask;
mod store;
mod tables;

// The crate whose types stand in what this one says.
pub use hanok_retrieval as retrieval;

pub use store::PgvectorStore;
