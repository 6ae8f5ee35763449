//! Documents, split by their structure and searched in Korean and English.
//!
//! A [`Splitter`] cuts [`Document`]s into [`Passage`]s, and a [`MemoryIndex`] ranks those by BM25 over words and Korean bigrams.
//! `hanok-documents` reads the files of a folder.
//!
//! ```
//! use hanok_retrieval::{Document, MemoryIndex, Query, Splitter, Terms};
//!
//! let rules = Document::new("인사규정.md", "## 제12조(연차휴가)\n1년 이상 근속자는 연 15일이다.\n");
//! let mut index = MemoryIndex::new(Splitter::new().split(&rules), Terms::default());
//! for hit in index.find(&Query::new("휴가 정책 알려줘").limit(3)) {
//!     println!("{} ({})\n{}", hit.passage.source, hit.passage.heading, hit.passage.text);
//! }
//!
//! // A number in the document changes; the next answer has it.
//! let rules = Document::new("인사규정.md", "## 제12조(연차휴가)\n1년 이상 근속자는 연 16일이다.\n");
//! index.update(Splitter::new().split(&rules));
//! assert!(index.find(&Query::new("휴가"))[0].passage.text.contains("16일"));
//! ```
//!
//! Agents ask through the trait [`Retriever`], which a store in a database implements just as well, and hold it
//! as a [`SharedRetriever`]. A [`DocumentStore`] is one that is filled through its trait, too, and [`sync`] puts into it
//! what has changed: [`MemoryStore`], and those of `hanok-index`, `hanok-pgvector` and `hanok-opensearch`.

pub mod backend;
mod bm25;
mod clean;
mod document;
mod embedded;
mod error;
mod found;
mod fusion;
mod kept;
mod measure;
mod memory;
mod memory_store;
mod morphemes;
mod nearest;
mod ngrams;
mod query;
mod reranked;
mod retriever;
mod search_tool;
mod sections;
mod split;
mod stem;
mod store;
mod structure;
mod sync;
mod synonyms;
mod terms;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_model as model;

pub use document::{Document, Passage};
pub use embedded::Embedded;
pub use error::{BoxError, RetrievalError};
pub use fusion::Fusion;
pub use memory::MemoryIndex;
pub use memory_store::MemoryStore;
pub use morphemes::{Morphemes, SharedMorphemes};
pub use ngrams::NgramEmbedder;
pub use query::{MIN_COVERAGE, Query};
pub use reranked::Reranked;
pub use retriever::{Hit, Mode, Part, Retriever, SharedRetriever};
pub use search_tool::SearchTool;
pub use split::Splitter;
pub use store::{DocumentStore, SharedDocumentStore, StoredDocument};
pub use sync::{Changes, sync, sync_passages};
pub use synonyms::{Synonyms, SynonymsError};
pub use terms::Terms;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
