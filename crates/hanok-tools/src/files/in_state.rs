//! Files in the state of a graph.

use std::{fmt, sync::Arc};

use hanok_core::{Call, Effect, Need};
use hanok_model::{FromCall, FromState, ToolError};
use hanok_state::{Map, State, StateUpdate, StateWrite};

use super::{
    FilePath,
    limits::{FILES, fits, not_found},
    source::{FileEntry, FileWrite, Files},
};

/// The largest file by default, in bytes: a state is held whole.
const FILE: usize = 64 * 1024;

type Texts = Map<String, String>;
type ReadTexts = dyn Fn(&Call) -> Result<Texts, ToolError> + Send + Sync;
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

/// Text files in the state of the graph that calls: a field that is a `Map<String, String>` with `#[reduce(merge)]`. They go
/// where the thread goes, and back with it.
///
/// A file is read as it was when the node that calls began, and written with its super-step. Of several writes of one file in
/// one super-step one holds; those of different files all hold. There are at most 1,000 files.
///
/// ```
/// use hanok_state::{Map, State};
/// use hanok_tools::{FileChange, StateFiles};
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
    read: Arc<ReadTexts>,
    write: Arc<WriteText>,
    file: usize,
}

impl StateFiles {
    /// The files that `read` finds in the state, and whose changes `write` makes updates of.
    pub fn new<S, U>(
        read: impl Fn(&S) -> &Map<String, String> + Send + Sync + 'static,
        write: impl Fn(FileChange) -> U + Send + Sync + 'static,
    ) -> Self
    where
        S: State,
        U: StateUpdate<State = S>,
    {
        Self {
            needs: FromState::<S>::needs(),
            read: Arc::new(move |call| {
                let state = FromState::<S>::from_call(call)?;
                Ok(read(&state).clone())
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
        let texts = (self.read)(call)?;
        let entry = |(path, text): (&String, &String)| FileEntry {
            path: path.clone(),
            size: u64::try_from(text.len()).unwrap_or(u64::MAX),
        };
        Ok(texts.iter().map(entry).collect())
    }

    async fn read(&self, path: &FilePath, call: &Call) -> Result<String, ToolError> {
        let texts = (self.read)(call)?;
        match texts.get(path.as_str()) {
            Some(text) => Ok(text.clone()),
            None => Err(missing(path, &texts)),
        }
    }

    async fn write(
        &self,
        path: &FilePath,
        text: String,
        call: &Call,
    ) -> Result<FileWrite, ToolError> {
        fits(path, &text, self.file)?;
        let texts = (self.read)(call)?;
        if texts.get(path.as_str()).is_none() && texts.len() >= FILES {
            return Err(super::FileError::TooMany { limit: FILES }.into());
        }
        self.changed(FileChange::Write { path: path.to_string(), text })
    }

    async fn remove(&self, path: &FilePath, call: &Call) -> Result<FileWrite, ToolError> {
        let texts = (self.read)(call)?;
        match texts.get(path.as_str()) {
            Some(_) => self.changed(FileChange::Remove { path: path.to_string() }),
            None => Err(missing(path, &texts)),
        }
    }
}

fn missing(path: &FilePath, texts: &Texts) -> ToolError {
    let paths: Vec<_> = texts.iter().map(|(path, _)| path.clone()).collect();
    not_found(path, &paths).into()
}

impl fmt::Debug for StateFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateFiles")
            .field("needs", &self.needs)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}
