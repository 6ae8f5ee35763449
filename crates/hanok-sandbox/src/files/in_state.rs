//! Files in the state of a graph.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hanok_core::{Call, Effect, Need};
use hanok_model::{FromCall, FromState, ToolError};
use hanok_state::{Map, State, StateUpdate, StateWrite};

use super::{
    FileError, FilePath,
    limits::{FILES, fits, not_found},
    source::{FileEntry, FileWrite, Files},
};

/// The largest file by default, in bytes: a state is held whole.
const FILE: usize = 64 * 1024;

type FindText = dyn Fn(&Call, &str) -> Result<Option<String>, ToolError> + Send + Sync;
type ListTexts = dyn Fn(&Call) -> Result<Vec<FileEntry>, ToolError> + Send + Sync;
type WriteText = dyn Fn(FileChange) -> Result<StateWrite, ToolError> + Send + Sync;

/// A change of one file in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// The file has this text.
    Write {
        /// Its path.
        path: String,
        /// Its whole text.
        text: String,
    },
    /// The file is gone.
    Remove {
        /// Its path.
        path: String,
    },
}

/// A field of a state that holds files, the texts by their paths: a `Map<String, String>` or a `BTreeMap<String, String>`.
pub trait FileMap {
    /// The text of a file.
    fn text(&self, path: &str) -> Option<&str>;

    /// The files, by their paths.
    fn entries(&self) -> Vec<FileEntry>;
}

impl FileMap for Map<String, String> {
    fn text(&self, path: &str) -> Option<&str> {
        self.get(path).map(String::as_str)
    }

    fn entries(&self) -> Vec<FileEntry> {
        self.iter().map(|file| entry(file.0, file.1)).collect()
    }
}

impl FileMap for BTreeMap<String, String> {
    fn text(&self, path: &str) -> Option<&str> {
        self.get(path).map(String::as_str)
    }

    fn entries(&self) -> Vec<FileEntry> {
        self.iter().map(|file| entry(file.0, file.1)).collect()
    }
}

fn entry(path: &str, text: &str) -> FileEntry {
    FileEntry { path: path.to_owned(), size: u64::try_from(text.len()).unwrap_or(u64::MAX) }
}

/// Text files in the state of the graph that calls: a field that is a `Map<String, String>` (or a `BTreeMap`) with
/// `#[reduce(merge)]`. They go where the thread goes, and back with it.
///
/// A file is read as it was when the node that calls began, and written with its super-step. Of several writes of one file in
/// one super-step one holds; those of different files all hold. There are at most 1,000 files.
///
/// ```
/// use hanok_state::{Map, State};
/// use hanok_sandbox::{FileChange, StateFiles};
///
/// #[derive(State, Clone, Default)]
/// struct Desk {
///     #[reduce(merge)]
///     files: Map<String, String>,
/// }
///
/// let files = StateFiles::new(|desk: &Desk| &desk.files, |change| match change {
///     FileChange::Write { path, text } => Desk::update().insert_files(path, text),
///     FileChange::Remove { path } => Desk::update().remove_files(path),
/// });
/// # drop(files);
/// ```
#[derive(Clone)]
pub struct StateFiles {
    needs: Vec<Need>,
    find: Arc<FindText>,
    list: Arc<ListTexts>,
    write: Arc<WriteText>,
    file: usize,
}

impl StateFiles {
    /// The files that `read` finds in the state, and whose changes `write` makes updates of.
    pub fn new<S, M, U>(
        read: impl Fn(&S) -> &M + Send + Sync + 'static,
        write: impl Fn(FileChange) -> U + Send + Sync + 'static,
    ) -> Self
    where
        S: State,
        M: FileMap + 'static,
        U: StateUpdate<State = S>,
    {
        let (read, state) = (Arc::new(read), FromState::<S>::from_call);
        let find = read.clone();
        Self {
            needs: FromState::<S>::needs(),
            find: Arc::new(move |call, path| {
                let state = state(call)?;
                Ok(find(&state).text(path).map(str::to_owned))
            }),
            list: Arc::new(move |call| {
                let state = state(call)?;
                Ok(read(&state).entries())
            }),
            write: Arc::new(move |change| {
                StateWrite::of(&write(change)).map_err(ToolError::failed)
            }),
            file: FILE,
        }
    }

    /// The largest file, in bytes. Default: 64 KiB.
    #[must_use]
    pub fn max_file(self, bytes: usize) -> Self {
        Self { file: bytes, ..self }
    }

    /// The text of a file that is there.
    fn text(&self, path: &FilePath, call: &Call) -> Result<String, ToolError> {
        match (self.find)(call, path.as_str())? {
            Some(text) => Ok(text),
            None => {
                let paths = (self.list)(call)?.into_iter().map(|file| file.path);
                Err(not_found(path, &paths.collect::<Vec<_>>()).into())
            }
        }
    }

    fn changed(&self, change: FileChange) -> Result<FileWrite, ToolError> {
        Ok(FileWrite { update: Some((self.write)(change)?) })
    }
}

impl Files for StateFiles {
    fn needs(&self) -> Vec<Need> {
        self.needs.clone()
    }

    /// Pure: the state is written by the graph that called, once.
    fn effect(&self) -> Effect {
        Effect::Pure
    }

    async fn list(&self, call: &Call) -> Result<Vec<FileEntry>, ToolError> {
        (self.list)(call)
    }

    async fn read(&self, path: &FilePath, call: &Call) -> Result<String, ToolError> {
        self.text(path, call)
    }

    async fn write(
        &self,
        path: &FilePath,
        text: String,
        call: &Call,
    ) -> Result<FileWrite, ToolError> {
        fits(path, &text, self.file)?;
        let is_new = (self.find)(call, path.as_str())?.is_none();
        if is_new && (self.list)(call)?.len() >= FILES {
            return Err(FileError::TooMany { limit: FILES }.into());
        }
        self.changed(FileChange::Write { path: path.to_string(), text })
    }

    async fn remove(&self, path: &FilePath, call: &Call) -> Result<FileWrite, ToolError> {
        self.text(path, call)?;
        self.changed(FileChange::Remove { path: path.to_string() })
    }
}

impl fmt::Debug for StateFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateFiles")
            .field("needs", &self.needs)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}
