//! The store that documents are searched in, as the command line names it.

use std::path::PathBuf;

#[cfg(any(feature = "index", feature = "opensearch", feature = "pgvector"))]
use hanok_retrieval::{DocumentStore, RetrievalError, Terms};
use hanok_retrieval::{MemoryStore, SharedDocumentStore};
use kit::failure::Failure;

/// The stores that are not in every build, each a feature of its name.
const ADDED: [&str; 3] = ["index", "opensearch", "pgvector"];

/// The variable that names the server of a store where the option does not. A password is not for a command line.
#[cfg(any(feature = "opensearch", feature = "pgvector"))]
const URL: &str = "STORE_URL";

/// The collection, or the index, that the documents are put into.
#[cfg(any(feature = "opensearch", feature = "pgvector"))]
const COLLECTION: &str = "documents";

/// The options of the store.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub struct StoreOptions {
    /// The store that documents are searched in: memory, or one that was built in with `-F`: index, opensearch, pgvector
    #[arg(long, value_name = "NAME", default_value = "memory")]
    pub store: String,

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
    /// [`Failure::Usage`] when there is no such store in this build or it needs an option that is missing, else
    /// [`Failure::Unreadable`].
    #[cfg_attr(
        not(any(feature = "index", feature = "opensearch", feature = "pgvector")),
        allow(clippy::unused_async, reason = "the other stores wait")
    )]
    pub async fn open(&self) -> Result<SharedDocumentStore, Failure> {
        match self.store.as_str() {
            "memory" => Ok(SharedDocumentStore::new(MemoryStore::default())),
            #[cfg(feature = "index")]
            "index" => {
                let folder = self.index.clone().ok_or_else(|| {
                    let line = "저장소 index에는 폴더가 있어야 합니다. --index 폴더를 주세요.";
                    Failure::Usage(line.to_owned())
                })?;
                let options = hanok_index::IndexOptions::new().terms(Terms::default());
                opened(hanok_index::IndexStore::open(folder, options).await)
            }
            #[cfg(feature = "opensearch")]
            "opensearch" => {
                let config = hanok_opensearch::OpenSearchConfig::new(self.server()?, COLLECTION);
                opened(hanok_opensearch::OpenSearchStore::open(config, Terms::default()).await)
            }
            #[cfg(feature = "pgvector")]
            "pgvector" => {
                let (url, terms) = (self.server()?, Terms::default());
                opened(hanok_pgvector::PgvectorStore::connect(&url, COLLECTION, terms).await)
            }
            name if ADDED.contains(&name) => {
                Err(Failure::not_built(&format!("--store {name}"), name))
            }
            name => Err(Failure::Usage(format!(
                "저장소 `{name}`은(는) 없습니다. memory, {}이(가) 있습니다.",
                ADDED.join(", ")
            ))),
        }
    }

    #[cfg(any(feature = "opensearch", feature = "pgvector"))]
    fn server(&self) -> Result<String, Failure> {
        let url = self.store_url.clone().or_else(|| std::env::var(URL).ok());
        url.filter(|url| !url.is_empty()).ok_or_else(|| {
            Failure::Usage(format!(
                "저장소 {}에는 서버가 있어야 합니다. --store-url 주소나 환경 변수 {URL}을 주세요.",
                self.store
            ))
        })
    }
}

#[cfg(any(feature = "index", feature = "opensearch", feature = "pgvector"))]
fn opened(
    store: Result<impl DocumentStore, RetrievalError>,
) -> Result<SharedDocumentStore, Failure> {
    let store = store.map_err(|error| Failure::unreadable("문서를", error))?;
    Ok(SharedDocumentStore::new(store))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every store of this build opens, or says which option it needs; one of another build says how to build it.
    #[tokio::test]
    async fn a_store_that_is_offered_takes_its_settings() {
        for (name, is_built) in [
            ("memory", true),
            ("index", cfg!(feature = "index")),
            ("opensearch", cfg!(feature = "opensearch")),
            ("pgvector", cfg!(feature = "pgvector")),
        ] {
            let options = StoreOptions {
                store: name.to_owned(),
                index: None,
                store_url: Some(String::new()),
            };
            match (name, options.open().await) {
                ("memory", opened) => assert!(opened.is_ok(), "{opened:?}"),
                (_, Err(Failure::Usage(line))) => {
                    assert_eq!(line.contains(&format!("-F {name}")), !is_built, "{line}");
                    assert!(line.contains("--"), "{line}");
                }
                (_, opened) => panic!("{name}: {opened:?}"),
            }
        }
        let options = StoreOptions { store: "faiss".to_owned(), index: None, store_url: None };
        let refused = options.open().await.unwrap_err();
        assert!(refused.line().contains("memory, index"), "{}", refused.line());
    }
}
