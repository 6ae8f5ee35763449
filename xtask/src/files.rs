//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use crate::result::Result;

/// Every file below `folder`, without what Cargo and Git keep for themselves.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = entry.file_type()?;
            if kind.is_file() {
                files.push(entry.path());
            } else if kind.is_dir() && name != ".git" && !name.starts_with("target") {
                folders.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The files whose paths `is_wanted` takes, each with its text.
pub(crate) fn texts(
    files: &[PathBuf],
    is_wanted: fn(&str) -> bool,
) -> Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for file in files {
        let path = file.to_string_lossy().replace('\\', "/");
        let path = path.strip_prefix("./").unwrap_or(&path);
        if is_wanted(path) {
            texts.push((path.to_owned(), fs::read_to_string(file)?));
        }
    }
    Ok(texts)
}
