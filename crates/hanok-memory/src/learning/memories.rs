//! What is learned, of all users: the kinds, and how evidence becomes a part of a record.

use std::{collections::BTreeMap, sync::Arc};

use hanok_checkpoint::{
    Batch, Expect, Index, Item, Put, Read, Refresh, SharedStore, Store, StoreError, Ttl, Write,
};
use hanok_core::{ItemKey, Stored, Tenant, ThreadKey, Timestamp};

use super::{
    error::LearningError,
    evidence::LessonHead,
    kind::MemoryKind,
    names::{self, Side},
    registry::{Checked, Kind},
    user::UserMemories,
};

/// The most times that a write is tried which others came before.
const TRIES: usize = 1_000;

/// The effect of a piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Learned {
    /// It is part of its record now.
    New,
    /// It counted before.
    Counted,
    /// It was forgotten, and stays so.
    Forgotten,
}

/// The long-term memories of users, in a store. Clones share it.
///
/// It reads and forgets; a [`Learner`](crate::Learner) fills it.
///
/// ```
/// use hanok_checkpoint::{InMemoryStore, SharedStore};
/// use hanok_core::{Tenant, Timestamp};
/// use hanok_memory::{Episode, Memories, Preference};
///
/// # futures::executor::block_on(async {
/// let store = SharedStore::new(InMemoryStore::new());
/// let memories = Memories::new(store).kind::<Preference>().kind::<Episode>();
/// let kim = memories.of(Tenant::default(), "kim");
/// assert_eq!(kim.get::<Preference>("language", Timestamp(0)).await?, None);
/// # Ok::<(), hanok_memory::LearningError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Memories {
    store: SharedStore,
    kinds: Arc<BTreeMap<&'static str, Kind>>,
}

impl Memories {
    /// The memories in `store`. No kind is known yet.
    pub fn new(store: SharedStore) -> Self {
        Self { store, kinds: Arc::default() }
    }

    /// Makes the kind `K` known. Of two kinds of one name the later one counts.
    #[must_use]
    pub fn kind<K: MemoryKind>(mut self) -> Self {
        Arc::make_mut(&mut self.kinds).insert(K::NAME, Kind::of::<K>());
        self
    }

    /// The memories of one user: any text names one.
    pub fn of(&self, tenant: Tenant, user: &str) -> UserMemories {
        UserMemories::new(self.clone(), tenant, user)
    }

    /// Counts a lesson that was handed out in `thread`, as a [`Learner`](crate::Learner) does. It counts once, whoever else learns
    /// it at the same time; a dropped call may have counted.
    ///
    /// # Errors
    ///
    /// As [`LearningError`] says; nothing was stored. [`LearningError::is_of_the_evidence`] tells what another attempt cannot help.
    pub async fn learn(
        &self,
        thread: &ThreadKey,
        lesson: &Stored,
        now: Timestamp,
    ) -> Result<Learned, LearningError> {
        let LessonHead { kind } = lesson.decode()?;
        let kind = self.kind_named(&kind)?;
        let checked = (kind.read)(lesson, thread.thread())?;
        self.count(thread.tenant(), kind, &checked, Forgotten::Stays, now).await
    }

    pub(super) fn store(&self) -> &SharedStore {
        &self.store
    }

    pub(super) fn kind_named(&self, kind: &str) -> Result<Kind, LearningError> {
        let kind_of_name = self.kinds.get(kind).copied();
        kind_of_name.ok_or_else(|| LearningError::UnknownKind { kind: kind.to_owned() })
    }

    /// Stores evidence and folds it into its record, in one batch.
    pub(super) async fn count(
        &self,
        tenant: &Tenant,
        kind: Kind,
        checked: &Checked,
        forgotten: Forgotten,
        now: Timestamp,
    ) -> Result<Learned, LearningError> {
        let of = |side| names::user(side, &checked.user, Some(kind.name));
        let evidence = names::item(tenant, &of(Side::Evidence)?, "evidence", &checked.id)?;
        let record = names::item(tenant, &of(Side::Records)?, "record", &checked.key)?;
        let mut tries = Tries::default();
        loop {
            let done = self.try_count(kind, checked, [&evidence, &record], forgotten, now).await;
            if !tries.again(&done) {
                return done;
            }
        }
    }

    async fn try_count(
        &self,
        kind: Kind,
        checked: &Checked,
        keys: [&ItemKey; 2],
        forgotten: Forgotten,
        now: Timestamp,
    ) -> Result<Learned, LearningError> {
        let [evidence, record] = keys;
        let [stored, before] = self.read(keys, now).await?;
        let expect = match &stored {
            None => Expect::Absent,
            Some(item) if !is_tombstone(item) => return Ok(Learned::Counted),
            Some(_) if forgotten == Forgotten::Stays => return Ok(Learned::Forgotten),
            Some(tombstone) => Expect::Version(tombstone.version),
        };
        let value = before.as_ref().map(|item| &item.value);
        let folded = (kind.fold)(value, std::slice::from_ref(&checked.evidence))?;
        let put = Put::new(checked.evidence.clone()).index(Index::Off).ttl(Ttl::Never);
        let writes = vec![
            Write::Put(evidence.clone(), put.only_if(expect)),
            Write::Put(record.clone(), put_record(folded, before.as_ref())),
        ];
        self.store.batch(Batch { reads: Vec::new(), writes }, now).await?;
        Ok(Learned::New)
    }

    async fn read<const N: usize>(
        &self,
        keys: [&ItemKey; N],
        now: Timestamp,
    ) -> Result<[Option<Item>; N], LearningError> {
        let read = |key: &ItemKey| Read { key: key.clone(), refresh: Refresh::No };
        let reads = keys.into_iter().map(read).collect();
        let batch = Batch { reads, writes: Vec::new() };
        let mut items = self.store.batch(batch, now).await?.items.into_iter();
        Ok(std::array::from_fn(|_| items.next().flatten()))
    }
}

/// What becomes of evidence that was forgotten and comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forgotten {
    /// It stays forgotten: an outbox delivers it again.
    Stays,
    /// It counts: somebody imports it.
    Returns,
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
pub(super) fn is_tombstone(item: &Item) -> bool {
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
