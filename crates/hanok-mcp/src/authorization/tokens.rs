//! The files of tokens.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};

use crate::file::open_regular;

/// The largest file of tokens.
const LONGEST: u64 = 1024 * 1024;

/// A folder with the tokens of servers, one file for each server and address, which its owner alone may read.
///
/// A file that others may read is not used. Processes that share a folder renew a token one after the other.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use hanok_mcp::{McpClient, McpConfig, SignIn, TokenFolder};
///
/// let client = McpClient::builder(McpConfig::read("mcp.json")?)
///     .sign_in(SignIn::new(|page| println!("{} asks you to sign in: {}", page.server, page.url)))
///     .tokens(TokenFolder::new("/var/lib/desk/tokens"))
///     .connect()
///     .await?;
/// # drop(client);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct TokenFolder(PathBuf);

impl TokenFolder {
    /// The folder at `path`, which is made when the first token is kept.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The file of the tokens for `server` at `url`, and for nobody else.
    pub(super) fn file(&self, server: &str, url: &str) -> TokenFile {
        let mut hasher = blake3::Hasher::new();
        for text in [server, url] {
            hasher.update(&(text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        }
        let name = hasher.finalize().to_hex();
        TokenFile { folder: self.0.clone(), path: self.0.join(format!("{name}.json")) }
    }
}

/// The tokens of one server.
#[derive(Debug, Clone)]
pub(super) struct TokenFile {
    folder: PathBuf,
    path: PathBuf,
}

impl TokenFile {
    fn read(&self) -> io::Result<Option<StoredCredentials>> {
        use io::Read;
        let file = match open_regular(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        private(&file.metadata()?)?;
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text)?;
        Ok(Some(serde_json::from_str(&text)?))
    }

    /// Writes a new file beside the old one and puts it in its place, so that none is ever half written.
    fn write(&self, credentials: &StoredCredentials) -> io::Result<()> {
        self.make_folder()?;
        let text = serde_json::to_vec(credentials)?;
        let new = self.path.with_extension("new");
        // One that a dead process left has the rights that it was made with.
        remove(&new)?;
        let mut file = mine(OpenOptions::new().write(true).create_new(true)).open(&new)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }

    fn make_folder(&self) -> io::Result<()> {
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        folder.create(&self.folder)
    }

    /// The lock of the file, which is waited for.
    fn lock(&self) -> io::Result<File> {
        self.make_folder()?;
        let lock = self.path.with_extension("lock");
        let lock = mine(OpenOptions::new().write(true).create(true).truncate(false)).open(lock)?;
        lock.lock()?;
        Ok(lock)
    }

    /// Does `work` where it holds up no other task.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, AuthError> {
        let (file, path) = (self.clone(), self.path.display().to_string());
        let failed = |why: String| AuthError::CredentialStoreError(format!("`{path}`: {why}"));
        let worked = tokio::task::spawn_blocking(move || work(&file)).await;
        worked
            .map_err(|error| failed(error.to_string()))?
            .map_err(|error| failed(error.to_string()))
    }
}

#[async_trait]
impl CredentialStore for TokenFile {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.apart(Self::read).await
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.apart(move |file| file.write(&credentials)).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.apart(|file| remove(&file.path)).await
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        self.apart(Self::lock).await.map(|lock| Some(CredentialRefreshGuard::new(lock)))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A file that is made for its owner alone.
fn mine(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Refuses a file that others may read or write.
fn private(file: &fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.permissions());
        if mode & 0o077 != 0 {
            let why = format!("others may use it (mode {:o}); `chmod 600` it", mode & 0o777);
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(id: &str) -> StoredCredentials {
        StoredCredentials::new(id.to_owned(), None, vec!["read".to_owned()], None)
    }

    #[tokio::test]
    async fn tokens_are_of_one_server_at_one_address() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = TokenFolder::new(folder.path().join("tokens"));
        let file = tokens.file("desk", "https://a.example/mcp");
        assert!(file.load().await.unwrap().is_none());
        file.save(credentials("one")).await.unwrap();
        file.save(credentials("two")).await.unwrap();
        assert_eq!(file.load().await.unwrap().unwrap().client_id, "two");
        for (server, url) in [("desk", "https://b.example/mcp"), ("mail", "https://a.example/mcp")]
        {
            assert!(tokens.file(server, url).load().await.unwrap().is_none(), "{server} {url}");
        }
        file.clear().await.unwrap();
        file.clear().await.unwrap();
        assert!(file.load().await.unwrap().is_none());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn nobody_else_reads_tokens() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let tokens = TokenFolder::new(folder.path().join("tokens"));
        let file = tokens.file("desk", "https://a.example/mcp");
        // What a dead process left may be read by all: it is not written into.
        fs::create_dir(folder.path().join("tokens")).unwrap();
        fs::write(file.path.with_extension("new"), "").unwrap();
        file.save(credentials("one")).await.unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file.path), 0o600);

        fs::set_permissions(&file.path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = file.load().await.unwrap_err().to_string();
        assert!(error.contains("others may use it (mode 644)"), "{error}");
    }

    #[tokio::test]
    async fn a_token_is_renewed_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFolder::new(folder.path()).file("desk", "https://a.example/mcp");
        let guard = file.acquire_refresh_guard().await.unwrap();
        let path = file.path.with_extension("lock");
        let other = || OpenOptions::new().write(true).open(&path).unwrap();
        assert!(matches!(other().try_lock(), Err(fs::TryLockError::WouldBlock)));
        drop(guard);
        other().try_lock().unwrap();
    }
}
