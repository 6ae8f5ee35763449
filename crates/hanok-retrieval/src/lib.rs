//! Documents from a folder, split by their structure and searched in Korean and English.
//!
//! [`Library`] reads a folder of `.txt` and `.md` files into [`Document`]s, and those of the [`FileReader`]s that it is given
//! (`hanok-documents` reads PDF, Word, Hangul and HTML). A [`Splitter`] cuts them into [`Passage`]s, and a [`MemoryIndex`] ranks those by BM25 over words and Korean bigrams. What cannot be used is
//! [`Skipped`] with its reason; what a folder could have too much of has a limit in [`LoadOptions`].
//!
//! ```
//! use hanok_retrieval::{Library, LoadOptions};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! std::fs::write(folder.join("인사규정.md"), "## 제12조(연차휴가)\n1년 이상 근속자는 연 15일이다.\n")?;
//! std::fs::write(folder.join("사진.jpg"), [0xFF, 0xD8, 0xFF])?;
//!
//! let mut library = Library::open(LoadOptions::new(), folder)?;
//! for hit in library.search("휴가 정책 알려줘", 3) {
//!     println!("{} ({})\n{}", hit.passage.source, hit.passage.heading, hit.passage.text);
//! }
//! for skipped in &library.report().skipped {
//!     eprintln!("{skipped}"); // 사진.jpg: no kind of document that can be read
//! }
//!
//! // The owner edits a number in the file; the next answer has it.
//! std::fs::write(folder.join("인사규정.md"), "## 제12조(연차휴가)\n1년 이상 근속자는 연 16일이다.\n")?;
//! assert_eq!(library.refresh()?.changed, 1);
//! assert!(library.search("휴가", 1)[0].passage.text.contains("16일"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Agents ask through the trait [`Retriever`], which a store in a database implements just as well, and hold it
//! as a [`SharedRetriever`]. A [`DocumentStore`] is one that is filled through its trait, too, and [`sync`] puts into it
//! what has changed: [`MemoryStore`], and those of `hanok-index`, `hanok-pgvector` and `hanok-opensearch`.

pub mod backend;
mod bm25;
mod clean;
mod deadline;
mod decode;
mod document;
mod embedded;
mod error;
mod found;
mod fusion;
mod kept;
mod library;
mod measure;
mod memory;
mod memory_store;
mod morphemes;
mod nearest;
mod ngrams;
mod open;
mod options;
mod query;
mod read;
mod reader;
mod reranked;
mod retriever;
mod search_tool;
mod sections;
mod skip;
mod split;
mod stem;
mod store;
mod structure;
mod sync;
mod synonyms;
mod terms;
mod walk;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_model as model;

pub use deadline::Deadline;
pub use document::{Document, Passage};
pub use embedded::Embedded;
pub use error::{BoxError, RetrievalError};
pub use fusion::Fusion;
pub use library::{Library, LoadReport};
pub use memory::MemoryIndex;
pub use memory_store::MemoryStore;
pub use morphemes::{Morphemes, SharedMorphemes};
pub use ngrams::NgramEmbedder;
pub use options::LoadOptions;
pub use query::{MIN_COVERAGE, Query};
pub use reader::{FileReader, FileText};
pub use reranked::Reranked;
pub use retriever::{Hit, Mode, Part, Retriever, SharedRetriever};
pub use search_tool::SearchTool;
pub use skip::{SkipReason, Skipped};
pub use split::Splitter;
pub use store::{DocumentStore, SharedDocumentStore, StoredDocument};
pub use sync::{Changes, sync, sync_passages};
pub use synonyms::{Synonyms, SynonymsError};
pub use terms::Terms;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
