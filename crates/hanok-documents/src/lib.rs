//! Readers of documents for `hanok-retrieval`, and contracts by their articles.
//!
//! [`Pdf`], [`Docx`], [`Hwpx`] and [`Html`] are [`FileReader`](hanok_retrieval::FileReader)s, each a feature of its name; all are
//! defaults. [`readers`] adds those of this build. [`Contract`] finds the articles, clauses and appendices in a contract's text.
//!
//! ```no_run
//! use hanok_retrieval::{Library, LoadOptions};
//!
//! let library = Library::open(hanok_documents::readers(LoadOptions::new()), "contracts")?;
//! for hit in library.search("계약을 해지할 수 있는 경우", 3) {
//!     println!("{} ({})", hit.passage.source, hit.passage.heading);
//! }
//! # Ok::<(), hanok_retrieval::RetrievalError>(())
//! ```

#[cfg(any(feature = "docx", feature = "hwpx"))]
mod archive;
#[cfg(any(feature = "docx", feature = "html", feature = "hwpx"))]
#[cfg_attr(
    not(all(feature = "docx", feature = "html", feature = "hwpx")),
    allow(dead_code, reason = "one kind alone needs a part of it")
)]
mod blocks;
mod contract;
#[cfg(feature = "docx")]
mod docx;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "hwpx")]
mod hwpx;
#[cfg(any(feature = "docx", feature = "hwpx"))]
mod markup;
#[cfg(feature = "pdf")]
mod pdf;
mod readers;
mod work;

// The crate whose types stand in what this one says.
pub use hanok_retrieval as retrieval;

pub use contract::{
    Appendix, AppendixKind, Article, ArticleMention, ArticleNumber, ArticleNumberError, Clause,
    Contract, Mark, NoArticle, Slip, SlipKind, TitleFit, TitleMatch, contract_passages,
};
#[cfg(feature = "docx")]
pub use readers::Docx;
#[cfg(feature = "html")]
pub use readers::Html;
#[cfg(feature = "hwpx")]
pub use readers::Hwpx;
#[cfg(feature = "pdf")]
pub use readers::Pdf;
pub use readers::readers;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
