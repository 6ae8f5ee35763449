//! What reads the files of one kind.

use std::fmt;

use crate::{deadline::Deadline, options::LoadOptions, skip::SkipReason};

/// Reads the files of one kind for a [`Library`](crate::Library).
///
/// A reader runs on a thread of its own and has [`LoadOptions::max_decode_time`]; a panic costs the file and not the caller. The
/// bytes are anybody's: a reader bounds what they unpack to.
///
/// ```
/// use hanok_documents::{Deadline, FileReader, FileText, Library, LoadOptions, SkipReason};
///
/// /// Comma-separated values, a line each.
/// #[derive(Debug)]
/// struct Csv;
///
/// impl FileReader for Csv {
///     fn extensions(&self) -> &[&str] {
///         &["csv"]
///     }
///
///     fn read(&self, bytes: Vec<u8>, _: &LoadOptions, _: Deadline) -> Result<FileText, SkipReason> {
///         let text = String::from_utf8(bytes).map_err(|_| SkipReason::Encoding)?;
///         Ok(FileText::new(text.replace(',', " ")))
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("prices.csv"), "apple,120\n")?;
/// let library = Library::open(LoadOptions::new().reader(Csv), folder)?;
/// assert_eq!(library.search("apple", 1)[0].passage.text, "apple 120");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FileReader: fmt::Debug + Send + Sync + 'static {
    /// The extensions of its files, in lower case and without the dot.
    fn extensions(&self) -> &[&str];

    /// The text of a file.
    ///
    /// # Errors
    ///
    /// The reason for which the file is left out.
    fn read(
        &self,
        bytes: Vec<u8>,
        options: &LoadOptions,
        deadline: Deadline,
    ) -> Result<FileText, SkipReason>;
}

/// What a [`FileReader`] makes of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileText {
    /// The text, with markdown's headings where the file has headings.
    pub text: String,
    /// Where each page begins, in bytes of `text`. Empty where there are no pages.
    pub pages: Vec<usize>,
    /// A title that is not in the text.
    pub title: Option<String>,
}

impl FileText {
    /// Text without pages and without a title of its own.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}
