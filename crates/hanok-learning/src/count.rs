//! How evidence becomes a part of its records: all of a group in one batch of the store.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use hanok_checkpoint::{
    Batch, Expect, Index, Item, Put, Read, Refresh, Store, StoreError, Ttl, Write,
};
use hanok_core::{ItemKey, Stored, Tenant, Timestamp};

use super::{
    error::LearningError,
    memories::{Learned, Memories},
    names::{self, Side},
    registry::{Checked, Kind, RecordName, StoredId},
};

/// The time for which forgotten evidence is known by its id, so that an outbox that delivers it late teaches nothing. Only the id is
/// kept, in the user's namespace.
const TOMBSTONE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The most times that a write is tried which others came before.
const TRIES: usize = 1_000;

/// A lesson that may count, with its tenant and kind.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) tenant: Tenant,
    pub(super) kind: Kind,
    pub(super) checked: Checked,
}

/// What becomes of evidence that was forgotten and comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forgotten {
    /// It stays forgotten: an outbox delivers it again.
    Stays,
    /// It counts: somebody imports it.
    Returns,
}

/// The items of a lesson.
#[derive(Debug)]
struct Places {
    id: ItemKey,
    evidence: ItemKey,
    /// One of its turn, and one of each server.
    taught: Vec<ItemKey>,
    record: ItemKey,
}

impl Prepared {
    fn places(&self) -> Result<Places, LearningError> {
        let Self { tenant, kind, checked } = self;
        let Checked { id, user, key, source, .. } = checked;
        let of = |side| names::user(side, user, Some(kind.name));
        Ok(Places {
            id: names::item(tenant, &of(Side::Ids)?, "evidence", id)?,
            evidence: names::item(tenant, &names::evidence(user, kind.name, key)?, "evidence", id)?,
            taught: names::taught(tenant, source, [user, kind.name, key])?,
            record: names::item(tenant, &of(Side::Records)?, "record", key)?,
        })
    }
}

impl Memories {
    /// Stores the evidence of all lessons and folds it into its records, in one batch: all of it or nothing.
    pub(super) async fn count(
        &self,
        lessons: &[Prepared],
        forgotten: Forgotten,
        now: Timestamp,
    ) -> Result<Vec<Learned>, LearningError> {
        let places = lessons.iter().map(Prepared::places).collect::<Result<Vec<_>, _>>()?;
        let mut tries = Tries::default();
        loop {
            let done = self.try_count(lessons, &places, forgotten, now).await;
            if !tries.again(&done) {
                return done;
            }
        }
    }

    /// Counts one lesson. A record of another shape, which another build wrote, is folded anew from its evidence before.
    pub(super) async fn count_apart(
        &self,
        lesson: &Prepared,
        now: Timestamp,
    ) -> Result<Vec<Learned>, LearningError> {
        let lessons = std::slice::from_ref(lesson);
        match self.count(lessons, Forgotten::Stays, now).await {
            Err(LearningError::Record { .. }) => {
                let Prepared { tenant, kind, checked: Checked { user, key, .. } } = lesson;
                let [user, kind, key] = [user, kind.name, key].map(str::to_owned);
                self.fold_again(tenant, &RecordName { user, kind, key }, None, now).await?;
                self.count(lessons, Forgotten::Stays, now).await
            }
            counted => counted,
        }
    }

    async fn try_count(
        &self,
        lessons: &[Prepared],
        places: &[Places],
        forgotten: Forgotten,
        now: Timestamp,
    ) -> Result<Vec<Learned>, LearningError> {
        let keys = places.iter().flat_map(|places| [&places.id, &places.record]).collect();
        let stored = self.read(&keys, now).await?;
        let mut group =
            Group { stored: &stored, forgotten, new: BTreeMap::new(), records: BTreeMap::new() };
        let lessons = lessons.iter().zip(places);
        let learned = lessons.map(|(lesson, places)| group.add(lesson, places)).collect();
        let writes = group.writes()?;
        if !writes.is_empty() {
            self.store().batch(Batch { writes, ..Batch::default() }, now).await?;
        }
        Ok(learned)
    }

