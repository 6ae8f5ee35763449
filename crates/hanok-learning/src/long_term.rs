//! What is recalled of a user for a question, before anything is planned.

use std::collections::BTreeSet;

use hanok_checkpoint::{Hit, Refresh, Search};
use hanok_core::{Tenant, Timestamp};
use hanok_graph::Context;

use super::{
    days::Days,
    error::LearningError,
    evidence::{Actor, Evidence},
    kind::MemoryKind,
    memories::Memories,
    names::Side,
    recalled::{RecallScore, Recalled, Recollection},
    registry::{Shown, StoredHeading},
    teach::teach,
    user::UserMemories,
};

/// The most records that are recalled, unless [`LongTerm::limit`] says another number.
const LIMIT: usize = 5;

/// The long-term memory of whoever is asking: what is recalled for a question, and what the turn teaches.
///
/// Without a user nothing is read, and nothing is handed out to be learned.
///
/// ```
/// use hanok_checkpoint::{InMemoryStore, SharedStore};
/// use hanok_core::{Tenant, Timestamp};
/// use hanok_learning::{Episode, LongTerm, Memories, Preference};
///
/// # futures::executor::block_on(async {
/// let store = SharedStore::new(InMemoryStore::new());
/// let memories = Memories::new(store).kind::<Preference>().kind::<Episode>();
/// let of_kim = LongTerm::new(memories, Tenant::default(), Some("kim")).always::<Preference>();
/// let recalled = of_kim.recall("How much leave is left?", Timestamp(0)).await?;
/// assert!(recalled.is_empty());
/// # Ok::<(), hanok_learning::LearningError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct LongTerm {
    user: Option<UserMemories>,
    limit: usize,
    weight: f64,
    days: Days,
    always: BTreeSet<&'static str>,
}

impl LongTerm {
    /// The memory of `user`: any text names one, `None` is nobody.
    pub fn new(memories: Memories, tenant: Tenant, user: Option<&str>) -> Self {
        let user = user.map(|user| memories.of(tenant, user));
        Self { user, limit: LIMIT, weight: 0.5, days: Days::default(), always: BTreeSet::new() }
    }

    /// Sets the most records that are recalled. Default: 5.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Sets the weight of meaning beside words, from 0 to 1. Only a store that makes vectors knows meaning
    /// ([`Semantic`](hanok_model::Semantic)). Default: 0.5.
    #[must_use]
    pub fn weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// Sets the days that dates in what is recalled are of. Default: those of UTC.
    #[must_use]
    pub fn days(self, days: Days) -> Self {
        Self { days, ..self }
    }

    /// Recalls records of the kind `K` for every question, before those that fit it; all of them count towards the limit.
    /// Default: no kind.
    #[must_use]
    pub fn always<K: MemoryKind>(mut self) -> Self {
        self.always.insert(K::NAME);
        self
    }

    /// The memories that it reads; `None` when there is no user.
    pub fn memories(&self) -> Option<&UserMemories> {
        self.user.as_ref()
    }

    /// The records that fit `question` by words, and by meaning where the store knows it, the best first. Make it a step of a
    /// node (`context.step("recall", …)`), so that a replay recalls the same.
    ///
    /// An embedder that does not answer takes the meaning away and not the words.
    ///
    /// # Errors
    ///
    /// [`LearningError::Store`] when the store fails or the question has more than 64 KiB, [`LearningError::Record`] when another
    /// build wrote a record.
    pub async fn recall(&self, question: &str, now: Timestamp) -> Result<Recalled, LearningError> {
        let Some(user) = &self.user else { return Ok(Recalled::default()) };
        let mut recalled = Vec::new();
        for kind in &self.always {
            let labels = user.labels(Side::Records, Some(kind))?;
            let rest = self.limit.saturating_sub(recalled.len());
            let search = Search::within(user.tenant.clone(), labels).limit(rest);
            self.read(user, search, &mut recalled, now).await?;
        }
        let labels = user.labels(Side::Records, None)?;
        // Records that are recalled already may be among the best.
        let search = Search::within(user.tenant.clone(), labels).limit(self.limit + recalled.len());
        let search = search.text(question).weight(self.weight);
        self.read(user, search, &mut recalled, now).await?;
        recalled.truncate(self.limit);
        Ok(Recalled::new(recalled, self.days))
    }

    /// Adds what `search` finds and is not there yet.
    async fn read(
        &self,
        user: &UserMemories,
        search: Search,
        recalled: &mut Vec<Recollection>,
        now: Timestamp,
    ) -> Result<(), LearningError> {
        if search.limit == 0 {
            return Ok(());
        }
        for hit in user.memories.alike(search.refresh(Refresh::No), now).await?.hits {
            let StoredHeading { kind } = hit.item.value.decode()?;
            // Whoever does not know a kind does not recall it.
            let Ok(kind) = user.memories.kind_named(&kind) else { continue };
            let Shown { key, text, origins } = (kind.show)(&hit.item.value, self.days)?;
            if recalled.iter().all(|one| (one.kind.as_str(), &one.key) != (kind.name, &key)) {
                let (kind, score) = (kind.name.to_owned(), score(&hit));
                recalled.push(Recollection { kind, key, text, score, origins });
            }
        }
        Ok(())
    }

    /// Hands out evidence of the node's task for the [`Learner`](crate::Learner) of `topic`, as [`teach`] and [`Evidence::new`] do;
    /// nothing when there is no user.
    ///
    /// # Errors
    ///
    /// As [`teach`].
    pub fn teach<K: MemoryKind, C>(
        &self,
        context: &Context<C>,
        topic: &str,
        name: &str,
        actor: Actor,
        message: &str,
        body: K::Body,
    ) -> Result<(), LearningError> {
        let Some(user) = &self.user else { return Ok(()) };
        let evidence = Evidence::new(context, name, &user.user, actor, message, body);
        teach::<K, C>(context, topic, &evidence)
    }
}

fn score(hit: &Hit) -> Option<RecallScore> {
    let Hit { text, similarity, .. } = *hit;
    hit.score.map(|rank| RecallScore { rank, words: text, similarity })
}
