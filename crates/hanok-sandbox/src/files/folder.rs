//! A folder that is opened once, and what is opened within it.

use std::{
    io::{self, ErrorKind, Read},
    path::Path,
};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, FileType, Metadata, OpenOptions},
};

use super::{
    FileError,
    path::{is_folder, names},
};
use hanok_core::near;

/// How much of a path an error shows, in characters.
const SHOWN: usize = 120;

/// How many names of a folder are looked at for an error, and how many of them are told.
const LOOKED_AT: usize = 1000;
const TOLD: usize = 30;
const SUGGESTED: usize = 3;

/// A folder. Nothing that is reached from it lies outside of it, whatever becomes of its path.
#[derive(Debug)]
pub(super) struct Folder(pub(super) Dir);

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let folder = Dir::open_ambient_dir(path, ambient_authority());
        folder
            .map(Self)
            .map_err(|source| FileError::Folder { folder: path.display().to_string(), source })
    }

    /// The bytes of the file at `path`, at most `limit`.
    ///
    /// What is judged is what was opened, never a name; each name on the way is opened in the folder before it, without
    /// following links.
    pub(super) fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FileError> {
        let shown = shown(path);
        let names = names(path).map_err(|why| FileError::Path { path: shown.clone(), why })?;
        let Some((last, way)) = names.split_last() else {
            return Err(FileError::IsFolder { path: shown, holds: holds(&self.0) });
        };
        let mut folder = None;
        for name in way {
            let before = folder.as_ref().unwrap_or(&self.0);
            let next = before.open_dir_nofollow(name);
            folder = Some(next.map_err(|error| refused(before, name, &shown, error))?);
        }
        let folder = folder.as_ref().unwrap_or(&self.0);
        let file = open_in(folder, last, &shown, is_folder(path))?;
        read_all(file, &shown, limit)
    }
}

/// The file `name`, once it is known to be one that may be read.
pub(super) fn open_in(
    folder: &Dir,
    name: &str,
    shown: &str,
    as_folder: bool,
) -> Result<File, FileError> {
    let path = || shown.to_owned();
    let io = |source| FileError::Io { path: path(), source };
    let mut options = OpenOptions::new();
    // A pipe that nobody writes to would be waited for.
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let opened = folder.open_with(name, &options);
    let file = opened.map_err(|error| refused(folder, name, shown, error))?;
    let metadata = file.metadata().map_err(io)?;
    if metadata.is_dir() {
        let inside = folder.open_dir_nofollow(name).map(|inside| holds(&inside));
        return Err(FileError::IsFolder { path: path(), holds: inside.unwrap_or_default() });
    }
    if let Some(what) = unreadable(&file, &metadata).map_err(io)? {
        return Err(FileError::NotAFile { path: path(), what });
    }
    if has_other_names(&metadata) {
        return Err(FileError::HardLink { path: path() });
    }
    if as_folder { Err(FileError::NotAFolder { path: path() }) } else { Ok(file) }
}

fn read_all(file: File, shown: &str, limit: u64) -> Result<Vec<u8>, FileError> {
    let path = || shown.to_owned();
    let io = |source| FileError::Io { path: path(), source };
    let metadata = file.metadata().map_err(io)?;
    let too_large = |size| FileError::TooLarge { path: path(), size, limit };
    if metadata.len() > limit {
        return Err(too_large(metadata.len()));
    }
    // It may grow meanwhile.
    let mut bytes = Vec::new();
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
    match u64::try_from(read) {
        Ok(read) if read <= limit => Ok(bytes),
        read => Err(too_large(read.unwrap_or(u64::MAX))),
    }
}

/// What an open file is that has no bytes of its own.
fn unreadable(file: &File, metadata: &Metadata) -> io::Result<Option<&'static str>> {
    if !metadata.is_file() {
        return Ok(Some(kind(&metadata.file_type())));
    }
    is_made_up(file).map(|made_up| made_up.then_some("made up by the system when it is read"))
}

/// A name that somebody else gave to a file of theirs shows that file.
#[cfg(unix)]
pub(super) fn has_other_names(metadata: &Metadata) -> bool {
    cap_fs_ext::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
pub(super) fn has_other_names(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn kind(file: &FileType) -> &'static str {
    use cap_std::fs::FileTypeExt;
    match file {
        file if file.is_fifo() => "a pipe",
        file if file.is_socket() => "a socket",
        file if file.is_block_device() || file.is_char_device() => "a device",
        _ => "something else",
    }
}

#[cfg(not(unix))]
fn kind(_: &FileType) -> &'static str {
    "something else"
}

/// `/proc` and `/sys` hold plain files by name, secrets of processes by content.
#[cfg(target_os = "linux")]
fn is_made_up(file: &File) -> io::Result<bool> {
    use rustix::fs::{FsWord, PROC_SUPER_MAGIC};
    const SYSFS_MAGIC: FsWord = 0x6265_6572;
    let system = rustix::fs::fstatfs(file)?.f_type;
    Ok(system == PROC_SUPER_MAGIC || system == SYSFS_MAGIC)
}

#[cfg(not(target_os = "linux"))]
fn is_made_up(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Why `name` was not opened in `folder`. Only the words depend on this second look.
pub(super) fn refused(folder: &Dir, name: &str, shown: &str, error: io::Error) -> FileError {
    let path = shown.to_owned();
    match folder.symlink_metadata(name) {
        Ok(metadata) if metadata.is_symlink() => FileError::Link { path },
        _ if error.kind() == ErrorKind::PermissionDenied => {
            FileError::Forbidden { path, source: error }
        }
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            FileError::NotAFile { path, what: kind(&metadata.file_type()) }
        }
        _ if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            FileError::NotFound { path, near: spelled_like(folder, name) }
        }
        _ => FileError::Io { path, source: error },
    }
}

fn spelled_like(folder: &Dir, name: &str) -> Vec<String> {
    near(&name.to_lowercase(), &entries(folder), SUGGESTED).iter().map(|name| shown(name)).collect()
}

fn holds(folder: &Dir) -> Vec<String> {
    let mut names: Vec<_> = entries(folder).iter().map(|name| shown(name)).collect();
    names.truncate(TOLD);
    names
}

/// The names in `folder`, sorted; those of a large one are only the first that the system tells.
fn entries(folder: &Dir) -> Vec<String> {
    let entries = folder.entries().into_iter().flatten().take(LOOKED_AT).flatten();
    let mut names: Vec<_> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// `path` for an error.
pub(super) fn shown(path: &str) -> String {
    let mut shown: String = path.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if path.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
