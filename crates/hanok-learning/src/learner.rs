//! Whoever learns what nodes taught.

use std::{future::poll_fn, task::Poll, time::Duration};

use hanok_checkpoint::{Consumer, Delivered, Delivery};
use hanok_core::{Cancellation, Clock, Stored, Tenant, ThreadKey, Timestamp};

use super::{
    count::{Forgotten, Prepared},
    error::LearningError,
    forget::{Forget, ForgottenEvidence},
    memories::{Learned, Memories},
    user::UserMemories,
};

/// The number of deliveries that are taken at once.
const DELIVERIES: usize = 100;

/// Folds the evidence that nodes [teach](crate::teach) into the records of [`Memories`], after the answer.
///
/// Several may run, in one process or in many: each piece of evidence counts once. What a learner had not done when it died is done
/// by the next.
///
/// ```
/// use hanok_checkpoint::{Consumer, InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
/// use hanok_core::Timestamp;
/// use hanok_learning::{Episode, Learner, Memories, Preference};
///
/// # futures::executor::block_on(async {
/// let threads = SharedCheckpointer::new(InMemoryCheckpointer::new());
/// let memories = Memories::new(SharedStore::new(InMemoryStore::new())).kind::<Preference>().kind::<Episode>();
/// let learner = Learner::new(Consumer::new(threads, "learner", "memory"), memories);
/// // Before the first thread runs: what is handed out from now on waits for it.
/// learner.register().await?;
/// // After a turn, or in a task that `Learner::run` is.
/// assert_eq!(learner.drain(Timestamp(0)).await?.new, 0);
/// # Ok::<(), hanok_learning::LearningError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Learner {
    consumer: Consumer,
    memories: Memories,
    at_once: usize,
}

/// What a [`Learner`] did with what waited for it.
#[derive(Debug, Default)]
pub struct Drained {
    /// The number of pieces of evidence that are new.
    pub new: usize,
    /// The number of those that counted before, or were forgotten: they were delivered again.
    pub again: usize,
    /// What cannot be learned, and was left behind.
    pub refused: Vec<RefusedEvidence>,
    /// What is of a kind that this build does not know ([`LearningError::UnknownKind`]). It is kept in the store of memories, can be
    /// forgotten there, and is learned by the first learner that knows the kind.
    pub set_aside: Vec<RefusedEvidence>,
}

impl Drained {
    pub(super) fn count(&mut self, learned: &[Learned]) {
        let new = learned.iter().filter(|learned| **learned == Learned::New).count();
        self.new += new;
        self.again += learned.len() - new;
    }

    pub(super) fn refuse(&mut self, thread: &ThreadKey, why: LearningError) {
        tracing::warn!(%thread, error = %why, "evidence refused");
        self.refused.push(RefusedEvidence { thread: thread.clone(), why });
    }

    fn set_aside(&mut self, thread: &ThreadKey, why: LearningError) {
        tracing::warn!(%thread, error = %why, "evidence set aside");
        self.set_aside.push(RefusedEvidence { thread: thread.clone(), why });
    }
}

/// Evidence that a [`Learner`] left behind or set aside.
#[derive(Debug)]
pub struct RefusedEvidence {
    /// The thread that taught it.
    pub thread: ThreadKey,
    /// The reason.
    pub why: LearningError,
}

impl Learner {
    /// A learner that takes the items of `consumer`, whose topic is the one that nodes teach under.
    pub fn new(consumer: Consumer, memories: Memories) -> Self {
        Self { consumer, memories, at_once: DELIVERIES }
    }

    /// Sets the most pieces of evidence that are taken and folded in one batch, at least one. Default: 100.
    ///
    /// ```
    /// # use hanok_checkpoint::{Consumer, InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
    /// # use hanok_learning::{Learner, Memories};
    /// # let threads = SharedCheckpointer::new(InMemoryCheckpointer::new());
    /// # let memories = Memories::new(SharedStore::new(InMemoryStore::new()));
    /// // Many writers of the same records come before each other less often with small batches.
    /// let learner = Learner::new(Consumer::new(threads, "learner", "memory"), memories).at_once(10);
    /// # drop(learner);
    /// ```
    #[must_use]
    pub fn at_once(self, at_once: usize) -> Self {
        Self { at_once: at_once.max(1), ..self }
    }

