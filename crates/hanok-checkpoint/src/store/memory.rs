//! Items in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{Mutex, MutexGuard, PoisonError},
};

use hanok_core::{ItemKey, Labels, Tenant, Timestamp};

use super::{
    Store,
    error::StoreError,
    item::{Batch, Batched, Item, Put, Refresh, Version, Write, Written, expiry},
    rank::{Candidate, Corpus, QueryTerms, Ranked, TermCounts, rank},
    search::{Hit, Namespaces, Page, Place, Search},
    vector::{Space, Vector},
};

/// A store across threads in memory: for tests, and for what need not outlive its process.
///
/// **Nothing survives the process.** A search looks at every item there is, one after the other.
///
/// ```
/// use hanok_checkpoint::{InMemoryStore, Put, Search, Store};
/// use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
///
/// # futures::executor::block_on(async {
/// let (store, now) = (InMemoryStore::new(), Timestamp(1_000));
/// let kim = Labels::new(["users", "kim"])?;
/// let key = ItemKey::new(Tenant::default(), kim.clone(), "leave")?;
/// store.put(&key, Put::new(Stored::encode(&"연차휴가는 15일")?), now).await?;
///
/// let page = store.search(&Search::within(Tenant::default(), kim).text("휴가"), now).await?;
/// assert_eq!(page.hits[0].item.value.as_str()?, "연차휴가는 15일");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Default)]
pub struct InMemoryStore(Mutex<Items>);

#[derive(Debug, Default)]
struct Items {
    rows: BTreeMap<ItemKey, Row>,
    /// Those that have a vector.
    meant: BTreeSet<ItemKey>,
    last: u64,
}

#[derive(Debug)]
struct Row {
    item: Item,
    terms: Vec<String>,
    vectors: Vec<Vector>,
}

impl InMemoryStore {
    /// A store with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    fn items(&self) -> MutexGuard<'_, Items> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Items {
    fn live(&self, key: &ItemKey, now: Timestamp) -> Option<&Item> {
        self.rows.get(key).map(|row| &row.item).filter(|item| item.is_live(now))
    }

    /// The item of `key`, which lives on where it is to.
    fn read(&mut self, key: &ItemKey, refresh: Refresh, now: Timestamp) -> Option<Item> {
        let item = self.rows.get_mut(key).map(|row| &mut row.item);
        let item = item.filter(|item| item.is_live(now))?;
        if refresh == Refresh::Yes {
            item.expires = item.expires.max(expiry(item.ttl, now));
        }
        Some(item.clone())
    }

    /// Refuses a batch that may not be made; gives the index of the write that counts, by its key.
    fn check(
        &self,
        writes: &[Write],
        now: Timestamp,
    ) -> Result<BTreeMap<ItemKey, usize>, StoreError> {
        let mut last = BTreeMap::new();
        for (at, write) in writes.iter().enumerate() {
            let actual = self.live(write.key(), now).map(|item| item.version);
            write.expect().admit(write.key(), actual)?;
            last.insert(write.key().clone(), at);
        }
        let mut spaces: BTreeMap<&Tenant, Option<Space>> = BTreeMap::new();
        for at in last.values() {
            let Some(Write::Put(key, put)) = writes.get(*at) else { continue };
            for vector in &put.vectors {
                let space = spaces
                    .entry(key.tenant())
                    .or_insert_with(|| self.space(key.tenant(), |key| !last.contains_key(key)));
                space.get_or_insert_with(|| vector.space()).admit(vector)?;
            }
        }
        Ok(last)
    }

    /// The space that the vectors of those items of `tenant` that count have in common.
    fn space(&self, tenant: &Tenant, counts: impl Fn(&ItemKey) -> bool) -> Option<Space> {
        let of_tenant = self.meant.iter().filter(|key| key.tenant() == tenant);
        let row = of_tenant.filter(|key| counts(key)).find_map(|key| self.rows.get(key))?;
        row.vectors.first().map(Vector::space)
    }

    fn put(&mut self, key: ItemKey, put: Put, now: Timestamp) {
        let created = self.live(&key, now).map_or(now, |item| item.created);
        self.remove(&key);
        self.last += 1;
        let ttl = put.ttl.duration();
        let item = Item {
            key: key.clone(),
            version: Version(self.last),
            created,
            updated: now,
            ttl,
            expires: expiry(ttl, now),
            value: put.value.clone(),
        };
        if !put.vectors.is_empty() {
            self.meant.insert(key.clone());
        }
        let terms = put.terms();
        self.rows.insert(key, Row { item, terms, vectors: put.vectors });
    }

    fn remove(&mut self, key: &ItemKey) {
        self.rows.remove(key);
        self.meant.remove(key);
    }

