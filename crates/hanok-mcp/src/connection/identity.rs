//! What a server is, beside its name: the program that is started, the address, or this program.

use std::{io, path::Path};

use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::program::program;
use crate::{
    config::{ServerConfig, StdioConfig, Transport},
    error::ServerError,
    file::open_regular,
};

/// The identity of a server. A tool of another identity is another tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Identity {
    /// A program.
    Program {
        /// The command line as the configuration has it, with the names of its variables.
        command: Vec<String>,
        /// The BLAKE3 hash of the program's file.
        hash: String,
    },
    /// An address. In the place of its query, which may hold a token, stands the BLAKE3 hash of that.
    Address(String),
    /// A server that the program itself attaches.
    Attached,
}

impl Identity {
    /// The identity in lines, for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        // All of it: what is cut cannot be compared.
        let line = |text: &str| crate::text::line(text, usize::MAX);
        match self {
            Self::Program { command, hash } => {
                vec![
                    format!("command: {}", line(&command.join(" "))),
                    format!("program: {}", line(hash)),
                ]
            }
            Self::Address(address) => vec![format!("address: {}", line(address))],
            Self::Attached => vec!["attached by this program".to_owned()],
        }
    }
}

/// The identity of the server of `config`, as it is now.
pub(crate) async fn identity(config: &ServerConfig) -> Result<Identity, ServerError> {
    match &config.transport {
        Transport::Stream(_) => Ok(Identity::Attached),
        Transport::Http(http) => {
            let url = Url::parse(http.url.expose());
            let url = url.map_err(|error| ServerError::NoHttp(error.into()))?;
            Ok(Identity::Address(address(url)))
        }
        Transport::Stdio(stdio) => {
            let path = program(stdio).map_err(|error| not_started(stdio, error))?;
            let hashing = tokio::task::spawn_blocking(move || hash(&path));
            let hash = hashing.await.map_err(io::Error::other).flatten();
            let hash = hash.map_err(|error| not_started(stdio, error))?;
            Ok(Identity::Program { command: stdio.written.clone(), hash })
        }
    }
}

/// The error of a program that was not started, by the name that the configuration has for it: what fills that in may be a secret.
pub(super) fn not_started(stdio: &StdioConfig, source: io::Error) -> ServerError {
    let command = stdio.written.first().cloned().unwrap_or_default();
    ServerError::NotStarted { command, source }
}

/// The address without what may be secret: another query is another server all the same.
fn address(mut url: Url) -> String {
    let hashed = url.query().map(|query| format!("blake3={}", blake3::hash(query.as_bytes())));
    url.set_query(hashed.as_deref());
    url.set_fragment(None);
    url.into()
}

fn hash(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(open_regular(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_another_query_is_another_and_shows_none() {
        let of = |url: &str| address(Url::parse(url).unwrap());
        let ann = of("https://tools.example/mcp?tenant=ann&token=s3cret#top");
        assert_ne!(ann, of("https://tools.example/mcp?tenant=eve&token=s3cret"));
        assert!(ann.starts_with("https://tools.example/mcp?blake3=") && !ann.contains("s3cret"));
        assert_eq!(of("https://tools.example/mcp#top"), "https://tools.example/mcp");
    }
}
