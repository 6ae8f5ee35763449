//! The stores that are measured.

use std::{fmt, path::Path};

use hanok_index::{IndexOptions, IndexStore};
use hanok_retrieval::{MemoryStore, SharedDocumentStore, Terms};

use crate::Result;

/// Each of them.
pub(crate) const ALL: [Store; 2] = [Store::Memory, Store::Index];

/// A store, as it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    /// In memory.
    Memory,
    /// In the files of a folder.
    Index,
}

impl Store {
    /// What it is called on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Index => "index",
        }
    }

    /// Opens it by `terms`; its files, if it has any, go into `folder`.
    pub(crate) async fn open(self, folder: &Path, terms: Terms) -> Result<SharedDocumentStore> {
        Ok(match self {
            Self::Memory => SharedDocumentStore::new(MemoryStore::new(terms)),
            Self::Index => {
                let store = IndexStore::open(folder, IndexOptions::new().terms(terms)).await?;
                SharedDocumentStore::new(store)
            }
        })
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
