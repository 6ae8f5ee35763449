//! The store that documents are searched in, as the command line names it.

use std::{fmt, path::PathBuf, str::FromStr};

use hanok_retrieval::{MemoryStore, SharedDocumentStore};
#[cfg(any(feature = "index", feature = "opensearch", feature = "pgvector"))]
use hanok_retrieval::{RetrievalError, Terms};
use kit::failure::Failure;

/// The variable that names the server of a store where the option does not. A password is not for a command line.
const URL: &str = "STORE_URL";

/// The collection, or the index, that the documents are put into.
#[cfg(any(feature = "opensearch", feature = "pgvector"))]
const COLLECTION: &str = "documents";

/// Where documents are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StoreKind {
    /// In this process.
    #[default]
    Memory,
    /// In the files of a folder: `hanok-index`.
    Index,
    /// In OpenSearch: `hanok-opensearch`.
    OpenSearch,
    /// In PostgreSQL: `hanok-pgvector`.
    Pgvector,
}

impl StoreKind {
    /// All, whether they are built in or not.
    const ALL: [Self; 4] = [Self::Memory, Self::Index, Self::OpenSearch, Self::Pgvector];

    fn is_built(self) -> bool {
        match self {
            Self::Memory => true,
            Self::Index => cfg!(feature = "index"),
            Self::OpenSearch => cfg!(feature = "opensearch"),
            Self::Pgvector => cfg!(feature = "pgvector"),
        }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Index => "index",
            Self::OpenSearch => "opensearch",
            Self::Pgvector => "pgvector",
        })
    }
}

impl FromStr for StoreKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let Some(kind) = Self::ALL.into_iter().find(|kind| kind.to_string() == name) else {
            return Err(format!(
                "no such store; there are {}",
                Self::ALL.map(|it| it.to_string()).join(", ")
            ));
        };
        match kind.is_built() {
            true => Ok(kind),
            false => Err(format!(
                "not in this build; add it with `-F {kind}`: cargo run --example chat -F {kind} -- …"
            )),
        }
    }
}

/// The options of the store.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub struct StoreOptions {
    /// The store that documents are searched in: memory, or one that was built in with `-F`: index, opensearch, pgvector
    #[arg(long, value_name = "NAME", default_value_t = StoreKind::Memory)]
    pub store: StoreKind,

    /// The folder of `--store index`
    #[arg(long, value_name = "FOLDER")]
    pub index: Option<PathBuf>,

    /// The server of the stores `opensearch` and `pgvector` [default: the variable STORE_URL]
    #[arg(long, value_name = "URL")]
    pub store_url: Option<String>,
}

impl StoreOptions {
    /// Opens the store.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] when the store needs an option that is missing, else [`Failure::Unreadable`].
    pub async fn open(&self) -> Result<SharedDocumentStore, Failure> {
        let url = || std::env::var(URL).ok().filter(|url| !url.is_empty());
        self.open_at(self.store_url.clone().or_else(url)).await
    }

    #[cfg_attr(
        not(any(feature = "index", feature = "opensearch", feature = "pgvector")),
        allow(clippy::unused_async, reason = "the other stores wait")
    )]
    async fn open_at(&self, url: Option<String>) -> Result<SharedDocumentStore, Failure> {
        #[cfg(any(feature = "index", feature = "opensearch", feature = "pgvector"))]
        let failed = |error: RetrievalError| Failure::unreadable("문서를", error);
        match self.store {
            StoreKind::Memory => Ok(SharedDocumentStore::new(MemoryStore::default())),
            #[cfg(feature = "index")]
            StoreKind::Index => {
                let Some(folder) = self.index.clone() else {
                    let line = "저장소 index에는 폴더가 있어야 합니다. --index 폴더를 주세요.";
                    return Err(Failure::Usage(line.to_owned()));
                };
                let options = hanok_index::IndexOptions::new().terms(Terms::default());
                let store = hanok_index::IndexStore::open(folder, options).await;
                Ok(SharedDocumentStore::new(store.map_err(failed)?))
            }
            #[cfg(feature = "opensearch")]
            StoreKind::OpenSearch => {
                let config = hanok_opensearch::OpenSearchConfig::new(self.server(url)?, COLLECTION);
                let store = hanok_opensearch::OpenSearchStore::open(config, Terms::default()).await;
                Ok(SharedDocumentStore::new(store.map_err(failed)?))
            }
            #[cfg(feature = "pgvector")]
            StoreKind::Pgvector => {
                let url = self.server(url)?;
                let store =
                    hanok_pgvector::PgvectorStore::connect(&url, COLLECTION, Terms::default());
                Ok(SharedDocumentStore::new(store.await.map_err(failed)?))
            }
            #[cfg(not(all(feature = "index", feature = "opensearch", feature = "pgvector")))]
            kind => {
                drop(url);
                Err(Failure::not_built(&format!("--store {kind}"), &kind.to_string()))
            }
        }
    }

    #[cfg(any(feature = "opensearch", feature = "pgvector"))]
    fn server(&self, url: Option<String>) -> Result<String, Failure> {
        url.ok_or_else(|| {
            let kind = self.store;
            Failure::Usage(format!(
                "저장소 {kind}에는 서버가 있어야 합니다. --store-url 주소나 환경 변수 {URL}을 주세요."
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every store of this build opens, or says with which option it would; one of another build says how to add it.
    #[tokio::test]
    async fn a_store_that_is_offered_takes_its_settings() {
        for kind in StoreKind::ALL {
            let read = kind.to_string().parse::<StoreKind>();
            if !kind.is_built() {
                assert!(read.unwrap_err().contains(&format!("-F {kind}")));
                continue;
            }
            assert_eq!(read, Ok(kind));
            let opened =
                StoreOptions { store: kind, ..StoreOptions::default() }.open_at(None).await;
            match (kind, opened) {
                (StoreKind::Memory, opened) => assert!(opened.is_ok(), "{opened:?}"),
                (_, Err(Failure::Usage(line))) => assert!(line.contains("--"), "{line}"),
                (_, opened) => panic!("{kind}: {opened:?}"),
            }
        }
        assert!("faiss".parse::<StoreKind>().unwrap_err().contains("index"));
    }
}