    /// The items of these keys that are there.
    async fn read<'k>(
        &self,
        keys: &BTreeSet<&'k ItemKey>,
        now: Timestamp,
    ) -> Result<BTreeMap<&'k ItemKey, Item>, LearningError> {
        let read = |key: &&ItemKey| Read { key: (*key).clone(), refresh: Refresh::No };
        let batch = Batch { reads: keys.iter().map(read).collect(), ..Batch::default() };
        let items = self.store().batch(batch, now).await?.items;
        let present = keys.iter().zip(items).filter_map(|(key, item)| Some((*key, item?)));
        Ok(present.collect())
    }
}

/// The part of a group of lessons that is new.
struct Group<'a> {
    stored: &'a BTreeMap<&'a ItemKey, Item>,
    forgotten: Forgotten,
    new: BTreeMap<&'a ItemKey, (&'a Prepared, &'a Places, Expect)>,
    records: BTreeMap<&'a ItemKey, (Kind, Vec<Stored>)>,
}

impl<'a> Group<'a> {
    fn add(&mut self, lesson: &'a Prepared, places: &'a Places) -> Learned {
        if self.new.contains_key(&places.id) {
            return Learned::Counted;
        }
        let expect = match self.stored.get(&places.id) {
            None => Expect::Absent,
            Some(item) if !is_tombstone(item) => return Learned::Counted,
            Some(_) if self.forgotten == Forgotten::Stays => return Learned::Forgotten,
            Some(tombstone) => Expect::Version(tombstone.version),
        };
        self.new.insert(&places.id, (lesson, places, expect));
        let (_, evidence) =
            self.records.entry(&places.record).or_insert_with(|| (lesson.kind, Vec::new()));
        evidence.push(lesson.checked.evidence.clone());
        Learned::New
    }

    fn writes(self) -> Result<Vec<Write>, LearningError> {
        let mut writes = Vec::new();
        for (lesson, places, expect) in self.new.into_values() {
            let Checked { user, key, evidence, .. } = &lesson.checked;
            let id = Stored::encode(&StoredId { key: key.clone() })?;
            let [user, kind, key] = [user, lesson.kind.name, key].map(str::to_owned);
            let taught = Stored::encode(&RecordName { user, kind, key })?;
            writes.push(Write::Put(places.id.clone(), unindexed(id).only_if(expect)));
            writes.push(Write::Put(places.evidence.clone(), unindexed(evidence.clone())));
            let of_place = |at: &ItemKey| Write::Put(at.clone(), unindexed(taught.clone()));
            writes.extend(places.taught.iter().map(of_place));
        }
        for (record, (kind, evidence)) in self.records {
            let before = self.stored.get(record);
            let folded = (kind.fold)(before.map(|item| &item.value), &evidence)?;
            writes.push(Write::Put(record.clone(), put_record(folded, before)));
        }
        Ok(writes)
    }
}

/// The write of what no search finds.
pub(super) fn unindexed(value: Stored) -> Put {
    Put::new(value).index(Index::Off).ttl(Ttl::Never)
}

/// The write of what stands in the place of forgotten evidence.
pub(super) fn tombstone() -> Put {
    Put::new(Stored::nil()).index(Index::Off).ttl(Ttl::After(TOMBSTONE))
}

/// The write of a record in the place of the one that was read.
pub(super) fn put_record(record: Stored, before: Option<&Item>) -> Put {
    let index = Index::Fields(vec!["text".into()]);
    Put::new(record).index(index).ttl(Ttl::Never).only_if(unchanged(before))
}

/// The expectation that an item is as it was read.
pub(super) fn unchanged(before: Option<&Item>) -> Expect {
    before.map_or(Expect::Absent, |item| Expect::Version(item.version))
}

/// True for what stands in the place of forgotten evidence.
fn is_tombstone(item: &Item) -> bool {
    item.value == Stored::nil()
}

/// Counts how often others came before: whoever comes first is done, so somebody gets on.
#[derive(Debug, Default)]
pub(super) struct Tries(usize);

impl Tries {
    /// True if others came before and it is worth another attempt.
    pub(super) fn again<T>(&mut self, done: &Result<T, LearningError>) -> bool {
        self.0 += 1;
        let lost = matches!(done, Err(LearningError::Store(StoreError::Conflict { .. })));
        lost && self.0 < TRIES
    }
}
