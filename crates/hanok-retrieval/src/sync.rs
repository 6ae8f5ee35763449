//! A store brought to what the documents are now.

use std::collections::BTreeMap;

use crate::{
    document::{Document, Passage},
    error::RetrievalError,
    split::Splitter,
    store::{DocumentStore, StoredDocument},
};

/// What [`sync`], or `Library::refresh` of `hanok-documents`, found, in documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// New documents.
    pub added: usize,
    /// Documents whose content changed.
    pub changed: usize,
    /// Documents that are gone, or can no longer be read.
    pub removed: usize,
    /// Documents that are as they were. They were neither put nor decoded again.
    pub unchanged: usize,
    /// What was left out: documents without a passage, or files and folders that
    /// could not be read.
    pub skipped: usize,
}

/// So many passages are put at a time. One document is always put as a whole.
const BATCH: usize = 1_000;

/// Makes `store` hold `documents` and no others, split by `splitter`. Only what is new, or whose
/// [`version`](StoredDocument::version) is another, is put.
///
/// Of several documents of one source the last one counts. What was done before an error stays, and the next call goes on
/// from there. [`Changes::skipped`] counts documents without a passage.
///
/// # Errors
///
/// Those of the store.
pub async fn sync<'a>(
    store: &impl DocumentStore,
    splitter: &Splitter,
    documents: impl IntoIterator<Item = &'a Document>,
) -> Result<Changes, RetrievalError> {
    let new: BTreeMap<&str, &Document> =
        documents.into_iter().map(|document| (document.source.as_str(), document)).collect();
    let passages = new.into_values().map(|document| splitter.split(document));
    sync_passages(store, passages, |_| true).await
}

/// Makes `store` hold these documents, each as its passages, and no others of those that are `ours` by their source: as [`sync`] does,
/// for documents that are split otherwise, in a store that others fill as well.
///
/// # Errors
///
/// Those of the store.
///
/// ```
/// use hanok_retrieval::{Document, DocumentStore, MemoryStore, Splitter, sync_passages};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), hanok_retrieval::RetrievalError> {
/// let document = Document::new("contracts/a.md", "제1조(목적) 용역의 조건을 정한다.\n");
/// let passages = Splitter::new().max_chars(200).split(&document);
/// let store = MemoryStore::default();
/// let ours = |source: &str| source.starts_with("contracts/");
/// assert_eq!(sync_passages(&store, [passages], ours).await?.added, 1);
/// assert_eq!(sync_passages(&store, [], ours).await?.removed, 1);
/// assert!(store.documents().await?.is_empty());
/// # Ok(())
/// # }
/// ```
pub async fn sync_passages(
    store: &impl DocumentStore,
    documents: impl IntoIterator<Item = Vec<Passage>>,
    ours: impl Fn(&str) -> bool,
) -> Result<Changes, RetrievalError> {
    let kept = store.documents().await?.into_iter().filter(|document| ours(&document.source));
    let mut old: BTreeMap<String, StoredDocument> =
        kept.map(|document| (document.source.clone(), document)).collect();
    let mut changes = Changes::default();
    let mut batch: Vec<Passage> = Vec::new();
    for passages in documents {
        let Some(now) = StoredDocument::of(&passages) else {
            changes.skipped += 1;
            continue;
        };
        match old.remove(&now.source) {
            Some(was) if was.version == now.version => {
                changes.unchanged += 1;
                continue;
            }
            Some(_) => changes.changed += 1,
            None => changes.added += 1,
        }
        batch.extend(passages);
        if batch.len() >= BATCH {
            store.upsert(std::mem::take(&mut batch)).await?;
        }
    }
    if !batch.is_empty() {
        store.upsert(batch).await?;
    }
    for source in old.into_keys() {
        changes.removed += usize::from(store.remove(&source).await?);
    }
    Ok(changes)
}
