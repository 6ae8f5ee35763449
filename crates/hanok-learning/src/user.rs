//! What is remembered of one user.

use hanok_checkpoint::{Batch, Hit, Item, Page, Read, Refresh, Search, Store, StoreError};
use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};

use super::{
    error::LearningError,
    evidence::Evidence,
    kind::MemoryKind,
    memories::Memories,
    names::{self, Side},
    recalled::RecordOrigin,
    registry::{StoredEvidence, StoredRecord, record},
};

/// The number of items that are read at once.
const PAGE: usize = 200;

/// The memories of one user of one tenant. Nothing of another's is read, found, changed or forgotten by it.
#[derive(Debug, Clone)]
pub struct UserMemories {
    pub(super) memories: Memories,
    pub(super) tenant: Tenant,
    pub(super) user: String,
}

/// A record, by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered<R> {
    /// The name of the record, within its kind.
    pub key: String,
    /// The record.
    pub record: R,
    /// The text of the record, for people and prompts. It is data: what a user said stands in it.
    pub text: String,
    /// The places that its newest evidence comes from, at most three, the newest first.
    pub origins: Vec<RecordOrigin>,
}

impl UserMemories {
    pub(super) fn new(memories: Memories, tenant: Tenant, user: &str) -> Self {
        Self { memories, tenant, user: user.to_owned() }
    }

    /// The record `key` of the kind `K`; `None` when nothing was learned of it.
    ///
    /// # Errors
    ///
    /// [`LearningError::Store`] when the store fails, [`LearningError::Record`] when another build wrote the record.
    pub async fn get<K: MemoryKind>(
        &self,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<K::Record>, LearningError> {
        Ok(self.remembered::<K>(key, now).await?.map(|remembered| remembered.record))
    }

    /// The records of the kind `K` whose text has words of `text`, the best first, at most `limit`.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); [`StoreError::LongText`](hanok_checkpoint::StoreError::LongText) for a text of more than 64 KiB.
    pub async fn search<K: MemoryKind>(
        &self,
        text: &str,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Remembered<K::Record>>, LearningError> {
        let labels = self.labels(Side::Records, Some(K::NAME))?;
        let search = Search::within(self.tenant.clone(), labels).text(text).limit(limit);
        let page = self.memories.store().search(&search.refresh(Refresh::No), now).await?;
        page.hits.iter().map(|hit| remembered::<K>(&hit.item.value)).collect()
    }

    /// All records of the kind `K`, by their names.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub async fn all<K: MemoryKind>(
        &self,
        now: Timestamp,
    ) -> Result<Vec<Remembered<K::Record>>, LearningError> {
        let labels = self.labels(Side::Records, Some(K::NAME))?;
        let hits = self.memories.list(&self.tenant, labels, now).await?;
        hits.iter().map(|hit| remembered::<K>(&hit.item.value)).collect()
    }

    /// The evidence that the record `key` of the kind `K` is made of, by its ids: why it says what it says.
    ///
    /// # Errors
    ///
    /// [`LearningError::Store`] when the store fails, [`LearningError::Value`] when another build wrote the evidence.
    pub async fn evidence<K: MemoryKind>(
        &self,
        key: &str,
        now: Timestamp,
    ) -> Result<Vec<Evidence<K::Body>>, LearningError> {
        let labels = names::evidence(&self.user, K::NAME, key)?;
        let hits = self.memories.list(&self.tenant, labels, now).await?;
        let read = |hit: &Hit| Ok(hit.item.value.decode::<StoredEvidence<K::Body>>()?.evidence);
        hits.iter().map(read).collect()
    }

    /// The records of the kind `K` that fit `text`, by words and by meaning where the store knows it, each with the likeness of its
    /// meaning. An embedder that does not answer takes the meaning away and not the words.
    pub(crate) async fn alike<K: MemoryKind>(
        &self,
        text: &str,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<(Remembered<K::Record>, Option<f32>)>, LearningError> {
        let labels = self.labels(Side::Records, Some(K::NAME))?;
        let search = Search::within(self.tenant.clone(), labels).text(text).limit(limit);
        let page = self.memories.alike(search.refresh(Refresh::No), now).await?;
        let read = |hit: &Hit| Ok((remembered::<K>(&hit.item.value)?, hit.similarity));
        page.hits.iter().map(read).collect()
    }

    /// The record `key` of the kind `K` with its origins.
    pub(crate) async fn remembered<K: MemoryKind>(
        &self,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Remembered<K::Record>>, LearningError> {
        let labels = self.labels(Side::Records, Some(K::NAME))?;
        let key = names::item(&self.tenant, &labels, "record", key)?;
        let item = self.memories.one(key, now).await?;
        item.map(|item| remembered::<K>(&item.value)).transpose()
    }

    pub(super) fn labels(&self, side: Side, kind: Option<&str>) -> Result<Labels, LearningError> {
        names::user(side, &self.user, kind)
    }
}

impl Memories {
    /// The item `key`, if it is there.
    pub(super) async fn one(
        &self,
        key: ItemKey,
        now: Timestamp,
    ) -> Result<Option<Item>, LearningError> {
        let reads = vec![Read { key, refresh: Refresh::No }];
        let batch = Batch { reads, ..Batch::default() };
        Ok(self.store().batch(batch, now).await?.items.pop().flatten())
    }

    /// What `search` finds by words and by meaning, or by words alone where the embedder does not answer.
    pub(super) async fn alike(
        &self,
        search: Search,
        now: Timestamp,
    ) -> Result<Page, LearningError> {
        match self.store().search(&search, now).await {
            Err(
                error @ (StoreError::Embedding(_)
                | StoreError::Model { .. }
                | StoreError::Dimensions { .. }),
            ) => {
                tracing::warn!(%error, "recalled by words alone");
                Ok(self.store().search(&search.weight(0.0), now).await?)
            }
            done => Ok(done?),
        }
    }

    /// Every item in `labels`.
    pub(super) async fn list(
        &self,
        tenant: &Tenant,
        labels: Labels,
        now: Timestamp,
    ) -> Result<Vec<Hit>, LearningError> {
        let search = Search::within(tenant.clone(), labels).limit(PAGE);
        let mut search = search.refresh(Refresh::No);
        let mut hits = Vec::new();
        loop {
            let page = self.store().search(&search, now).await?;
            hits.extend(page.hits);
            match page.next {
                None => return Ok(hits),
                next => search = search.after(next),
            }
        }
    }
}

fn remembered<K: MemoryKind>(value: &Stored) -> Result<Remembered<K::Record>, LearningError> {
    let StoredRecord { key, record, text, origins, .. } = record::<K>(value)?;
    Ok(Remembered { key, record, text, origins })
}
