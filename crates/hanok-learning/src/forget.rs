//! Forgetting: evidence is taken away, and what remains is folded again.

use std::collections::BTreeSet;

use hanok_checkpoint::{Batch, Expect, Hit, Store, Write};
use hanok_core::{Labels, Stored, Tenant, ThreadKey, Timestamp};

use super::{
    count::{Tries, put_record, tombstone, unchanged},
    error::LearningError,
    evidence::{EvidenceHead, EvidenceSource},
    kind::MemoryKind,
    memories::Memories,
    names::{self, Side},
    registry::{RecordName, StoredHead, StoredId},
    user::UserMemories,
};

/// The part of a user's memories that is forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Forget {
    /// One record.
    Record {
        /// The name of its kind.
        kind: String,
        /// The name of the record.
        key: String,
    },
    /// All records of the kind of this name.
    Kind(String),
    /// All that is remembered of the user.
    Everything,
    /// All that the thread of this name taught.
    Thread(String),
    /// All that a turn taught.
    Turn {
        /// The name of its thread.
        thread: String,
        /// The id of the message that began it.
        message: String,
    },
    /// All that rests on the server of this name.
    Server(String),
    /// One piece of evidence.
    Evidence {
        /// The name of its kind.
        kind: String,
        /// Its id.
        id: String,
    },
}

/// What was forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForgottenEvidence {
    /// The pieces of evidence that are gone.
    pub evidence: usize,
    /// The names of the threads that had taught them. The logs of these threads still hold the words: delete the threads, or
    /// [erase](hanok_graph::Thread::erase) the words there.
    pub threads: BTreeSet<String>,
}

impl Forget {
    /// The record `key` of the kind `K`.
    pub fn record<K: MemoryKind>(key: &str) -> Self {
        Self::Record { kind: K::NAME.to_owned(), key: key.to_owned() }
    }

    /// All records of the kind `K`.
    pub fn kind<K: MemoryKind>() -> Self {
        Self::Kind(K::NAME.to_owned())
    }

    pub(super) fn covers(&self, stored: &StoredHead) -> bool {
        let EvidenceHead { id: of, source, .. } = &stored.evidence;
        match self {
            Self::Record { kind, key } => stored.kind == *kind && stored.key == *key,
            Self::Kind(kind) => stored.kind == *kind,
            Self::Everything => true,
            Self::Thread(thread) => source.thread == *thread,
            Self::Turn { thread, message } => {
                source.thread == *thread && source.message == *message
            }
            Self::Server(server) => source.servers.contains(server),
            Self::Evidence { kind, id } => stored.kind == *kind && of == id,
        }
    }
}

impl UserMemories {
    /// Forgets a part of what was learned, and folds the records that stood on it again from what remains: they are as if it had
    /// never been taught.
    ///
    /// Evidence that is in an outbox still is learned later: [`Learner::forget`](crate::Learner::forget) forgets that, too. What was
    /// forgotten stays so when an outbox delivers it again within 30 days; only its id is kept for that.
    ///
    /// # Errors
    ///
    /// [`LearningError::UnknownKind`] when a record of such a kind has to be folded, [`LearningError::Panicked`] when its kind panics;
    /// all other records are forgotten. [`LearningError::Store`] when the store fails. Each record is forgotten as a whole or not at
    /// all; another call goes on.
    pub async fn forget(
        &self,
        what: &Forget,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        let records = self.touched(what, now).await?;
        self.memories.forget(&self.tenant, Some(&self.user), &records, what, now).await
    }

    /// Takes one piece of evidence of the kind `K` back; says whether it was there.
    ///
    /// # Errors
    ///
    /// As [`forget`](Self::forget).
    pub async fn undo<K: MemoryKind>(
        &self,
        id: &str,
        now: Timestamp,
    ) -> Result<bool, LearningError> {
        let what = Forget::Evidence { kind: K::NAME.to_owned(), id: id.to_owned() };
        Ok(self.forget(&what, now).await?.evidence > 0)
    }

    /// Folds every record of the user again from its evidence; says how many there are. They are the same, byte by byte, unless
    /// their kind has changed.
    ///
    /// # Errors
    ///
    /// As [`forget`](Self::forget).
    pub async fn rebuild(&self, now: Timestamp) -> Result<usize, LearningError> {
        let records = self.touched(&Forget::Everything, now).await?;
        for record in &records {
            self.memories.fold_again(&self.tenant, record, None, now).await?;
        }
        Ok(records.len())
    }