    /// The live rows in which `search` looks, from `after` on.
    fn rows<'a>(
        &'a self,
        search: &'a Search,
        after: Option<&Place>,
        now: Timestamp,
    ) -> impl Iterator<Item = (&'a ItemKey, &'a Row)> {
        let after = after.and_then(|after| {
            ItemKey::new(search.tenant.clone(), after.labels.clone(), &after.key).ok()
        });
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.rows.range((from, Bound::Unbounded));
        rows.filter(move |(key, row)| {
            *key.tenant() == search.tenant
                && search.within.holds(key.labels())
                && row.item.is_live(now)
        })
    }

    fn list(&self, search: &Search, now: Timestamp) -> (Vec<Hit>, Option<Place>) {
        let fitting = self
            .rows(search, search.after.as_ref(), now)
            .filter(|(_, row)| search.filter.fits(&row.item.value));
        let mut hits: Vec<_> = fitting
            .take(search.limit.saturating_add(1))
            .map(|(_, row)| Hit {
                item: row.item.clone(),
                score: None,
                text: None,
                similarity: None,
            })
            .collect();
        let more = hits.len() > search.limit;
        hits.truncate(search.limit);
        let next = hits.last().filter(|_| more).map(|hit| Place::new(None, &hit.item.key));
        (hits, next)
    }

    fn ranked(&self, search: &Search, now: Timestamp) -> (Vec<Hit>, Option<Place>) {
        let mut scores = self.text_scores(search, now);
        let candidates = self
            .rows(search, None, now)
            .filter(|(_, row)| search.filter.fits(&row.item.value))
            .map(|(key, row)| Candidate {
                item: row.item.clone(),
                key: key.clone(),
                text: scores.remove(key),
                similarity: search.by_vector().and_then(|vector| {
                    let each = row.vectors.iter().map(|other| vector.similarity(other));
                    each.reduce(f32::max)
                }),
            });
        let (ranked, next) = rank(search, candidates.collect());
        (ranked.into_iter().map(hit).collect(), next)
    }

    fn text_scores(&self, search: &Search, now: Timestamp) -> BTreeMap<ItemKey, f64> {
        let Some(text) = search.by_text() else { return BTreeMap::new() };
        let query = QueryTerms::new(text);
        let mut corpus = Corpus::default();
        let (mut keys, mut counts): (Vec<ItemKey>, Vec<TermCounts>) = Default::default();
        for (key, row) in self.rows(search, None, now).filter(|(_, row)| !row.terms.is_empty()) {
            corpus.items += 1;
            corpus.terms += row.terms.len() as u64;
            let counted = query.count(row.terms.iter().map(String::as_str));
            if counted.counts.iter().any(|count| *count > 0) {
                keys.push(key.clone());
                counts.push(counted);
            }
        }
        keys.into_iter().zip(query.scores(corpus, &counts)).collect()
    }
}

fn hit(ranked: Ranked<Item>) -> Hit {
    let Candidate { item, text, similarity, .. } = ranked.candidate;
    Hit { item, score: Some(ranked.score), text, similarity }
}

impl Store for InMemoryStore {
    async fn batch(&self, batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        let mut items = self.items();
        let last = items.check(&batch.writes, now)?;
        let read = batch.reads.iter().map(|read| items.read(&read.key, read.refresh, now));
        let read = read.collect();
        let version = |items: &Items, key: &ItemKey| items.live(key, now).map(|item| item.version);
        let before: Vec<_> = batch
            .writes
            .iter()
            .map(|write| (write.key().clone(), version(&items, write.key())))
            .collect();
        for (at, write) in batch.writes.into_iter().enumerate() {
            match write {
                write if last.get(write.key()) != Some(&at) => {}
                Write::Put(key, put) => items.put(key, put, now),
                Write::Remove(key, _) => items.remove(&key),
            }
        }
        let written = before.into_iter().map(|(key, before)| {
            // What was put with no time to live has expired at once; it was written all the same.
            let after = items.rows.get(&key).map(|row| row.item.version);
            Written { before, after }
        });
        Ok(Batched { items: read, written: written.collect() })
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Result<Page, StoreError> {
        search.check()?;
        let mut items = self.items();
        if let Some(vector) = search.by_vector()
            && let Some(space) = items.space(&search.tenant, |_| true)
        {
            space.admit(vector)?;
        }
        let (mut hits, next) = match search.text.is_some() || search.vector.is_some() {
            true => items.ranked(search, now),
            false => items.list(search, now),
        };
        for hit in &mut hits {
            if let Some(item) = items.read(&hit.item.key, search.refresh, now) {
                hit.item = item;
            }
        }
        Ok(Page { hits, next })
    }

    async fn namespaces(
        &self,
        query: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, StoreError> {
        let items = self.items();
        let rows = items.rows.iter().filter(|(key, row)| {
            *key.tenant() == query.tenant
                && query.within.holds(key.labels())
                && row.item.is_live(now)
        });
        let names: BTreeSet<Labels> = rows.map(|(key, _)| query.named(key.labels())).collect();
        let following =
            names.into_iter().filter(|it| query.after.as_ref().is_none_or(|after| it > after));
        Ok(following.take(query.limit).collect())
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        let mut items = self.items();
        let expired = items.rows.iter().filter(|(_, row)| !row.item.is_live(now));
        let expired: Vec<_> = expired.map(|(key, _)| key.clone()).take(limit).collect();
        expired.iter().for_each(|key| items.remove(key));
        Ok(expired.len())
    }
}
