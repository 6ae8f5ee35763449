//! Files in a store across threads.

use std::{fmt, sync::Arc};

use hanok_checkpoint::{Expect, Index, Item, Put, Search, SharedStore, Store, StoreError, Version};
use hanok_core::{Call, ItemKey, Labels, Stored};
use hanok_model::ToolError;
use serde::{Deserialize, Serialize};

use super::{
    FileError, FilePath, TextEdit,
    folder::shown,
    limits::{FILE, FILES, fits, not_found},
    source::{FileEntry, FileWrite, Files},
};

/// The longest path in bytes, for it is the key of its item.
const LONGEST: usize = 256;

/// How many items a page of a list has.
const PAGE: usize = 200;

type Namespace = dyn Fn(&Call) -> Result<Labels, ToolError> + Send + Sync;

/// Text files in a [`Store`]: the items of a namespace, of the tenant for whom the call is made. They outlive the thread, and
/// other threads of the same namespace share them.
///
/// An edit of a file that somebody else changes meanwhile is refused, and nothing is lost. Paths have at most 256 bytes. The
/// texts are not searched: to find them by what is in them, put them as memories.
///
/// ```
/// use hanok_checkpoint::{InMemoryStore, SharedStore};
/// use hanok_core::{Call, Labels};
/// use hanok_model::{FromCall, Services};
/// use hanok_sandbox::StoreFiles;
///
/// /// The services of the run.
/// struct App {
///     user: String,
/// }
///
/// // Files for each user.
/// let store = SharedStore::new(InMemoryStore::new());
/// let files = StoreFiles::per_call(store, |call: &Call| {
///     let app = Services::<App>::from_call(call)?;
///     Labels::new(["files", app.user.as_str()]).map_err(hanok_model::ToolError::failed)
/// });
/// # drop(files);
/// ```
#[derive(Clone)]
pub struct StoreFiles {
    store: SharedStore,
    namespace: Arc<Namespace>,
    file: usize,
}

/// A file as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredFile {
    text: String,
}

impl StoreFiles {
    /// The files in the namespace `labels`.
    pub fn new(store: SharedStore, labels: Labels) -> Self {
        Self::per_call(store, move |_| Ok(labels.clone()))
    }

    /// The files in the namespace that `namespace` names for each call: that of the user, say. An error of it is the call's.
    pub fn per_call(
        store: SharedStore,
        namespace: impl Fn(&Call) -> Result<Labels, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self { store, namespace: Arc::new(namespace), file: FILE }
    }

    /// The largest file, in bytes. Default: 1 MiB.
    #[must_use]
    pub fn max_file(self, bytes: usize) -> Self {
        Self { file: bytes, ..self }
    }

    fn key(&self, path: &FilePath, call: &Call) -> Result<ItemKey, ToolError> {
        if path.as_str().len() > LONGEST {
            let why = "it is longer than 256 bytes";
            return Err(FileError::Path { path: shown(path.as_str()), why }.into());
        }
        let tenant = call.tenant().cloned().unwrap_or_default();
        ItemKey::new(tenant, (self.namespace)(call)?, path.as_str()).map_err(ToolError::failed)
    }

    async fn find(&self, path: &FilePath, call: &Call) -> Result<(String, Version), ToolError> {
        let key = self.key(path, call)?;
        let item = self.store.get(&key, call.clock().now()).await.map_err(ToolError::failed)?;
        match item {
            Some(item) => Ok((text(&item)?, item.version)),
            None => {
                let paths = self.list(call).await?.into_iter().map(|entry| entry.path).collect();
                let paths: Vec<_> = paths;
                Err(not_found(path, &paths).into())
            }
        }
    }

    async fn put(
        &self,
        path: &FilePath,
        text: String,
        expect: Expect,
        call: &Call,
    ) -> Result<FileWrite, ToolError> {
        fits(path, &text, self.file)?;
        let key = self.key(path, call)?;
        let value = Stored::encode(&StoredFile { text }).map_err(ToolError::failed)?;
        let put = Put::new(value).index(Index::Off).only_if(expect);
        match self.store.put(&key, put, call.clock().now()).await {
            Ok(_) => Ok(FileWrite::default()),
            Err(StoreError::Conflict { .. }) => {
                Err(FileError::Changed { path: shown(path.as_str()) }.into())
            }
            Err(error) => Err(ToolError::failed(error)),
        }
    }
}

fn text(item: &Item) -> Result<String, ToolError> {
    let file: StoredFile = item.value.decode().map_err(ToolError::failed)?;
    Ok(file.text)
}

impl Files for StoreFiles {
    async fn list(&self, call: &Call) -> Result<Vec<FileEntry>, ToolError> {
        let labels = (self.namespace)(call)?;
        let tenant = call.tenant().cloned().unwrap_or_default();
        let mut search = Search::within(tenant, labels.clone()).limit(PAGE);
        let mut files = Vec::new();
        loop {
            let page = self.store.search(&search, call.clock().now()).await;
            let page = page.map_err(ToolError::failed)?;
            // The namespaces below are other files.
            let here = page.hits.iter().filter(|hit| *hit.item.key.labels() == labels);
            for hit in here {
                let size = u64::try_from(text(&hit.item)?.len()).unwrap_or(u64::MAX);
                files.push(FileEntry { path: hit.item.key.key().to_owned(), size });
            }
            match page.next {
                Some(next) if files.len() < FILES => search = search.after(Some(next)),
                _ => break,
            }
        }
        files.truncate(FILES);
        files.sort();
        Ok(files)
    }

    async fn read(&self, path: &FilePath, call: &Call) -> Result<String, ToolError> {
        Ok(self.find(path, call).await?.0)
    }

    async fn write(
        &self,
        path: &FilePath,
        text: String,
        call: &Call,
    ) -> Result<FileWrite, ToolError> {
        self.put(path, text, Expect::Any, call).await
    }

    async fn edit(
        &self,
        path: &FilePath,
        edit: &TextEdit,
        call: &Call,
    ) -> Result<FileWrite, ToolError> {
        let (text, version) = self.find(path, call).await?;
        let text = edit.apply(path, &text)?;
        self.put(path, text, Expect::Version(version), call).await
    }

    async fn remove(&self, path: &FilePath, call: &Call) -> Result<FileWrite, ToolError> {
        let key = self.key(path, call)?;
        let removed = self.store.remove(&key, Expect::Any, call.clock().now()).await;
        match removed.map_err(ToolError::failed)? {
            true => Ok(FileWrite::default()),
            // It says which there are.
            false => self.find(path, call).await.map(|_| FileWrite::default()),
        }
    }
}

impl fmt::Debug for StoreFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreFiles")
            .field("store", &self.store)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}
