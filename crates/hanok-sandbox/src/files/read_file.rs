//! Reading a file as a tool.

use std::{path::Path, sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_model::{BlockingPool, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    FileError,
    folder::{Folder, shown},
    page::{page, text},
};

/// The largest file by default.
const FILE: u64 = 4 * 1024 * 1024;

/// The most bytes that are shown by default.
const OUTPUT: usize = 32 * 1024;

/// The tool `read_file`: text files of one folder, and of no other. P36
///
/// The folder is opened once, here; every name is then opened in the folder before it, without following links, and what
/// was opened is what is judged. A path that leads out, a link, a device, a pipe, a socket, a file of `/proc` or one that
/// is too large is refused, and on Unix a file with a second name (a hard link), which may be one of outside: copy what is
/// to be read. A folder's names, and names that are spelled like one that is not there, are told.
///
/// It changes nothing. Long files are shown in pieces: a last line says where the next begins. Characters that would act on
/// a terminal are written out. Its data are `{"path": …, "first_line": 1, "last_line": 40, "lines": 900}`.
///
/// ```
/// use hanok_model::Tool;
/// use hanok_sandbox::ReadFile;
///
/// let read = ReadFile::in_folder(std::env::temp_dir())?.max_file(64 * 1024);
/// assert_eq!(read.spec().name(), "read_file");
/// # Ok::<(), hanok_sandbox::FileError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ReadFile {
    spec: ToolSpec,
    folder: Arc<Folder>,
    pool: BlockingPool,
    file: u64,
    output: usize,
}

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Wanted {
    /// The path within the folder, e.g. `notes/today.md`; `.` tells what there is.
    path: String,
    /// The first line to read, from 1.
    #[serde(default)]
    from_line: Option<usize>,
    /// How many lines to read; by default as many as fit.
    #[serde(default)]
    lines: Option<usize>,
}

impl ReadFile {
    /// The tool for the files in `folder`, and below.
    ///
    /// # Errors
    ///
    /// [`FileError::Folder`] when the folder cannot be opened.
    pub fn in_folder(folder: impl AsRef<Path>) -> Result<Self, FileError> {
        let description = "Reads a text file of the folder that it is given.";
        Ok(Self {
            spec: ToolSpec::of::<Wanted>("read_file", description)?,
            folder: Arc::new(Folder::open(folder.as_ref())?),
            pool: BlockingPool::default(),
            file: FILE,
            output: OUTPUT,
        })
    }

    /// The largest file that is read, in bytes. Default: 4 MiB.
    #[must_use]
    pub fn max_file(self, bytes: u64) -> Self {
        Self { file: bytes, ..self }
    }

    /// The most bytes of it that are shown at once. Default: 32 KiB.
    #[must_use]
    pub fn max_output(self, bytes: usize) -> Self {
        Self { output: bytes, ..self }
    }

    /// The threads on which files are read. Default: a pool of its own.
    #[must_use]
    pub fn pool(self, pool: &BlockingPool) -> Self {
        Self { pool: pool.clone(), ..self }
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    /// 10 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Reads.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] for a name that is not there, [`ToolError::Refused`] for a path that leads out and for what
    /// is no file, [`ToolError::Failed`] for one that is too large or no text; each with a [`FileError`]'s words.
    async fn run(&self, arguments: &Arguments, _call: &Call) -> Result<ToolOutput, ToolError> {
        let wanted: Wanted = arguments.decode().map_err(ToolError::arguments)?;
        let (folder, file, output) = (self.folder.clone(), self.file, self.output);
        self.pool.run(move || Ok(read(&folder, &wanted, file, output)?)).await
    }
}

fn read(
    folder: &Folder,
    wanted: &Wanted,
    file: u64,
    output: usize,
) -> Result<ToolOutput, FileError> {
    let bytes = folder.read(&wanted.path, file)?;
    let path = shown(&wanted.path);
    let text = text(&path, bytes)?;
    page(&path, &text, wanted.from_line, wanted.lines, output)
}
