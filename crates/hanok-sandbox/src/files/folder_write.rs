//! What is written, removed and listed within a folder.

use std::{
    io::{self, ErrorKind, Write},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};

use super::{
    FileError, FilePath,
    folder::{Folder, has_other_names, open_in, refused, shown},
    source::FileEntry,
};

/// How deep folders are looked into for a list.
const DEPTH: usize = 32;

/// The number of the next file that is not in its place yet.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Folder {
    /// Writes the file at `path` whole: beside it first, and then into its place in one step. Folders on the way are made.
    ///
    /// What is in its place is judged as for reading, and a link that is put there meanwhile is replaced and never followed.
    pub(super) fn write(&self, path: &FilePath, text: &str) -> Result<(), FileError> {
        let shown = shown(path.as_str());
        let failed = |source| FileError::Write { path: shown.clone(), source };
        let (parent, name) = self.parent(path, true)?;
        let folder = parent.as_ref().unwrap_or(&self.0);
        let permissions = match open_in(folder, name, &shown, false) {
            Ok(file) => Some(file.metadata().map_err(failed)?.permissions()),
            Err(FileError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let beside = format!(".hanok-{}-{number}", process::id());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        let mut file = folder.open_with(&beside, &options).map_err(failed)?;
        let written = (|| {
            file.write_all(text.as_bytes())?;
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            file.sync_all()?;
            folder.rename(&beside, folder, name)
        })();
        written.map_err(|error| {
            // The error is that of the write; what is left beside is only untidy.
            drop(folder.remove_file(&beside));
            failed(error)
        })
    }

    /// Removes the file at `path`.
    pub(super) fn remove(&self, path: &FilePath) -> Result<(), FileError> {
        let shown = shown(path.as_str());
        let (parent, name) = self.parent(path, false)?;
        let folder = parent.as_ref().unwrap_or(&self.0);
        open_in(folder, name, &shown, false)?;
        folder.remove_file(name).map_err(|source| FileError::Write { path: shown, source })
    }

    /// At most `limit` of the files that could be read, by their paths.
    pub(super) fn list(&self, limit: usize) -> io::Result<Vec<FileEntry>> {
        let mut files = Vec::new();
        let mut folders = vec![(self.0.try_clone()?, String::new(), 0)];
        while let Some((folder, before, depth)) = folders.pop() {
            let entries = match folder.entries() {
                Ok(entries) => entries,
                Err(error) if depth == 0 => return Err(error),
                // One that may not be read holds nothing that could be.
                Err(_) => continue,
            };
            for entry in entries {
                // What is removed meanwhile, or has a name that no path has, is not there.
                let Ok(entry) = entry else { continue };
                let Ok(name) = entry.file_name().into_string() else { continue };
                let path = format!("{before}{name}");
                let Ok(metadata) = folder.symlink_metadata(&name) else { continue };
                if metadata.is_dir() && depth < DEPTH {
                    if let Ok(inside) = folder.open_dir_nofollow(&name) {
                        folders.push((inside, format!("{path}/"), depth + 1));
                    }
                } else if metadata.is_file()
                    && !has_other_names(&metadata)
                    && FilePath::new(&path).is_ok_and(|normal| normal.as_str() == path)
                {
                    files.push(FileEntry { path, size: metadata.len() });
                }
                if files.len() >= limit {
                    files.sort();
                    return Ok(files);
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// The folder that holds `path`, if it is not this one, and the last name. Each name on the way is opened in the folder
    /// before it, without following links.
    fn parent<'p>(
        &self,
        path: &'p FilePath,
        is_made: bool,
    ) -> Result<(Option<Dir>, &'p str), FileError> {
        let shown = shown(path.as_str());
        let names: Vec<_> = path.names().collect();
        let Some((last, way)) = names.split_last() else {
            return Err(FileError::Path { path: shown, why: "it names no file" });
        };
        let mut folder = None;
        for name in way {
            let before = folder.as_ref().unwrap_or(&self.0);
            let next = match before.open_dir_nofollow(name) {
                Err(error) if is_made && error.kind() == ErrorKind::NotFound => {
                    // Another one may make it at the same time: what counts is that it can be opened.
                    drop(before.create_dir(name));
                    before.open_dir_nofollow(name)
                }
                opened => opened,
            };
            folder = Some(next.map_err(|error| refused(before, name, &shown, error))?);
        }
        Ok((folder, last))
    }
}
