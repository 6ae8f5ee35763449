//! Files in a folder.

use std::{path::Path, sync::Arc};

use hanok_core::Call;
use hanok_model::{BlockingPool, ToolError};

use super::{
    FileError, FilePath,
    folder::{Folder, shown},
    limits::{FILE, FILES, fits},
    page::text,
    source::{FileEntry, FileWrite, Files},
};

/// The text files of one folder, and of no other.
///
/// The folder is opened once, here. What is read is judged as [`ReadFile`](super::ReadFile) says: no links, hard links,
/// devices, pipes or ways out. A file is written beside its place and put there in one step, so it is whole or as it was, and
/// what is in its place is replaced and never followed; only what could be read is replaced or removed.
///
/// ```
/// use hanok_core::Call;
/// use hanok_sandbox::{FilePath, Files, FolderFiles};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let files = FolderFiles::open(folder.path())?;
/// let (path, call) = (FilePath::new("notes/today.md")?, Call::detached());
/// let _ = files.write(&path, "15 days".into(), &call).await?;
/// assert_eq!(files.read(&path, &call).await?, "15 days");
/// assert_eq!(files.list(&call).await?[0].path, "notes/today.md");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FolderFiles {
    folder: Arc<Folder>,
    pool: BlockingPool,
    file: usize,
}

impl FolderFiles {
    /// The files in `folder`, and below.
    ///
    /// # Errors
    ///
    /// [`FileError::Folder`] when the folder cannot be opened.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FileError> {
        let folder = Arc::new(Folder::open(folder.as_ref())?);
        Ok(Self { folder, pool: BlockingPool::default(), file: FILE })
    }

    /// The largest file, in bytes. Default: 1 MiB.
    #[must_use]
    pub fn max_file(self, bytes: usize) -> Self {
        Self { file: bytes, ..self }
    }

    /// The threads on which files are read and written. Default: a pool of its own.
    #[must_use]
    pub fn pool(self, pool: &BlockingPool) -> Self {
        Self { pool: pool.clone(), ..self }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let folder = self.folder.clone();
        self.pool.run(move || Ok(work(&folder)?)).await
    }
}

impl Files for FolderFiles {
    async fn list(&self, _: &Call) -> Result<Vec<FileEntry>, ToolError> {
        self.run(|folder| {
            folder.list(FILES).map_err(|source| FileError::Io { path: ".".to_owned(), source })
        })
        .await
    }

    async fn read(&self, path: &FilePath, _: &Call) -> Result<String, ToolError> {
        let (path, limit) = (path.clone(), u64::try_from(self.file).unwrap_or(u64::MAX));
        self.run(move |folder| text(&shown(path.as_str()), folder.read(path.as_str(), limit)?))
            .await
    }

    async fn write(&self, path: &FilePath, text: String, _: &Call) -> Result<FileWrite, ToolError> {
        fits(path, &text, self.file)?;
        let path = path.clone();
        self.run(move |folder| folder.write(&path, &text)).await?;
        Ok(FileWrite::default())
    }

    async fn remove(&self, path: &FilePath, _: &Call) -> Result<FileWrite, ToolError> {
        let path = path.clone();
        self.run(move |folder| folder.remove(&path)).await?;
        Ok(FileWrite::default())
    }
}
