//! Files, wherever they are.

use std::{fmt, sync::Arc};

use hanok_core::{BoxFuture, Call, Effect, Need};
use hanok_model::ToolError;
use hanok_state::StateWrite;

use super::{FilePath, TextEdit};

/// A file in a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEntry {
    /// The path.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
}

/// What a change of files leaves to whoever called.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct FileWrite {
    /// The write to the state of the graph that called, where the files are there. Default: none.
    pub update: Option<StateWrite>,
}

/// Text files behind one interface: in a folder ([`FolderFiles`](super::FolderFiles)), in a store across threads (`StoreFiles`,
/// feature `store`), in the state of a graph ([`StateFiles`](super::StateFiles)), or where yours are.
/// [`FileTools`](super::FileTools) makes tools of them.
///
/// ```
/// use hanok_core::Call;
/// use hanok_model::ToolError;
/// use hanok_sandbox::{FileEntry, FilePath, FileWrite, Files};
///
/// /// One page that nobody can change.
/// #[derive(Debug)]
/// struct Page;
///
/// impl Files for Page {
///     async fn list(&self, _: &Call) -> Result<Vec<FileEntry>, ToolError> {
///         Ok(vec![FileEntry { path: "page.md".into(), size: 5 }])
///     }
///
///     async fn read(&self, path: &FilePath, _: &Call) -> Result<String, ToolError> {
///         match path.as_str() {
///             "page.md" => Ok("hello".into()),
///             path => Err(ToolError::arguments(format!("there is no file `{path}`"))),
///         }
///     }
///
///     async fn write(&self, _: &FilePath, _: String, _: &Call) -> Result<FileWrite, ToolError> {
///         Err(ToolError::refused("the page is printed"))
///     }
///
///     async fn remove(&self, _: &FilePath, _: &Call) -> Result<FileWrite, ToolError> {
///         Err(ToolError::refused("the page is printed"))
///     }
/// }
/// ```
///
/// # Contract
///
/// - A file is whole or not there, whoever stops while it is written.
/// - The size of a file is limited; what is too large is an error and never cut.
/// - An error is a [`ToolError`], which a model reads.
pub trait Files: fmt::Debug + Send + Sync + 'static {
    /// The parts of the run that they take out of the call. Default: none.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// The effect of writing a whole file on the world. Default: the same write again changes nothing more.
    fn effect(&self) -> Effect {
        Effect::Idempotent
    }

    /// The files, by their paths.
    ///
    /// # Errors
    ///
    /// As the place of the files fails.
    fn list(&self, call: &Call) -> impl Future<Output = Result<Vec<FileEntry>, ToolError>> + Send;

    /// The text of a file.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] for a file that is not there; [`ToolError::Failed`] for one that is too large or no text.
    fn read(
        &self,
        path: &FilePath,
        call: &Call,
    ) -> impl Future<Output = Result<String, ToolError>> + Send;

    /// Writes a file whole, whether it is there or not.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] for a text that is too long; [`ToolError::Failed`] where it is not written.
    fn write(
        &self,
        path: &FilePath,
        text: String,
        call: &Call,
    ) -> impl Future<Output = Result<FileWrite, ToolError>> + Send;

    /// Replaces a text that stands in a file once. Default: reads it and writes it.
    ///
    /// # Errors
    ///
    /// As [`read`](Files::read) and [`write`](Files::write); [`ToolError::Arguments`] where the text does not stand there once.
    fn edit(
        &self,
        path: &FilePath,
        edit: &TextEdit,
        call: &Call,
    ) -> impl Future<Output = Result<FileWrite, ToolError>> + Send {
        async move {
            let text = edit.apply(path, &self.read(path, call).await?)?;
            self.write(path, text, call).await
        }
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] for a file that is not there.
    fn remove(
        &self,
        path: &FilePath,
        call: &Call,
    ) -> impl Future<Output = Result<FileWrite, ToolError>> + Send;
}

/// Any [`Files`], chosen at run time. Clones share them.
#[derive(Debug, Clone)]
pub struct SharedFiles(Arc<dyn Erased>);

impl SharedFiles {
    /// Shares `files`.
    pub fn new(files: impl Files) -> Self {
        Self(Arc::new(files))
    }
}

impl Files for SharedFiles {
    fn needs(&self) -> Vec<Need> {
        self.0.needs_erased()
    }

    fn effect(&self) -> Effect {
        self.0.effect_erased()
    }

    async fn list(&self, call: &Call) -> Result<Vec<FileEntry>, ToolError> {
        self.0.list_boxed(call).await
    }

    async fn read(&self, path: &FilePath, call: &Call) -> Result<String, ToolError> {
        self.0.read_boxed(path, call).await
    }

    async fn write(
        &self,
        path: &FilePath,
        text: String,
        call: &Call,
    ) -> Result<FileWrite, ToolError> {
        self.0.write_boxed(path, text, call).await
    }

    async fn edit(
        &self,
        path: &FilePath,
        edit: &TextEdit,
        call: &Call,
    ) -> Result<FileWrite, ToolError> {
        self.0.edit_boxed(path, edit, call).await
    }

    async fn remove(&self, path: &FilePath, call: &Call) -> Result<FileWrite, ToolError> {
        self.0.remove_boxed(path, call).await
    }
}

type Boxed<'a, T> = BoxFuture<'a, Result<T, ToolError>>;

trait Erased: fmt::Debug + Send + Sync {
    fn needs_erased(&self) -> Vec<Need>;

    fn effect_erased(&self) -> Effect;

    fn list_boxed<'a>(&'a self, call: &'a Call) -> Boxed<'a, Vec<FileEntry>>;

    fn read_boxed<'a>(&'a self, path: &'a FilePath, call: &'a Call) -> Boxed<'a, String>;

    fn write_boxed<'a>(
        &'a self,
        path: &'a FilePath,
        text: String,
        call: &'a Call,
    ) -> Boxed<'a, FileWrite>;

    fn edit_boxed<'a>(
        &'a self,
        path: &'a FilePath,
        edit: &'a TextEdit,
        call: &'a Call,
    ) -> Boxed<'a, FileWrite>;

    fn remove_boxed<'a>(&'a self, path: &'a FilePath, call: &'a Call) -> Boxed<'a, FileWrite>;
}

impl<F: Files> Erased for F {
    fn needs_erased(&self) -> Vec<Need> {
        self.needs()
    }

    fn effect_erased(&self) -> Effect {
        self.effect()
    }

    fn list_boxed<'a>(&'a self, call: &'a Call) -> Boxed<'a, Vec<FileEntry>> {
        Box::pin(self.list(call))
    }

    fn read_boxed<'a>(&'a self, path: &'a FilePath, call: &'a Call) -> Boxed<'a, String> {
        Box::pin(self.read(path, call))
    }

    fn write_boxed<'a>(
        &'a self,
        path: &'a FilePath,
        text: String,
        call: &'a Call,
    ) -> Boxed<'a, FileWrite> {
        Box::pin(self.write(path, text, call))
    }

    fn edit_boxed<'a>(
        &'a self,
        path: &'a FilePath,
        edit: &'a TextEdit,
        call: &'a Call,
    ) -> Boxed<'a, FileWrite> {
        Box::pin(self.edit(path, edit, call))
    }

    fn remove_boxed<'a>(&'a self, path: &'a FilePath, call: &'a Call) -> Boxed<'a, FileWrite> {
        Box::pin(self.remove(path, call))
    }
}
