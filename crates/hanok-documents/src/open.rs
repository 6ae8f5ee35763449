//! One file as a document.

use std::{fs, path::Path};

use hanok_retrieval::{Document, backend::display};

use crate::{
    options::LoadOptions,
    read::{contents, document},
    skip::{SkipReason, Skipped, unreadable},
    walk::{Found, reader_of},
};

/// Reads the file at `path`, of any kind that a [`Library`](crate::Library) reads and within the same limits. A link is
/// followed. Its source is the file's name.
///
/// ```
/// use hanok_documents::{LoadOptions, SkipReason};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("계약서.txt");
/// std::fs::write(&path, "제1조(목적) 용역의 내용을 정한다.\n")?;
/// assert_eq!(hanok_documents::open(&path, &LoadOptions::new())?.source, "계약서.txt");
///
/// let error = hanok_documents::open(folder.path().join("계약서.hwp"), &LoadOptions::new()).unwrap_err();
/// assert!(matches!(error.reason, SkipReason::OldFormat { instead: ".hwpx" }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Skipped`], with the reason for which a library would leave it out.
pub fn open(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Document, Skipped> {
    let path = path.as_ref();
    let name = path.file_name().map(|name| display(&name.to_string_lossy()));
    let source = name.unwrap_or_default();
    let read = || {
        let reader = reader_of(&source, options)?;
        // A pipe would be waited for.
        let meta = fs::metadata(path).map_err(|cause| unreadable(&cause))?;
        if !meta.is_file() {
            return Err(SkipReason::NotAFile);
        }
        let limit = options.max_file_bytes;
        if meta.len() > limit {
            return Err(SkipReason::TooLarge { limit });
        }
        let (path, modified) = (path.to_owned(), meta.modified().ok());
        let file = Found { path, source: source.clone(), reader, len: meta.len(), modified };
        let bytes = contents(&file, limit)?;
        document(&file, blake3::hash(&bytes), bytes, options)
    };
    read().map_err(|reason| Skipped { path: display(&path.to_string_lossy()), reason })
}
