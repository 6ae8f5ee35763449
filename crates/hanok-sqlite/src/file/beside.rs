//! The files that stand beside a store's.

use std::path::{Path, PathBuf};

/// The file that SQLite writes first.
pub(crate) fn write_ahead_file(store: &Path) -> PathBuf {
    beside(store, "-wal")
}

/// The index of the write-ahead file, which connections share.
pub(crate) fn shared_memory_file(store: &Path) -> PathBuf {
    beside(store, "-shm")
}

/// The path of `store` with `ending` behind its name.
pub(crate) fn beside(store: &Path, ending: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
