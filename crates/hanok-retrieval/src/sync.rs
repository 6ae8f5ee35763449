//! A store brought to what the documents are now.

use std::collections::BTreeMap;

use crate::{
    document::{Document, Passage},
    error::RetrievalError,
    library::Changes,
    split::Splitter,
    store::{DocumentStore, StoredDocument},
};

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
    let kept = store.documents().await?;
    let mut old: BTreeMap<String, StoredDocument> =
        kept.into_iter().map(|document| (document.source.clone(), document)).collect();
    let new: BTreeMap<&str, &Document> =
        documents.into_iter().map(|document| (document.source.as_str(), document)).collect();
    let mut changes = Changes::default();
    let mut batch: Vec<Passage> = Vec::new();
    for (source, document) in new {
        let passages = splitter.split(document);
        let Some(now) = StoredDocument::of(&passages) else {
            changes.skipped += 1;
            continue;
        };
        match old.remove(source) {
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