    /// The records of the user that may stand on what is forgotten. Nothing else is read for it.
    async fn touched(
        &self,
        what: &Forget,
        now: Timestamp,
    ) -> Result<BTreeSet<RecordName>, LearningError> {
        let (memories, tenant) = (&self.memories, &self.tenant);
        let named = |kind: &str, key: String| RecordName {
            user: self.user.clone(),
            kind: kind.to_owned(),
            key,
        };
        let mine = |records: BTreeSet<RecordName>| {
            records.into_iter().filter(|record| record.user == self.user).collect()
        };
        Ok(match what {
            Forget::Record { kind, key } => BTreeSet::from([named(kind, key.clone())]),
            Forget::Evidence { kind, id } => {
                let labels = self.labels(Side::Ids, Some(kind))?;
                let id = names::item(tenant, &labels, "evidence", id)?;
                let item = memories.one(id, now).await?;
                let key = item.filter(|item| item.value != Stored::nil());
                let key = key.map(|item| item.value.decode::<StoredId>()).transpose()?;
                key.into_iter().map(|StoredId { key }| named(kind, key)).collect()
            }
            Forget::Thread(thread) => {
                mine(memories.taught(tenant, names::thread(thread)?, now).await?)
            }
            Forget::Turn { thread, message } => {
                mine(memories.taught(tenant, names::turn(thread, message)?, now).await?)
            }
            Forget::Server(server) => {
                mine(memories.taught(tenant, names::server(server)?, now).await?)
            }
            Forget::Kind(_) | Forget::Everything => {
                let kind = match what {
                    Forget::Kind(kind) => Some(kind.as_str()),
                    _ => None,
                };
                let labels = self.labels(Side::Evidence, kind)?;
                let named = |hit: Hit| {
                    let StoredHead { kind, key, .. } = hit.item.value.decode()?;
                    Ok(named(&kind, key))
                };
                let hits = memories.list(tenant, labels, now).await?;
                hits.into_iter().map(named).collect::<Result<_, LearningError>>()?
            }
        })
    }
}

impl Memories {
    /// Forgets what `thread` ever taught, of all users of its tenant. Call it when a thread is deleted.
    ///
    /// Evidence that is in an outbox still is learned later: [`Learner::forget_thread`](crate::Learner::forget_thread) forgets that,
    /// too.
    ///
    /// # Errors
    ///
    /// As [`UserMemories::forget`].
    pub async fn forget_thread(
        &self,
        thread: &ThreadKey,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        let (thread, tenant) = (thread.thread().to_owned(), thread.tenant());
        let records = self.taught(tenant, names::thread(&thread)?, now).await?;
        self.forget(tenant, None, &records, &Forget::Thread(thread), now).await
    }

    /// Forgets what the turn of `thread` taught that `message` began, of all users of its tenant.
    ///
    /// # Errors
    ///
    /// As [`UserMemories::forget`].
    pub async fn forget_turn(
        &self,
        thread: &ThreadKey,
        message: &str,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        let (thread, tenant) = (thread.thread().to_owned(), thread.tenant());
        let records = self.taught(tenant, names::turn(&thread, message)?, now).await?;
        let what = Forget::Turn { thread, message: message.to_owned() };
        self.forget(tenant, None, &records, &what, now).await
    }

    /// Forgets all that the server `server` ever taught, of all users of `tenant`: every piece of evidence whose source names it. The
    /// store holds then what one holds that never heard of it. Call it when a server turned out hostile, and take it out of the
    /// configuration before: what it teaches afterwards counts.
    ///
    /// Evidence that is in an outbox still is learned later: [`Learner::forget_server`](crate::Learner::forget_server) forgets that,
    /// too.
    ///
    /// ```
    /// # use hanok_checkpoint::{InMemoryStore, SharedStore};
    /// # use hanok_core::{Tenant, Timestamp};
    /// # use hanok_learning::{Episode, Memories};
    /// # futures::executor::block_on(async {
    /// let memories = Memories::new(SharedStore::new(InMemoryStore::new())).kind::<Episode>();
    /// let forgotten = memories.forget_server(&Tenant::default(), "weather", Timestamp(0)).await?;
    /// assert_eq!(forgotten.evidence, 0);
    /// # Ok::<(), hanok_learning::LearningError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// As [`UserMemories::forget`].
    pub async fn forget_server(
        &self,
        tenant: &Tenant,
        server: &str,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        let records = self.taught(tenant, names::server(server)?, now).await?;
        self.forget(tenant, None, &records, &Forget::Server(server.to_owned()), now).await
    }

