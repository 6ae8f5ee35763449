//! Documents from a folder, of PDF, Word, Hangul and HTML among others, and contracts by their articles.
//!
//! [`Library`] reads a folder of `.txt` and `.md` files and those of the [`FileReader`]s that it is given, splits and indexes them
//! as `hanok-retrieval` does, and is searched at once; [`open()`] reads one file. [`Pdf`], [`Docx`], [`Hwpx`] and [`Html`] are
//! readers, each a feature of its name; all are defaults, and [`readers()`] adds those of this build. Texts are in UTF-8, in UTF-16
//! with a byte order mark or, with the feature `cp949` (a default), in CP949. What cannot be used is [`Skipped`] with its reason;
//! what a folder could have too much of has a limit in [`LoadOptions`]. [`Contract`] finds the articles, clauses and appendices in a
//! contract's text.
//!
//! ```
//! use hanok_documents::{Library, LoadOptions};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! std::fs::write(folder.join("인사규정.md"), "## 제12조(연차휴가)\n1년 이상 근속자는 연 15일이다.\n")?;
//! std::fs::write(folder.join("사진.jpg"), [0xFF, 0xD8, 0xFF])?;
//!
//! let mut library = Library::open(hanok_documents::readers(LoadOptions::new()), folder)?;
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

#[cfg(any(feature = "docx", feature = "hwpx"))]
mod archive;
#[cfg(any(feature = "docx", feature = "html", feature = "hwpx"))]
#[cfg_attr(
    not(all(feature = "docx", feature = "html", feature = "hwpx")),
    allow(dead_code, reason = "one kind alone needs a part of it")
)]
mod blocks;
mod contract;
mod deadline;
mod decode;
#[cfg(feature = "docx")]
mod docx;
mod error;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "hwpx")]
mod hwpx;
mod library;
#[cfg(any(feature = "docx", feature = "hwpx"))]
mod markup;
mod open;
mod options;
#[cfg(feature = "pdf")]
mod pdf;
mod read;
mod reader;
mod readers;
mod skip;
mod walk;
mod work;

// The crate whose types stand in what this one says.
pub use hanok_retrieval as retrieval;

pub use contract::{
    Appendix, AppendixKind, Article, ArticleMention, ArticleNumber, ArticleNumberError, Clause,
    Comparison, Contract, Difference, Excerpt, Mark, NoArticle, Slip, SlipKind, TitleFit,
    TitleMatch, contract_passages,
};
pub use deadline::Deadline;
pub use error::LoadError;
pub use library::{Library, LoadReport};
pub use open::open;
pub use options::LoadOptions;
pub use reader::{FileReader, FileText};
#[cfg(feature = "docx")]
pub use readers::Docx;
#[cfg(feature = "html")]
pub use readers::Html;
#[cfg(feature = "hwpx")]
pub use readers::Hwpx;
#[cfg(feature = "pdf")]
pub use readers::Pdf;
pub use readers::readers;
pub use skip::{SkipReason, Skipped};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
