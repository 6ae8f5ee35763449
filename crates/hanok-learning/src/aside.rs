//! Evidence of kinds that this build does not know: set aside until a build knows them.

use hanok_checkpoint::{Batch, Expect, Filter, Hit, Search, Store, StoreError, Write};
use hanok_core::{Stored, Tenant, ThreadKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    count::{tombstone, unindexed},
    error::LearningError,
    evidence::{EvidenceHead, LessonNames},
    forget::{Forget, ForgottenEvidence},
    learner::Drained,
    memories::Memories,
    names::{self, Side},
    registry::StoredHead,
};

/// The most tenants whose evidence is learned in one go.
const TENANTS: usize = 100;

/// A lesson that was set aside, which is stored as the list of its parts.
#[derive(Debug)]
struct SetAside {
    /// The name of the thread that handed it out.
    thread: String,
    lesson: Stored,
}

/// Says that evidence of a kind is set aside in a tenant.
#[derive(Debug, Serialize, Deserialize)]
struct WaitingTenant {
    kind: String,
    tenant: String,
}

impl SetAside {
    fn read(value: &Stored) -> Result<Self, LearningError> {
        let mut parts = value.to_items()?.into_iter();
        let thread = parts.next().unwrap_or_else(Stored::nil).decode()?;
        Ok(Self { thread, lesson: parts.next().unwrap_or_else(Stored::nil) })
    }

    fn head(&self) -> Result<StoredHead, LearningError> {
        let LessonNames { kind, mut evidence } = self.lesson.decode()?;
        evidence.source.thread.clone_from(&self.thread);
        // Nobody knows the record before the kind is known.
        Ok(StoredHead { kind, key: String::new(), evidence })
    }
}

impl Memories {
    /// Sets aside a lesson of a kind that is not known. Returns false for one that counted before, or was forgotten.
    pub(super) async fn set_aside(
        &self,
        thread: &ThreadKey,
        lesson: &Stored,
        now: Timestamp,
    ) -> Result<bool, LearningError> {
        let LessonNames { kind, evidence: EvidenceHead { id, user, .. } } = lesson.decode()?;
        let tenant = thread.tenant();
        let of = |side| names::user(side, &user, Some(&kind));
        let counted = names::item(tenant, &of(Side::Ids)?, "evidence", &id)?;
        if self.one(counted, now).await?.is_some() {
            return Ok(false);
        }
        let place = names::item(tenant, &of(Side::Aside)?, "evidence", &id)?;
        let waiting = names::waiting(&kind, tenant)?;
        let tenant = WaitingTenant { kind, tenant: tenant.as_str().to_owned() };
        let writes = vec![
            Write::Put(place, unindexed(Stored::encode(&(thread.thread(), lesson))?)),
            Write::Put(waiting, unindexed(Stored::encode(&tenant)?)),
        ];
        self.store().batch(Batch { writes, ..Batch::default() }, now).await?;
        Ok(true)
    }

    /// Learns what was set aside, of the kinds that are known now.
    pub(super) async fn learn_aside(
        &self,
        drained: &mut Drained,
        now: Timestamp,
    ) -> Result<(), LearningError> {
        let known = self.kind_names().map(|kind| Filter::eq(["kind"], kind));
        let known = Filter::Or(known.collect::<Result<_, _>>()?);
        let search = Search::within(Tenant::default(), names::all_waiting()?);
        let search = search.filter(known).limit(TENANTS);
        for hit in self.store().search(&search, now).await?.hits {
            self.learn_aside_of(hit, drained, now).await?;
        }
        Ok(())
    }

    async fn learn_aside_of(
        &self,
        waiting: Hit,
        drained: &mut Drained,
        now: Timestamp,
    ) -> Result<(), LearningError> {
        let WaitingTenant { kind, tenant } = waiting.item.value.decode()?;
        let unnamed = |why| LearningError::Name { what: "tenant", why };
        let tenant = Tenant::new(&tenant).map_err(unnamed)?;
        for hit in self.list(&tenant, names::all_aside()?, now).await? {
            let aside = SetAside::read(&hit.item.value)?;
            if aside.head()?.kind != kind {
                continue;
            }
            let unnamed = |why| LearningError::Name { what: "thread", why };
            let thread = ThreadKey::new(tenant.clone(), &aside.thread).map_err(unnamed)?;
            let learned = match self.prepared(&thread, &aside.lesson) {
                Ok(lesson) => self.count_apart(&lesson, now).await,
                Err(why) => Err(why),
            };
            match learned {
                Ok(learned) => drained.count(&learned),
                Err(why) if why.is_of_the_evidence() => drained.refuse(&thread, why),
                Err(why) => return Err(why),
            }
            self.write(vec![Write::Remove(hit.item.key, Expect::Any)], now).await?;
        }
        // Another build may have set more aside meanwhile, which the next call learns.
        let unchanged = Expect::Version(waiting.item.version);
        match self.write(vec![Write::Remove(waiting.item.key, unchanged)], now).await {
            Err(LearningError::Store(StoreError::Conflict { .. })) => Ok(()),
            done => done,
        }
    }

    /// Forgets a part of what is set aside in a tenant, of one user or of all.
    pub(super) async fn forget_aside(
        &self,
        tenant: &Tenant,
        user: Option<&str>,
        what: &Forget,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        let labels = match user {
            Some(user) => names::user(Side::Aside, user, None)?,
            None => names::all_aside()?,
        };
        let mut forgotten = ForgottenEvidence::default();
        for hit in self.list(tenant, labels, now).await? {
            let head = SetAside::read(&hit.item.value)?.head()?;
            if matches!(what, Forget::Record { .. }) || !what.covers(&head) {
                continue;
            }
            let StoredHead { kind, evidence: EvidenceHead { id, user, source }, .. } = head;
            let id =
                names::item(tenant, &names::user(Side::Ids, &user, Some(&kind))?, "evidence", &id)?;
            let writes =
                vec![Write::Remove(hit.item.key, Expect::Any), Write::Put(id, tombstone())];
            self.write(writes, now).await?;
            forgotten.evidence += 1;
            forgotten.threads.insert(source.thread);
        }
        Ok(forgotten)
    }

    async fn write(&self, writes: Vec<Write>, now: Timestamp) -> Result<(), LearningError> {
        self.store().batch(Batch { writes, ..Batch::default() }, now).await?;
        Ok(())
    }
}