    async fn forget(
        &self,
        tenant: &Tenant,
        user: Option<&str>,
        records: &BTreeSet<RecordName>,
        what: &Forget,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        let mut forgotten = self.forget_aside(tenant, user, what, now).await?;
        // A record that cannot be folded keeps no other: they may be of other users.
        let mut unfolded = None;
        for record in records {
            match self.fold_again(tenant, record, Some(what), now).await {
                Ok(of_record) => {
                    forgotten.evidence += of_record.evidence;
                    forgotten.threads.extend(of_record.threads);
                }
                Err(error @ (LearningError::Store(_) | LearningError::Outbox(_))) => {
                    return Err(error);
                }
                Err(error) => unfolded = unfolded.or(Some(error)),
            }
        }
        unfolded.map_or(Ok(forgotten), Err)
    }

    /// The records, of any user, of which `labels` of threads, turns and servers say that they taught something.
    async fn taught(
        &self,
        tenant: &Tenant,
        labels: Labels,
        now: Timestamp,
    ) -> Result<BTreeSet<RecordName>, LearningError> {
        let hits = self.list(tenant, labels, now).await?;
        hits.iter().map(|hit| Ok(hit.item.value.decode()?)).collect()
    }

    /// Folds a record from its evidence without what is forgotten.
    pub(super) async fn fold_again(
        &self,
        tenant: &Tenant,
        record: &RecordName,
        what: Option<&Forget>,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        let mut tries = Tries::default();
        loop {
            let done = self.try_fold_again(tenant, record, what, now).await;
            if !tries.again(&done) {
                return done;
            }
        }
    }

    async fn try_fold_again(
        &self,
        tenant: &Tenant,
        name: &RecordName,
        what: Option<&Forget>,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        let RecordName { user, kind, key } = name;
        let of = |side| names::user(side, user, Some(kind));
        let record = names::item(tenant, &of(Side::Records)?, "record", key)?;
        // The record is read first: whoever adds evidence to it from now on changes its version.
        let before = self.one(record.clone(), now).await?;
        let (mut gone, mut rest, mut places) = (Vec::new(), Vec::new(), BTreeSet::new());
        let taught = |source: &EvidenceSource| names::taught(tenant, source, [user, kind, key]);
        for hit in self.list(tenant, names::evidence(user, kind, key)?, now).await? {
            let stored: StoredHead = hit.item.value.decode()?;
            if what.is_some_and(|what| what.covers(&stored)) {
                gone.push((hit.item.key, stored.evidence));
            } else {
                places.extend(taught(&stored.evidence.source)?);
                rest.push(hit.item.value);
            }
        }
        let mut forgotten = ForgottenEvidence { evidence: gone.len(), threads: BTreeSet::new() };
        let mut writes = Vec::new();
        for (evidence, EvidenceHead { id, source, .. }) in gone {
            forgotten.threads.insert(source.thread.clone());
            let id = names::item(tenant, &of(Side::Ids)?, "evidence", &id)?;
            writes.push(Write::Remove(evidence, Expect::Any));
            writes.push(Write::Put(id, tombstone()));
            for place in taught(&source)? {
                if places.insert(place.clone()) {
                    writes.push(Write::Remove(place, Expect::Any));
                }
            }
        }
        if what.is_some() && forgotten.evidence == 0 {
            return Ok(forgotten);
        }
        writes.push(match rest.as_slice() {
            [] => Write::Remove(record.clone(), unchanged(before.as_ref())),
            rest => {
                let folded = (self.kind_named(kind)?.fold)(None, rest)?;
                Write::Put(record.clone(), put_record(folded, before.as_ref()))
            }
        });
        self.store().batch(Batch { writes, ..Batch::default() }, now).await?;
        Ok(forgotten)
    }
}
