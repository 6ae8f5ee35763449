//! Tokens, of which a file holds the hashes.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use hanok_core::{Answerer, BoxFuture, Tenant};
use hanok_graph::core::Ids;
use serde::{Deserialize, Serialize};

use super::auth::{Authenticate, Role, Signed};

/// A file of tokens, which is read again when it has changed. Each line is a JSON object: the `hash` of a token (BLAKE3, hexadecimal),
/// its `tenant`, its `principal`, and its `roles`.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    read: Mutex<(Option<SystemTime>, Vec<Token>)>,
}

/// One token.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Token {
    hash: String,
    #[serde(default = "default_tenant")]
    tenant: String,
    principal: String,
    #[serde(default = "everything")]
    roles: Vec<Role>,
}

fn default_tenant() -> String {
    Tenant::default().as_str().to_owned()
}

fn everything() -> Vec<Role> {
    vec![Role::Admin]
}

impl TokenFile {
    /// The tokens of the file at `path`.
    ///
    /// # Errors
    ///
    /// [`io::Error`] when it cannot be read, or a line of it is no token.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let tokens = read(&path)?;
        Ok(Self { path, read: Mutex::new(tokens) })
    }

    /// As [`open`](TokenFile::open). Where there is no file one is made, with one token for everything, which is returned: it is shown
    /// once, and only its hash is kept.
    ///
    /// # Errors
    ///
    /// As [`open`](TokenFile::open), and when the file cannot be written.
    pub fn open_or_make(
        path: impl Into<PathBuf>,
        ids: &dyn Ids,
    ) -> io::Result<(Self, Option<String>)> {
        let path = path.into();
        let mut options = fs::OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let made = match options.write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                let token = format!("{:032x}{:032x}", ids.id(), ids.id());
                let line = Token {
                    hash: hash(&token),
                    tenant: default_tenant(),
                    principal: "admin".to_owned(),
                    roles: everything(),
                };
                let line = serde_json::to_string(&line).map_err(io::Error::other)?;
                writeln!(file, "{line}")?;
                file.sync_all()?;
                Some(token)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => return Err(error),
        };
        Ok((Self::open(path)?, made))
    }

    /// The tokens as the file has them now. One that cannot be read keeps those that it had.
    fn tokens(&self) -> Vec<Token> {
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = fs::metadata(&self.path).and_then(|file| file.modified()).ok();
        if changed.is_some() && changed != known.0 {
            match read(&self.path) {
                Ok(read) => *known = read,
                Err(error) => tracing::warn!(%error, "the file of tokens cannot be read"),
            }
        }
        known.1.clone()
    }
}

impl Authenticate for TokenFile {
    fn recognise<'a>(&'a self, token: Option<&'a str>) -> BoxFuture<'a, Option<Signed>> {
        let hashed = token.map(|token| blake3::hash(token.as_bytes()));
        let signed = hashed.and_then(|hashed| {
            // All are compared, each in constant time.
            let fits = |token: &&Token| {
                blake3::Hash::from_hex(&token.hash).is_ok_and(|known| known == hashed)
            };
            let tokens = self.tokens();
            let token = tokens.iter().rfind(fits)?;
            let tenant = Tenant::new(&token.tenant).ok()?;
            let principal = Answerer::new(token.principal.clone(), "http");
            Some(Signed::new(tenant, principal).roles(token.roles.iter().copied()))
        });
        Box::pin(async move { signed })
    }
}

fn hash(token: &str) -> String {
    blake3::hash(token.as_bytes()).to_hex().to_string()
}

fn read(path: &Path) -> io::Result<(Option<SystemTime>, Vec<Token>)> {
    let changed = fs::metadata(path)?.modified().ok();
    let text = fs::read_to_string(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let tokens = lines.map(|(at, line)| {
        let wrong = |why: &dyn std::fmt::Display| {
            let said = format!("line {} of {}: {why}", at + 1, path.display());
            io::Error::new(io::ErrorKind::InvalidData, said)
        };
        let token: Token = serde_json::from_str(line).map_err(|error| wrong(&error))?;
        blake3::Hash::from_hex(&token.hash).map_err(|error| wrong(&error))?;
        let tenant = Tenant::new(&token.tenant).map_err(|error| wrong(&error))?;
        match tenant.as_str() == crate::rows::keys::SERVER {
            true => Err(wrong(&"this tenant is the server's own")),
            false => Ok(token),
        }
    });
    Ok((changed, tokens.collect::<io::Result<_>>()?))
}
