//! The stores that are measured.

use std::path::Path;

use hanok_retrieval::{SharedDocumentStore, StoreKind, StoreSettings};

use crate::Result;

/// Each of them.
pub(crate) const ALL: [StoreKind; 2] = [StoreKind::Memory, StoreKind::Local];

/// Opens a store; its files, if it has any, go into `folder`.
pub(crate) async fn open(store: StoreKind, folder: &Path) -> Result<SharedDocumentStore> {
    Ok(store.open(&StoreSettings::new().path(folder)).await?)
}
