use std::{fmt, path::PathBuf, str::FromStr};

use hanok_core::Secret;
use thiserror::Error;

#[cfg(feature = "local")]
use crate::local::{LocalOptions, LocalStore};
#[cfg(feature = "opensearch")]
use crate::opensearch::{OpenSearchConfig, OpenSearchStore};
#[cfg(feature = "pgvector")]
use crate::pgvector::PgvectorStore;
use crate::{
    error::RetrievalError, memory_store::MemoryStore, store::SharedDocumentStore, terms::Terms,
};

/// Which store keeps the documents, by its name in settings.
///
/// ```
/// use hanok_retrieval::{StoreKind, StoreKindError};
///
/// assert_eq!("memory".parse(), Ok(StoreKind::Memory));
/// let error = "chroma".parse::<StoreKind>().unwrap_err();
/// assert!(error.to_string().starts_with("no store `chroma`; there is `memory`"));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreKind {
    /// In this process, by keywords and every vector. Nothing lasts. The default.
    #[default]
    Memory,
    /// In the files of a folder, a [`LocalStore`].
    #[cfg(feature = "local")]
    Local,
    /// In OpenSearch, an [`OpenSearchStore`].
    #[cfg(feature = "opensearch")]
    OpenSearch,
    /// In PostgreSQL, a [`PgvectorStore`].
    #[cfg(feature = "pgvector")]
    Pgvector,
}

/// Where a store is. Each kind looks at what it needs.
#[derive(Debug, Clone, Default)]
pub struct StoreSettings {
    path: Option<PathBuf>,
    url: Option<Secret<String>>,
    collection: Option<String>,
    login: Option<(String, Secret<String>)>,
    terms: Terms,
}

impl StoreSettings {
    /// Nothing: enough for [`StoreKind::Memory`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The folder of a `local` store, made where it is missing. Default: none.
    #[must_use]
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Where the server is: of a `pgvector` store in the form of `hanok_postgres::Config`, of an `opensearch` store
    /// `https://search.example:9200`. Default: none.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(Secret::new(url.into()));
        self
    }

    /// Who asks an `opensearch` store, and the password. Default: nobody.
    #[must_use]
    pub fn login(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.login = Some((user.into(), Secret::new(password.into())));
        self
    }

    /// Which of the collections on a server, or which index. Default: `documents`.
    #[must_use]
    pub fn collection(mut self, collection: impl Into<String>) -> Self {
        self.collection = Some(collection.into());
        self
    }

    /// Which terms stand for a text: those that the store was made with. It refuses others. Default: [`Terms::Bigrams`].
    #[must_use]
    pub fn terms(mut self, terms: Terms) -> Self {
        self.terms = terms;
        self
    }

    #[cfg(any(feature = "opensearch", feature = "pgvector"))]
    fn named(&self) -> &str {
        self.collection.as_deref().unwrap_or("documents")
    }
}

impl StoreKind {
    /// Every store of this build.
    pub const ALL: &[Self] = &[
        Self::Memory,
        #[cfg(feature = "local")]
        Self::Local,
        #[cfg(feature = "opensearch")]
        Self::OpenSearch,
        #[cfg(feature = "pgvector")]
        Self::Pgvector,
    ];

    /// Opens the store that is where `settings` say. It is empty when it does not last.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Setting`] when one that it needs is not there, and what its own `open` says.
    #[cfg_attr(
        not(any(feature = "local", feature = "opensearch", feature = "pgvector")),
        allow(
            clippy::unused_async,
            unused_variables,
            reason = "the stores of other builds need both"
        )
    )]
    pub async fn open(
        self,
        settings: &StoreSettings,
    ) -> Result<SharedDocumentStore, RetrievalError> {
        let terms = settings.terms.clone();
        match self {
            Self::Memory => Ok(SharedDocumentStore::new(MemoryStore::new(terms))),
            #[cfg(feature = "local")]
            Self::Local => {
                let path = self.needs("path", settings.path.clone())?;
                let options = LocalOptions::new().terms(terms);
                Ok(SharedDocumentStore::new(LocalStore::open(path, options).await?))
            }
            #[cfg(feature = "opensearch")]
            Self::OpenSearch => {
                let url = self.needs("url", settings.url.as_ref())?.expose();
                let config = OpenSearchConfig::new(url, settings.named());
                let config = match &settings.login {
                    Some((user, password)) => config.login(user, password.expose()),
                    None => config,
                };
                let store = OpenSearchStore::open(config, terms);
                Ok(SharedDocumentStore::new(store.await?))
            }
            #[cfg(feature = "pgvector")]
            Self::Pgvector => {
                let url = self.needs("url", settings.url.as_ref())?.expose().as_str();
                let store = PgvectorStore::connect(url, settings.named(), terms);
                Ok(SharedDocumentStore::new(store.await?))
            }
        }
    }

    #[cfg(any(feature = "local", feature = "opensearch", feature = "pgvector"))]
    fn needs<T>(self, setting: &'static str, given: Option<T>) -> Result<T, RetrievalError> {
        given.ok_or(RetrievalError::Setting { store: self.name(), setting })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            #[cfg(feature = "local")]
            Self::Local => "local",
            #[cfg(feature = "opensearch")]
            Self::OpenSearch => "opensearch",
            #[cfg(feature = "pgvector")]
            Self::Pgvector => "pgvector",
        }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a name is no store of this build.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreKindError {
    /// This build has it not. Build with the feature, or take another.
    #[error("the store `{name}` is not in this build: it is the feature `{feature}`")]
    NotBuilt {
        /// What it is called here.
        name: &'static str,
        /// The feature that brings it.
        feature: &'static str,
    },
    /// There is none of that name.
    #[error("no store `{name}`; there is {}", built())]
    Unknown {
        /// The name that was given.
        name: String,
    },
}

/// The stores of this build.
fn built() -> String {
    let names: Vec<String> =
        StoreKind::ALL.iter().map(|kind| format!("`{}`", kind.name())).collect();
    names.join(", ")
}

/// What stores may be called, and their names.
const CALLED: [(&str, &str); 6] = [
    ("memory", "memory"),
    ("local", "local"),
    ("faiss", "local"),
    ("opensearch", "opensearch"),
    ("pgvector", "pgvector"),
    ("postgres", "pgvector"),
];

impl FromStr for StoreKind {
    type Err = StoreKindError;

    /// Reads a name in any case, with blanks around it.
    fn from_str(name: &str) -> Result<Self, StoreKindError> {
        let plain = name.trim().to_ascii_lowercase();
        let Some((_, known)) = CALLED.iter().find(|(called, _)| *called == plain) else {
            return Err(StoreKindError::Unknown { name: name.trim().to_owned() });
        };
        let built = Self::ALL.iter().find(|kind| kind.name() == *known);
        built.copied().ok_or(StoreKindError::NotBuilt { name: known, feature: known })
    }
}
