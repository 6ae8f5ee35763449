//! Which files a folder holds: bounded, in a fixed order, without following links.

use std::{
    fs::{self, DirEntry},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use hanok_retrieval::backend::display;

use crate::{
    error::LoadError,
    options::LoadOptions,
    reader::FileReader,
    skip::{SkipReason, Skipped, unreadable},
};

/// A file to read.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// The path below the root, in NFC, with `/` between its parts.
    pub(crate) source: String,
    /// What reads it; `None` for text.
    pub(crate) reader: Option<Arc<dyn FileReader>>,
    pub(crate) len: u64,
    pub(crate) modified: Option<SystemTime>,
}

/// Files in the order of their sources, and what was left out in the same order.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) files: Vec<Found>,
    pub(crate) skipped: Vec<Skipped>,
}

/// Lists what is below `root`.
pub(crate) fn walk(root: &Path, options: &LoadOptions) -> Result<Walk, LoadError> {
    let mut walker = Walker { options, root, seen: 0, walk: Walk::default() };
    let entries = list(root).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => LoadError::NoFolder { path: root.to_owned() },
        _ => LoadError::Folder { path: root.to_owned(), source },
    })?;
    walker.folder(entries, "", 0)?;
    Ok(walker.finish())
}

/// The names of one folder. Lazy, so that the limit stops a folder of millions early.
fn list(folder: &Path) -> io::Result<fs::ReadDir> {
    fs::read_dir(folder)
}

struct Walker<'a> {
    options: &'a LoadOptions,
    root: &'a Path,
    seen: usize,
    walk: Walk,
}

impl Walker<'_> {
    // Recursion is bounded by `max_depth`, which a caller sets, not a file.
    fn folder(
        &mut self,
        entries: fs::ReadDir,
        prefix: &str,
        depth: usize,
    ) -> Result<(), LoadError> {
        for entry in entries {
            self.seen += 1;
            if self.seen > self.options.max_files {
                let (path, limit) = (self.root.to_owned(), self.options.max_files);
                return Err(LoadError::TooManyFiles { path, limit });
            }
            match entry {
                Ok(entry) => self.entry(&entry, prefix, depth)?,
                Err(cause) => {
                    self.skip(prefix.trim_end_matches('/').to_owned(), unreadable(&cause))
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, prefix: &str, depth: usize) -> Result<(), LoadError> {
        let name = display(&entry.file_name().to_string_lossy());
        let source = format!("{prefix}{name}");
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(cause) => {
                self.skip(source, unreadable(&cause));
                return Ok(());
            }
        };
        let reason = match kind {
            _ if name.starts_with('.') => SkipReason::Hidden,
            kind if kind.is_symlink() => SkipReason::Symlink,
            kind if kind.is_dir() => return self.subfolder(&entry.path(), source, depth),
            kind if !kind.is_file() => SkipReason::NotAFile,
            _ => match self.file(entry, &name, &source) {
                Ok(found) => {
                    self.walk.files.push(found);
                    return Ok(());
                }
                Err(reason) => reason,
            },
        };
        self.skip(source, reason);
        Ok(())
    }

    fn subfolder(&mut self, path: &Path, source: String, depth: usize) -> Result<(), LoadError> {
        let limit = self.options.max_depth;
        if depth >= limit {
            self.skip(source, SkipReason::TooDeep { limit });
            return Ok(());
        }
        match list(path) {
            Ok(entries) => self.folder(entries, &format!("{source}/"), depth + 1),
            Err(cause) => {
                self.skip(source, unreadable(&cause));
                Ok(())
            }
        }
    }

    fn file(&self, entry: &DirEntry, name: &str, source: &str) -> Result<Found, SkipReason> {
        let reader = reader_of(name, self.options)?;
        let meta = entry.metadata().map_err(|cause| unreadable(&cause))?;
        let limit = self.options.max_file_bytes;
        if meta.len() > limit {
            return Err(SkipReason::TooLarge { limit });
        }
        // A file system without times: every file is read again and its hash decides.
        let modified = meta.modified().ok();
        Ok(Found {
            path: entry.path(),
            source: source.to_owned(),
            reader,
            len: meta.len(),
            modified,
        })
    }

    fn skip(&mut self, path: String, reason: SkipReason) {
        self.walk.skipped.push(Skipped { path, reason });
    }

    fn finish(mut self) -> Walk {
        self.walk.files.sort_by(|a, b| (&a.source, &a.path).cmp(&(&b.source, &b.path)));
        let mut files: Vec<Found> = Vec::with_capacity(self.walk.files.len());
        for file in std::mem::take(&mut self.walk.files) {
            if files.last().is_some_and(|last| last.source == file.source) {
                self.skip(file.source, SkipReason::SameName);
            } else {
                files.push(file);
            }
        }
        self.walk.files = files;
        self.walk.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        self.walk
    }
}

/// What reads a file of this name; `None` for text.
pub(crate) fn reader_of(
    name: &str,
    options: &LoadOptions,
) -> Result<Option<Arc<dyn FileReader>>, SkipReason> {
    let (_, extension) = name.rsplit_once('.').ok_or(SkipReason::Unsupported)?;
    let extension = extension.to_ascii_lowercase();
    let is_of = |reader: &&Arc<dyn FileReader>| reader.extensions().contains(&extension.as_str());
    if let Some(reader) = options.readers.iter().rev().find(is_of) {
        return Ok(Some(Arc::clone(reader)));
    }
    match extension.as_str() {
        "txt" | "md" | "markdown" => Ok(None),
        "pdf" => Err(SkipReason::NoReader { kind: "pdf" }),
        "html" | "htm" => Err(SkipReason::NoReader { kind: "html" }),
        "docx" => Err(SkipReason::NoReader { kind: "docx" }),
        "hwpx" => Err(SkipReason::NoReader { kind: "hwpx" }),
        "hwp" => Err(SkipReason::OldFormat { instead: ".hwpx" }),
        "doc" => Err(SkipReason::OldFormat { instead: ".docx" }),
        _ => Err(SkipReason::Unsupported),
    }
}
