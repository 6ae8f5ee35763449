//! What is learned, of all users: the kinds, and how evidence becomes a part of a record.

use std::{collections::BTreeMap, sync::Arc};

use hanok_checkpoint::SharedStore;
use hanok_core::{Stored, Tenant, ThreadKey, Timestamp};

use super::{
    count::{Forgotten, Prepared},
    error::LearningError,
    evidence::{Evidence, LessonHead, LessonRef},
    kind::MemoryKind,
    registry::Kind,
    user::UserMemories,
};

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
/// use hanok_learning::{Episode, Memories, Preference};
///
/// # futures::executor::block_on(async {
/// let store = SharedStore::new(InMemoryStore::new());
/// let memories = Memories::new(store).kind::<Preference>().kind::<Episode>();
/// let kim = memories.of(Tenant::default(), "kim");
/// assert_eq!(kim.get::<Preference>("language", Timestamp(0)).await?, None);
/// # Ok::<(), hanok_learning::LearningError>(())
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

    /// The same kinds through another handle of the store: one whose embedder is called within another deadline and budget.
    ///
    /// ```
    /// use hanok_checkpoint::{InMemoryStore, SharedStore};
    /// use hanok_core::Call;
    /// use hanok_learning::{Memories, Preference};
    /// use hanok_model::{HashEmbedder, Semantic, SharedEmbedder};
    ///
    /// let store = SharedStore::new(InMemoryStore::new());
    /// let embedder = SharedEmbedder::new(HashEmbedder::new(256));
    /// let semantic = Semantic::new(store, embedder, Call::detached());
    /// let memories = Memories::new(SharedStore::new(semantic.clone())).kind::<Preference>();
    /// // In a node: `context.call("embedder", …)`.
    /// let in_this_turn = memories.through(SharedStore::new(semantic.during(Call::detached())));
    /// # drop(in_this_turn);
    /// ```
    #[must_use]
    pub fn through(&self, store: SharedStore) -> Self {
        Self { store, kinds: Arc::clone(&self.kinds) }
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
        let prepared = [self.prepared(thread, lesson)?];
        let learned = self.count(&prepared, Forgotten::Stays, now).await?;
        // One lesson has one effect.
        Ok(learned.first().copied().unwrap_or(Learned::Counted))
    }

    /// Counts `evidence` at once, as of `thread`: what a person says outside of a run, in a command or a form. Within a run a node
    /// [teaches](crate::teach).
    ///
    /// ```
    /// use hanok_checkpoint::{InMemoryStore, SharedStore};
    /// use hanok_core::{Tenant, ThreadKey, Timestamp};
    /// use hanok_learning::{
    ///     Actor, ClarificationEvent, ClarificationMemory, ClarificationReport, Evidence, EvidenceSource, Learned, Memories,
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let memories = Memories::new(SharedStore::new(InMemoryStore::new())).orchestration();
    /// let taken_back = Evidence {
    ///     id: "command/1".into(),
    ///     user: "kim".into(),
    ///     at: Timestamp(0),
    ///     actor: Actor::User,
    ///     source: EvidenceSource::default(),
    ///     body: ClarificationReport::new("Show it", "the lease", ClarificationEvent::Refuted),
    /// };
    /// let thread = ThreadKey::named("t")?;
    /// let learned = memories.count_at_once::<ClarificationMemory>(&thread, &taken_back, Timestamp(0)).await?;
    /// assert_eq!(learned, Learned::New);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// As [`learn`](Self::learn).
    pub async fn count_at_once<K: MemoryKind>(
        &self,
        thread: &ThreadKey,
        evidence: &Evidence<K::Body>,
        now: Timestamp,
    ) -> Result<Learned, LearningError> {
        let lesson = Stored::encode(&LessonRef { kind: K::NAME, evidence })?;
        self.learn(thread, &lesson, now).await
    }

    pub(super) fn store(&self) -> &SharedStore {
        &self.store
    }

    pub(super) fn kind_names(&self) -> impl Iterator<Item = &'static str> {
        self.kinds.keys().copied()
    }

    pub(super) fn kind_named(&self, kind: &str) -> Result<Kind, LearningError> {
        let kind_of_name = self.kinds.get(kind).copied();
        kind_of_name.ok_or_else(|| LearningError::UnknownKind { kind: kind.to_owned() })
    }

    /// The lesson, checked, as one that `thread` handed out.
    pub(super) fn prepared(
        &self,
        thread: &ThreadKey,
        lesson: &Stored,
    ) -> Result<Prepared, LearningError> {
        let LessonHead { kind } = lesson.decode()?;
        let kind = self.kind_named(&kind)?;
        let checked = (kind.read)(lesson, thread.thread())?;
        Ok(Prepared { tenant: thread.tenant().clone(), kind, checked })
    }
}
