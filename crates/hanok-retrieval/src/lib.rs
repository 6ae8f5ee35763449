//! Documents from a folder, split by their structure and searched in Korean and English.
//!
//! [`Library`] reads a folder of `.txt`, `.md` and `.pdf` files, and with the features of their names `.html`, `.docx` and
//! `.hwpx` files, into [`Document`]s, a [`Splitter`] cuts them into
//! [`Passage`]s, and a [`MemoryIndex`] ranks those by BM25 over words and Korean bigrams. What cannot be used is
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
//!     eprintln!("{skipped}"); // 사진.jpg: none of .txt, .md, …
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
//! as a [`SharedRetriever`]. A [`DocumentStore`] is one that is filled through its trait, too: [`StoreKind`] opens it by its
//! name, and [`sync`] puts into it what has changed.

#[cfg(any(feature = "docx", feature = "hwpx"))]
mod archive;
#[cfg(any(feature = "docx", feature = "html", feature = "hwpx"))]
#[cfg_attr(
    not(feature = "documents"),
    allow(dead_code, reason = "one kind alone needs a part of it")
)]
mod blocks;
mod bm25;
mod contract;
mod decode;
mod document;
#[cfg(feature = "docx")]
mod docx;
mod embedded;
#[cfg(feature = "encoder")]
mod encoder;
mod error;
mod files;
mod found;
mod fusion;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "hwpx")]
mod hwpx;
mod isolated;
#[cfg(any(feature = "local", feature = "opensearch", feature = "pgvector"))]
mod kept;
mod library;
#[cfg(feature = "local")]
mod local;
#[cfg(any(feature = "docx", feature = "hwpx"))]
mod markup;
mod measure;
mod memory;
mod memory_store;
mod morphology;
mod nearest;
mod ngrams;
mod open;
#[cfg(feature = "opensearch")]
mod opensearch;
mod options;
mod pdf;
#[cfg(feature = "pgvector")]
mod pgvector;
mod query;
mod read;
mod reranked;
mod retriever;
mod search_tool;
mod sections;
mod skip;
mod split;
mod stem;
mod store;
mod store_kind;
mod structure;
mod sync;
mod synonyms;
mod terms;
mod walk;
mod work;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_model as model;

pub use contract::{
    Appendix, AppendixKind, Article, ArticleMention, ArticleNumber, ArticleNumberError, Clause,
    Contract, Mark, NoArticle, Slip, SlipKind, TitleFit, TitleMatch, contract_passages,
};
pub use document::{Document, Passage};
pub use embedded::Embedded;
#[cfg(feature = "encoder")]
pub use encoder::SentenceEncoder;
pub use error::{BoxError, RetrievalError};
pub use files::FilesError;
pub use fusion::Fusion;
pub use library::{Changes, Library, LoadReport, MIN_COVERAGE};
#[cfg(feature = "local")]
pub use local::{Approximate, LocalOptions, LocalStore};
pub use memory::MemoryIndex;
pub use memory_store::MemoryStore;
pub use morphology::Morphology;
pub use ngrams::NgramEmbedder;
#[cfg(feature = "opensearch")]
pub use opensearch::{OpenSearchConfig, OpenSearchStore};
pub use options::LoadOptions;
#[cfg(feature = "pgvector")]
pub use pgvector::PgvectorStore;
pub use query::Query;
pub use reranked::Reranked;
pub use retriever::{Hit, Mode, Part, Retriever, SharedRetriever};
pub use search_tool::SearchTool;
pub use skip::{SkipReason, Skipped};
pub use split::Splitter;
pub use store::{DocumentStore, SharedDocumentStore, StoredDocument};
pub use store_kind::{StoreKind, StoreKindError, StoreSettings};
pub use sync::{sync, sync_passages};
pub use synonyms::{Synonyms, SynonymsError};
pub use terms::Terms;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
