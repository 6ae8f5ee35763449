//! The path of a file.

use std::fmt;

use super::{FileError, folder::shown};

/// The longest path, in bytes.
const LONGEST: usize = 1024;

/// The path of a file within its files: names with `/` between them, none of which leads out.
///
/// ```
/// use hanok_sandbox::FilePath;
///
/// assert_eq!(FilePath::new("./notes//today.md")?.as_str(), "notes/today.md");
/// for out in ["../notes", "/etc/passwd", "notes/", "C:\\x", ""] {
///     assert!(FilePath::new(out).is_err());
/// }
/// # Ok::<(), hanok_sandbox::FileError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePath(String);

impl FilePath {
    /// The path that `path` writes.
    ///
    /// # Errors
    ///
    /// [`FileError::Path`] for one that leads out, is a folder's, is longer than 1,024 bytes or holds a control character.
    pub fn new(path: &str) -> Result<Self, FileError> {
        let refused = |why| FileError::Path { path: shown(path), why };
        let names = names(path).map_err(refused)?;
        if names.is_empty() {
            return Err(refused("it names no file"));
        }
        if is_folder(path) {
            return Err(refused("it is a folder's"));
        }
        Ok(Self(names.join("/")))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names, the outermost first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// True for a path that ends as a folder's does: a name before a separator is one.
pub(super) fn is_folder(path: &str) -> bool {
    path.ends_with(['/', '\\']) || path.ends_with("/.") || path.ends_with("\\.")
}

/// The names on the way that `path` writes, or why it is none.
pub(super) fn names(path: &str) -> Result<Vec<&str>, &'static str> {
    if path.len() > LONGEST {
        return Err("it is longer than 1024 bytes");
    }
    if path.contains(char::is_control) {
        return Err("it holds control characters");
    }
    let has_drive = path.get(1..2) == Some(":") || cfg!(windows) && path.contains(':');
    if path.starts_with(['/', '\\']) || path.starts_with("~/") || has_drive {
        return Err("it is not relative to the folder");
    }
    // A second separator, whichever system this is.
    let names: Vec<_> = path.split(['/', '\\']).filter(|name| !matches!(*name, "" | ".")).collect();
    if names.contains(&"..") {
        return Err("it leads out of the folder");
    }
    Ok(names)
}
