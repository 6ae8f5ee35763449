use std::{sync::Arc, time::Duration};

use hanok_retrieval::{Splitter, Terms};

use crate::reader::FileReader;

/// What [`Library::open`](crate::Library::open) reads and how, with a limit on everything a folder
/// could have too much of.
///
/// ```
/// use hanok_documents::{LoadOptions, retrieval::Splitter};
///
/// let options = LoadOptions::new()
///     .max_file_bytes(1024 * 1024)
///     .splitter(Splitter::new().max_chars(400));
/// # let _ = options;
/// ```
#[derive(Debug, Clone)]
pub struct LoadOptions {
    pub(crate) readers: Vec<Arc<dyn FileReader>>,
    pub(crate) max_file_bytes: u64,
    pub(crate) max_files: usize,
    pub(crate) max_depth: usize,
    pub(crate) max_text_bytes: usize,
    pub(crate) max_pdf_pages: usize,
    pub(crate) max_decode_time: Duration,
    pub(crate) max_unpacked_bytes: u64,
    pub(crate) splitter: Splitter,
    pub(crate) terms: Terms,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl LoadOptions {
    /// Every option at its default.
    #[must_use]
    pub fn new() -> Self {
        Self {
            readers: Vec::new(),
            max_file_bytes: 20 * 1024 * 1024,
            max_files: 10_000,
            max_depth: 16,
            max_text_bytes: 50 * 1024 * 1024,
            max_pdf_pages: 2_000,
            max_decode_time: Duration::from_secs(20),
            max_unpacked_bytes: 64 * 1024 * 1024,
            splitter: Splitter::new(),
            terms: Terms::default(),
        }
    }

    /// Files of the reader's extensions are read by it; of two readers for an extension, by the later one. Default: `.txt`,
    /// `.md` and `.markdown` are read, as text, and nothing else.
    #[must_use]
    pub fn reader(mut self, reader: impl FileReader) -> Self {
        self.readers.push(Arc::new(reader));
        self
    }

    /// The largest file, in bytes. A larger one is skipped. Default: 20 MiB.
    #[must_use]
    pub fn max_file_bytes(self, max_file_bytes: u64) -> Self {
        Self { max_file_bytes, ..self }
    }

    /// How many files and folders there may be, those that are skipped included. A folder with
    /// more is an error. Default: 10,000.
    #[must_use]
    pub fn max_files(self, max_files: usize) -> Self {
        Self { max_files, ..self }
    }

    /// How many folders deep to look; 0 reads the folder itself only. Default: 16.
    #[must_use]
    pub fn max_depth(self, max_depth: usize) -> Self {
        Self { max_depth, ..self }
    }

    /// How long all texts together may be, in bytes of UTF-8. What does not fit, in the order of
    /// the names, is skipped. Default: 50 MiB.
    ///
    /// The index takes about ten times as much memory as the text.
    #[must_use]
    pub fn max_text_bytes(self, max_text_bytes: usize) -> Self {
        Self { max_text_bytes, ..self }
    }

    /// The most pages of one PDF. A longer one is skipped. Default: 2,000.
    #[must_use]
    pub fn max_pdf_pages(self, max_pdf_pages: usize) -> Self {
        Self { max_pdf_pages, ..self }
    }

    /// How long decoding one file may take that is no plain text. A slower one is skipped. Default: 20 s.
    #[must_use]
    pub fn max_decode_time(self, max_decode_time: Duration) -> Self {
        Self { max_decode_time, ..self }
    }

    /// What the parts that are read of a `.docx` or `.hwpx` may unpack to, in bytes; 200 times the size of the file and a
    /// MiB is the most in any case. A larger one is skipped. Default: 64 MiB.
    #[must_use]
    pub fn max_unpacked_bytes(self, max_unpacked_bytes: u64) -> Self {
        Self { max_unpacked_bytes, ..self }
    }

    /// [`max_pdf_pages`](Self::max_pdf_pages), for a reader.
    #[must_use]
    pub fn pdf_pages(&self) -> usize {
        self.max_pdf_pages
    }

    /// [`max_unpacked_bytes`](Self::max_unpacked_bytes), for a reader.
    #[must_use]
    pub fn unpacked_bytes(&self) -> u64 {
        self.max_unpacked_bytes
    }

    /// How documents are split into passages. Default: [`Splitter::new`].
    #[must_use]
    pub fn splitter(self, splitter: Splitter) -> Self {
        Self { splitter, ..self }
    }

    /// Which terms are indexed. Default: [`Terms::Bigrams`].
    #[must_use]
    pub fn terms(self, terms: Terms) -> Self {
        Self { terms, ..self }
    }
}
