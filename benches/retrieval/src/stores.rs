//! The stores that are measured.

use std::{fmt, path::Path};

use hanok_retrieval::{
    Approximate, LocalOptions, LocalStore, SharedDocumentStore, StoreKind, StoreSettings, Terms,
};

use crate::Result;

/// Each of them.
pub(crate) const ALL: [Store; 3] =
    [Store::Kind(StoreKind::Memory), Store::Kind(StoreKind::Local), Store::Approximate];

/// A store, as it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    /// By its defaults.
    Kind(StoreKind),
    /// The local one, which estimates vectors and compares the best.
    Approximate,
}

impl Store {
    /// What it is called on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::Approximate => "local-approximate",
        }
    }

    /// Opens it by `terms`; its files, if it has any, go into `folder`.
    pub(crate) async fn open(self, folder: &Path, terms: Terms) -> Result<SharedDocumentStore> {
        Ok(match self {
            Self::Kind(kind) => kind.open(&StoreSettings::new().path(folder).terms(terms)).await?,
            Self::Approximate => {
                let options = LocalOptions::new().terms(terms).approximate(Approximate::new());
                SharedDocumentStore::new(LocalStore::open(folder, options).await?)
            }
        })
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
