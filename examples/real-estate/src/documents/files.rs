//! Documents on a disk.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::docx::DocxError;
use super::names::is_safe;
use super::page::Page;

pub use super::names::{call_stem, file_stem};

/// The files of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The document in Markdown.
    pub markdown: PathBuf,
    /// The document of Word.
    pub docx: PathBuf,
}

/// A document that was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The name is none that [`file_stem`] makes.
    #[error("`{stem}` is no name of a document; make it by `file_stem`")]
    Name {
        /// The name, cut.
        stem: String,
    },
    /// The disk refused.
    #[error("{} cannot be written", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The document of Word could not be put together.
    #[error(transparent)]
    Docx(#[from] DocxError),
}

/// Writes a page into the folder `out` under the name `stem`, which [`file_stem`] or [`call_stem`] made.
///
/// Each file is written beside its place, brought to the disk and put there in one step: a reader sees the old file or the new
/// one, and after a crash there is no half of one. Written twice it is there once, with the same bytes.
///
/// # Errors
///
/// [`FileError`]. What was written before is complete.
pub fn write(out: &Path, stem: &str, page: &Page) -> Result<Files, FileError> {
    if !is_safe(stem) {
        let stem = stem.chars().filter(|c| !c.is_control()).take(60).collect();
        return Err(FileError::Name { stem });
    }
    let docx = page.docx()?;
    fs::create_dir_all(out).map_err(|source| FileError::Io { path: out.to_owned(), source })?;
    let files =
        Files { markdown: out.join(format!("{stem}.md")), docx: out.join(format!("{stem}.docx")) };
    put(out, &files.markdown, page.markdown().as_bytes())?;
    put(out, &files.docx, &docx)?;
    Ok(files)
}

fn put(out: &Path, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let fault = |source| FileError::Io { path: path.to_owned(), source };
    let is_there = path.symlink_metadata().is_ok_and(|it| it.is_file());
    if is_there && fs::read(path).is_ok_and(|written| written == bytes) {
        return Ok(());
    }
    let mut part = tempfile::Builder::new().prefix(".part-").tempfile_in(out).map_err(fault)?;
    part.write_all(bytes).map_err(fault)?;
    part.as_file().sync_all().map_err(fault)?;
    part.persist(path).map_err(|error| fault(error.error))?;
    // The name is on the disk when its folder is; only Unix opens folders.
    if cfg!(unix) {
        File::open(out).and_then(|folder| folder.sync_all()).map_err(fault)?;
    }
    Ok(())
}