    /// Makes the learner known, so that what is taught from now on waits for it.
    ///
    /// # Errors
    ///
    /// [`LearningError::Outbox`] with what the store of threads says.
    pub async fn register(&self) -> Result<(), LearningError> {
        Ok(self.consumer.register().await?)
    }

    /// Learns everything that waits. Call it when the program starts, or let [`run`](Self::run) do it.
    ///
    /// Evidence that cannot count is left behind, and listed with the reason; so is evidence on which its kind panics. Evidence of a
    /// kind that is not known is set aside, until a learner knows the kind. A record of another shape, which another build wrote, is
    /// folded anew.
    ///
    /// # Errors
    ///
    /// Where a store fails: the evidence waits for the next call.
    ///
    /// # Cancel safety
    ///
    /// A dropped call loses nothing: the next one is given what this one had not noted as done, and counts it once.
    pub async fn drain(&self, now: Timestamp) -> Result<Drained, LearningError> {
        let mut drained = Drained::default();
        self.memories.learn_aside(&mut drained, now).await?;
        loop {
            let deliveries = self.consumer.next(self.at_once).await?;
            if deliveries.is_empty() {
                return Ok(drained);
            }
            self.learn(deliveries, &mut drained, now).await?;
        }
    }

    /// Drains at once and then again every `pause`, until `stop` is cancelled. A failure is logged, and tried again after the pause.
    ///
    /// ```
    /// # use std::{sync::Arc, time::Duration};
    /// # use hanok_checkpoint::{Consumer, InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
    /// # use hanok_core::Cancellation;
    /// # use hanok_graph::Runtime;
    /// # use hanok_learning::{Learner, Memories};
    /// # futures::executor::block_on(async {
    /// # let threads = SharedCheckpointer::new(InMemoryCheckpointer::new());
    /// # let memories = Memories::new(SharedStore::new(InMemoryStore::new()));
    /// # let learner = Learner::new(Consumer::new(threads, "learner", "memory"), memories);
    /// let (clock, stop) = (Runtime::default().clock, Cancellation::default());
    /// // In a program: `tokio::spawn(async move { learner.run(&*clock, pause, &stop).await })`.
    /// stop.cancel();
    /// learner.run(&*clock, Duration::from_secs(1), &stop).await;
    /// # });
    /// ```
    pub async fn run(&self, clock: &dyn Clock, pause: Duration, stop: &Cancellation) {
        while !stop.is_cancelled() {
            if let Err(error) = self.drain(clock.now()).await {
                tracing::warn!(%error, "long-term memory waits");
            }
            let (mut sleep, mut cancelled) = (clock.sleep(pause), Box::pin(stop.cancelled()));
            poll_fn(|task| {
                let over = cancelled.as_mut().poll(task).is_ready();
                match over || sleep.as_mut().poll(task).is_ready() {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            })
            .await;
        }
    }

    /// Does `work`, and learns beside it: first what waits, then every `pause`, and at last what the work has left.
    ///
    /// ```
    /// # use std::{sync::Arc, time::Duration};
    /// # use hanok_checkpoint::{Consumer, InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
    /// # use hanok_graph::Runtime;
    /// # use hanok_learning::{Learner, Memories};
    /// # futures::executor::block_on(async {
    /// # let threads = SharedCheckpointer::new(InMemoryCheckpointer::new());
    /// # let memories = Memories::new(SharedStore::new(InMemoryStore::new()));
    /// # let learner = Learner::new(Consumer::new(threads, "learner", "memory"), memories);
    /// # learner.register().await?;
    /// let clock = Runtime::default().clock;
    /// let answered = learner.beside(&*clock, Duration::from_millis(1), async { 42 }).await?;
    /// assert_eq!(answered, 42);
    /// # Ok::<(), hanok_learning::LearningError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// Where a store fails before the work or behind it, as those of [`drain`](Self::drain).
    pub async fn beside<T>(
        &self,
        clock: &dyn Clock,
        pause: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, LearningError> {
        self.drain(clock.now()).await?;
        let stop = Cancellation::default();
        let work = async {
            let done = work.await;
            stop.cancel();
            done
        };
        let (done, ()) = futures_util::future::join(work, self.run(clock, pause, &stop)).await;
        self.drain(clock.now()).await?;
        Ok(done)
    }

    /// Forgets a part of a user's memories, also of what waits in the outbox: all that waits is learned before.
    ///
    /// ```
    /// # use hanok_checkpoint::{Consumer, InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
    /// # use hanok_core::{Tenant, Timestamp};
    /// # use hanok_learning::{Episode, Forget, Learner, Memories};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let threads = SharedCheckpointer::new(InMemoryCheckpointer::new());
    /// let memories = Memories::new(SharedStore::new(InMemoryStore::new())).kind::<Episode>();
    /// let learner = Learner::new(Consumer::new(threads, "learner", "memory"), memories.clone());
    /// learner.register().await?;
    /// let kim = memories.of(Tenant::default(), "kim");
    /// let forgotten = learner.forget(&kim, &Forget::Everything, Timestamp(0)).await?;
    /// assert_eq!(forgotten.evidence, 0);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`drain`](Self::drain), and then nothing is forgotten; as [`UserMemories::forget`].
    pub async fn forget(
        &self,
        user: &UserMemories,
        what: &Forget,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        self.drain(now).await?;
        user.forget(what, now).await
    }

    /// Forgets what `thread` ever taught, of all users of its tenant, also what waits in the outbox: all that waits is learned
    /// before. Call it when the thread is deleted.
    ///
    /// # Errors
    ///
    /// As [`drain`](Self::drain), and then nothing is forgotten; as [`Memories::forget_thread`].
    pub async fn forget_thread(
        &self,
        thread: &ThreadKey,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        self.drain(now).await?;
        self.memories.forget_thread(thread, now).await
    }

    /// Forgets all that `server` ever taught, of all users of `tenant`, also what waits in the outbox: all that waits is learned before.
    ///
    /// # Errors
    ///
    /// As [`drain`](Self::drain), and then nothing is forgotten; as [`Memories::forget_server`].
    pub async fn forget_server(
        &self,
        tenant: &Tenant,
        server: &str,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, LearningError> {
        self.drain(now).await?;
        self.memories.forget_server(tenant, server, now).await
    }

    /// Learns deliveries in one batch, up to the first that has to wait; one by one where the batch cannot be made.
    async fn learn(
        &self,
        mut deliveries: Vec<Delivery>,
        drained: &mut Drained,
        now: Timestamp,
    ) -> Result<(), LearningError> {
        let (mut lessons, mut places, mut waits) = (Vec::new(), Vec::new(), None);
        let mut through = 0;
        for delivery in &mut deliveries {
            match self.prepared(delivery, drained, now).await {
                Ok(Some(lesson)) => {
                    lessons.push(lesson);
                    places.push(through);
                }
                Ok(None) => {}
                Err(why) if why.is_of_the_evidence() => drained.refuse(&delivery.thread, why),
                Err(why) => {
                    waits = Some(why);
                    break;
                }
            }
            through += 1;
        }
        match self.memories.count(&lessons, Forgotten::Stays, now).await {
            Ok(learned) => drained.count(&learned),
            // Something of one of them cannot be folded: each is learned by itself, and holds up no other.
            Err(LearningError::Record { .. } | LearningError::Panicked { .. }) => {
                for (lesson, place) in lessons.iter().zip(places) {
                    let Some(delivery) = deliveries.get(place) else { continue };
                    match self.memories.count_apart(lesson, now).await {
                        Ok(learned) => drained.count(&learned),
                        Err(why) if why.is_of_the_evidence() => {
                            drained.refuse(&delivery.thread, why)
                        }
                        Err(why) => return Err(why),
                    }
                    self.consumer.done(delivery).await?;
                }
            }
            Err(error) => return Err(error),
        }
        let last = through.checked_sub(1).and_then(|last| deliveries.get(last));
        if let Some(last) = last {
            // What stands before it is done with it.
            self.consumer.done(last).await?;
        }
        waits.map_or(Ok(()), Err)
    }

    /// The lesson of a delivery; `None` for one that is set aside.
    async fn prepared(
        &self,
        delivery: &mut Delivery,
        drained: &mut Drained,
        now: Timestamp,
    ) -> Result<Option<Prepared>, LearningError> {
        let taken = Ok(Delivered { id: String::new(), payload: Stored::nil() });
        let lesson = std::mem::replace(&mut delivery.item, taken)?.payload;
        let thread = &delivery.thread;
        match self.memories.prepared(thread, &lesson) {
            Err(why @ LearningError::UnknownKind { .. }) => {
                match self.memories.set_aside(thread, &lesson, now).await? {
                    true => drained.set_aside(thread, why),
                    false => drained.again += 1,
                }
                Ok(None)
            }
            prepared => prepared.map(Some),
        }
    }
}
