//! Items in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hanok_core::{ItemKey, Labels, Tenant, Timestamp};

use super::{
    Store,
    error::StoreError,
    filter::Filter,
    item::{Batch, Batched, Item, Put, Refresh, Version, Write, Written, expiry},
    postings::Postings,
    rank::{Candidate, QueryTerms, Ranked, rank},
    search::{Hit, Namespaces, Page, Place, Search, Within},
    slots::{LOWEST, Slots, lowest_namespace},
    vector::Space,
};

/// A store across threads in memory: for tests, and for what need not outlive its process.
///
/// **Nothing survives the process.** A search by text goes by an index of terms, a search by meaning compares every vector in
/// its namespaces.
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
    postings: Postings,
    slots: Slots,
    last: u64,
}

#[derive(Debug)]
struct Row {
    item: Item,
    /// Its number.
    slot: usize,
    /// Its terms, each once.
    terms: Vec<Arc<str>>,
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
        let row = self.rows.get_mut(key).filter(|row| row.item.is_live(now))?;
        if refresh == Refresh::Yes {
            row.item.expires = row.item.expires.max(expiry(row.item.ttl, now));
            self.slots.set_expires(row.slot, row.item.expires);
        }
        Some(row.item.clone())
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
                let space = spaces.entry(key.tenant()).or_insert_with(|| {
                    self.slots.space(key.tenant(), |key| !last.contains_key(key))
                });
                space.get_or_insert_with(|| vector.space()).admit(vector)?;
            }
        }
        Ok(last)
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
        let terms = put.terms();
        let slot = self.slots.add(&key, item.expires, terms.len() as u64, put.vectors);
        let terms = self.postings.add(slot, terms);
        self.rows.insert(key, Row { item, slot, terms });
    }

    fn remove(&mut self, key: &ItemKey) {
        let Some(row) = self.rows.remove(key) else { return };
        self.postings.remove(row.slot, &row.terms);
        self.slots.remove(row.slot);
    }

    /// The live rows of `tenant` in `within`, from `after` on.
    fn rows<'a>(
        &'a self,
        tenant: &'a Tenant,
        within: &'a Within,
        after: Option<&Place>,
        now: Timestamp,
    ) -> impl Iterator<Item = (&'a ItemKey, &'a Row)> {
        let after =
            after.and_then(|it| ItemKey::new(tenant.clone(), it.labels.clone(), &it.key).ok());
        let from = match (after, lowest(tenant, within)) {
            (Some(after), Some(lowest)) if after < lowest => Bound::Included(lowest),
            (Some(after), _) => Bound::Excluded(after),
            (None, Some(lowest)) => Bound::Included(lowest),
            (None, None) => Bound::Unbounded,
        };
        let rows = self.rows.range((from, Bound::Unbounded));
        rows.take_while(move |(key, _)| key.tenant() == tenant && within.holds(key.labels()))
            .filter(move |(_, row)| row.item.is_live(now))
    }

    fn list(&self, search: &Search, now: Timestamp) -> (Vec<Hit>, Option<Place>) {
        let rows = self.rows(&search.tenant, &search.within, search.after.as_ref(), now);
        let fitting = rows.filter(|(_, row)| search.filter.fits(&row.item.value));
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
        let scope = self.slots.within(&search.tenant, &search.within, now);
        let texts =
            search.by_text().map(|text| self.postings.scores(&QueryTerms::new(text), &scope));
        let similarities = search.by_vector().map(|vector| self.slots.similarities(vector, &scope));
        let mut found: Vec<Scored> = (0..scope.terms.len())
            .map(|slot| Scored {
                slot,
                text: texts.as_ref().and_then(|texts| *texts.get(slot)?),
                similarity: similarities.as_ref().and_then(|all| *all.get(slot)?),
            })
            .filter(|it| it.text.is_some() || it.similarity.is_some())
            .filter(|it| self.fits(search, it.slot))
            .collect();
        // Where one list ranks, what stands behind its first page needs no name.
        if search.after.is_none() && (texts.is_none() || similarities.is_none()) {
            keep_best(&mut found, search.limit);
        }
        let candidates = found.into_iter().filter_map(|it| {
            let (key, text, similarity) = (self.slots.key(it.slot)?, it.text, it.similarity);
            Some(Candidate { item: (), key: key.clone(), text, similarity })
        });
        let (ranked, next) = rank(search, candidates.collect());
        (ranked.into_iter().filter_map(|it| self.hit(it)).collect(), next)
    }

    fn fits(&self, search: &Search, slot: usize) -> bool {
        if matches!(&search.filter, Filter::And(all) if all.is_empty()) {
            return true;
        }
        let row = self.slots.key(slot).and_then(|key| self.rows.get(key));
        row.is_some_and(|row| search.filter.fits(&row.item.value))
    }

    fn hit(&self, ranked: Ranked<()>) -> Option<Hit> {
        let Candidate { key, text, similarity, .. } = ranked.candidate;
        let item = self.rows.get(&key)?.item.clone();
        Some(Hit { item, score: Some(ranked.score), text, similarity })
    }
}

/// An item that was found, by its number.
#[derive(Debug, Clone, Copy)]
struct Scored {
    slot: usize,
    text: Option<f64>,
    similarity: Option<f32>,
}

/// Leaves the best `limit` and one more by their one score, and all that are as good as the last of these.
fn keep_best(found: &mut Vec<Scored>, limit: usize) {
    let score = |it: &Scored| it.text.or(it.similarity.map(f64::from)).unwrap_or(f64::NEG_INFINITY);
    if limit >= found.len() {
        return;
    }
    let (_, last, _) = found.select_nth_unstable_by(limit, |a, b| score(b).total_cmp(&score(a)));
    let least = score(last);
    found.retain(|it| score(it).total_cmp(&least).is_ge());
}

/// A name below which no item of `tenant` in `within` stands.
fn lowest(tenant: &Tenant, within: &Within) -> Option<ItemKey> {
    let (tenant, labels) = lowest_namespace(tenant, within)?;
    ItemKey::new(tenant, labels, LOWEST).ok()
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
            && let Some(space) = items.slots.space(&search.tenant, |_| true)
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
        let rows = items.rows(&query.tenant, &query.within, None, now);
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
