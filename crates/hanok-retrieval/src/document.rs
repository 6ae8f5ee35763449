use std::{collections::BTreeMap, ops::Range, time::SystemTime};

use hanok_checkpoint::Vector;

use crate::clean::{clean, display};

/// A text and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// The BLAKE3 hash of the file's bytes, in hexadecimal: equal for equal files.
    pub id: String,
    /// The path below the opened folder, in NFC, with `/` between its parts: `규정/인사규정.md`.
    pub source: String,
    /// Its first markdown heading of the first level, else the file's name without extension.
    pub title: String,
    /// The text in NFC, with `\n` as its line end.
    pub text: String,
    /// Where in `text` each page begins, in bytes. Empty for a text without pages.
    pub pages: Vec<usize>,
    /// When the file was last written, if the file system says so.
    pub modified: Option<SystemTime>,
    /// What else is known of it, to filter by: a team, a language. Empty for what a `Library` of `hanok-documents` reads.
    pub metadata: BTreeMap<String, String>,
}

impl Document {
    /// A document from a text at hand. Both become NFC.
    ///
    /// ```
    /// use hanok_retrieval::Document;
    ///
    /// let document = Document::new("휴가.md", "# 휴가 안내\n\n연차휴가는 15일이다.");
    /// assert_eq!(document.title, "휴가 안내");
    /// ```
    #[must_use]
    pub fn new(source: impl AsRef<str>, text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        let id = blake3::hash(text.as_bytes()).to_hex().to_string();
        let source = display(source.as_ref());
        of_file(id, source, clean(text), Vec::new())
    }

    /// The same with a value more in its [`metadata`](Self::metadata).
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}

/// The document of a file, whose text is [clean] already and whose name is as [`display`] shows it. `id` is the hash of its
/// bytes.
pub fn of_file(id: String, source: String, text: String, pages: Vec<usize>) -> Document {
    let title = title(&text, &source);
    Document { id, source, title, text, pages, modified: None, metadata: BTreeMap::new() }
}

fn title(text: &str, source: &str) -> String {
    let heading = text.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim);
    let name = source.rsplit('/').next().unwrap_or(source);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    heading.filter(|heading| !heading.is_empty()).unwrap_or(stem).to_owned()
}

/// A piece of a document that stands for itself: an article, a section, some paragraphs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Passage {
    /// Stays the same while its source, headings and text do, whatever changes around it.
    pub id: String,
    /// The [`Document::id`] it was cut from.
    pub document: String,
    /// The [`Document::source`] it was cut from, to be shown.
    pub source: String,
    /// The headings above it and its own, outermost first, joined by ` > `. Empty if there are none.
    pub heading: String,
    /// The text, word for word: `document.text[bytes]`.
    pub text: String,
    /// Where it stands in the document's text, in bytes.
    pub bytes: Range<usize>,
    /// Where it stands in the document's text, in characters.
    pub chars: Range<usize>,
    /// Its place among the passages of the document, from 0.
    pub ordinal: usize,
    /// The page it begins on, from 1. `None` for a text without pages.
    pub page: Option<usize>,
    /// The [`Document::metadata`] it was cut from, and what `contract_passages` of `hanok-documents` adds.
    pub metadata: BTreeMap<String, String>,
    /// What it means, as an [`Embedder`](hanok_model::Embedder) says it; a store keeps it beside the passage. `None` where
    /// nobody asked one, and in what a store gives.
    pub vector: Option<Vector>,
}
