//! Accepting a run.

use std::time::Duration;

use hanok_checkpoint::{Expect, RunEnd, Ttl};
use hanok_core::{RunId, ThreadKey};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    book::{ATTEMPTS, Held, HeldRun, Rows, decoded, encoded, put},
    keys,
    request::Request,
    run::{Ended, RunRow, Stop},
    thread::{ThreadRow, ThreadStatus},
};
use crate::error::ServeError;

/// The most runs of a thread that wait.
const PER_THREAD: usize = 100;

/// The most runs of a tenant that are not over.
const PER_TENANT: usize = 10_000;

/// How often it is tried again when the store fails.
const RETRIES: usize = 3;

/// How long an idempotency key is known.
const ONCE: Ttl = Ttl::After(Duration::from_hours(24));

/// What becomes of a run whose thread has one already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Multitask {
    /// It waits its turn.
    #[default]
    Enqueue,
    /// It is refused.
    Reject,
    /// It begins when the others are stopped.
    Interrupt,
    /// It begins when the others are stopped, where the thread was before the one that is under way.
    Rollback,
}

/// A run that is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) thread: ThreadKey,
    pub(crate) run: RunId,
    pub(crate) request: Request,
    pub(crate) multitask: Multitask,
    /// The idempotency key of the request, and the digest of its body.
    pub(crate) once: Option<(String, Uuid)>,
}

/// A run that was accepted, and the run that has to be stopped for it.
#[derive(Debug, Clone)]
pub(crate) struct Accepted {
    pub(crate) row: RunRow,
    /// True if it had been accepted before, under the same idempotency key.
    pub(crate) again: bool,
    pub(crate) stops: Option<RunId>,
}

/// What a request with an idempotency key has begun.
#[derive(Serialize, Deserialize)]
struct Once {
    thread: ThreadKey,
    run: RunId,
    digest: String,
}

impl Rows {
    /// Accepts a run: it is in its queue when this returns, and ends.
    pub(crate) async fn accept(&self, order: Order) -> Result<Accepted, ServeError> {
        let tenant = order.thread.tenant();
        let load = self.loads().get(tenant).copied().unwrap_or_default();
        if load >= PER_TENANT {
            return Err(ServeError::TenantFull(PER_TENANT));
        }
        let mut failures = 0;
        for _ in 0..ATTEMPTS {
            match self.try_accept(&order).await {
                Ok(Some(accepted)) => {
                    if !accepted.again {
                        *self.loads().entry(tenant.clone()).or_default() += 1;
                    }
                    return Ok(accepted);
                }
                Ok(None) => {}
                // What failed may have been made: it is looked for.
                Err(error) if error.is_passing() && failures < RETRIES => failures += 1,
                Err(error) => return Err(error),
            }
            self.again().await;
        }
        Err(ServeError::Contended(order.thread))
    }

    async fn try_accept(&self, order: &Order) -> Result<Option<Accepted>, ServeError> {
        let thread = &order.thread;
        let once = match &order.once {
            Some((key, digest)) => {
                let principal = order.request.principal.as_ref();
                let name = principal.map(|principal| &*principal.name).unwrap_or_default();
                Some((keys::once(thread.tenant(), name, key)?, digest.to_string()))
            }
            None => None,
        };
        let mut others = vec![keys::run(thread, order.run)?];
        others.extend(once.iter().map(|(key, _)| key.clone()));
        let (mut held, others) = self.held(thread, others).await?;
        let mut others = others.into_iter();
        if let Some(item) = others.next().flatten() {
            let row = self.opened(&item)?.row;
            return Ok(Some(Accepted { row, again: false, stops: None }));
        }
        if let (Some((_, digest)), Some(item)) = (&once, others.next().flatten()) {
            let before: Once = decoded(&item.value)?;
            if before.digest != *digest {
                return Err(ServeError::OtherRequest);
            }
            let run = self.run(&before.thread, before.run).await?;
            let run = run.ok_or(ServeError::NoSuchRun(before.run))?;
            return Ok(Some(Accepted { row: run.row, again: true, stops: None }));
        }
        let row = RunRow::new(order.run, thread.clone(), order.request.clone(), self.now());
        let (mut writes, mut stops) = (Vec::new(), None);
        match order.multitask {
            Multitask::Enqueue => {}
            Multitask::Reject if held.queue.queue.is_empty() => {}
            Multitask::Reject => return Err(ServeError::Busy(thread.clone())),
            Multitask::Interrupt | Multitask::Rollback => {
                let Some((stopped, running)) = self.stopped(&mut held).await? else {
                    return Ok(None);
                };
                for run in &stopped {
                    writes.push(self.put_run(run)?);
                }
                if let Some(mut run) = running {
                    let rolls_back = order.multitask == Multitask::Rollback;
                    run.row.stop = Some(if rolls_back { Stop::Rollback } else { Stop::Interrupt });
                    stops = Some(run.row.run);
                    writes.push(self.put_run(&run)?);
                }
            }
        }
        if held.queue.queue.pending.len() >= PER_THREAD {
            return Err(ServeError::ThreadFull { thread: thread.clone(), most: PER_THREAD });
        }
        held.queue.queue.pending.push(order.run);
        let status = held.status(ThreadStatus::Idle);
        let mut thread = self.thread_row(&held, thread);
        let graph = &order.request.graph;
        thread.metadata.insert("graph_id".to_owned(), graph.clone().into());
        let assistant = keys::public_id(graph).to_string();
        thread.metadata.insert("assistant_id".to_owned(), assistant.into());
        (thread.status, thread.updated) = (status, self.now());
        writes.push(self.put_row(&row, Expect::Absent)?);
        writes.extend(self.put_held(&held, thread)?);
        if let Some((key, digest)) = once {
            let once = Once { thread: order.thread.clone(), run: order.run, digest };
            writes.push(put(key, encoded(&once)?, Expect::Absent, ONCE));
        }
        let written = self.write_for_good(writes).await?;
        Ok(written.map(|_| Accepted { row, again: false, stops }))
    }

    /// Takes all runs that wait out of the queue, as ended, and gives the one that is under way. `None` if the rows have changed
    /// since.
    async fn stopped(
        &self,
        held: &mut Held,
    ) -> Result<Option<(Vec<HeldRun>, Option<HeldRun>)>, ServeError> {
        let queue = &mut held.queue.queue;
        let mut stopped = Vec::new();
        for run in std::mem::take(&mut queue.pending) {
            let Some(mut run) = self.run(&queue.thread, run).await? else { return Ok(None) };
            self.end(&mut run.row, Ended::of(RunEnd::Cancelled));
            stopped.push(run);
        }
        let running = match queue.running {
            Some(run) => self.run(&queue.thread, run).await?,
            None => None,
        };
        Ok(Some((stopped, running)))
    }

    pub(super) fn thread_row(&self, held: &Held, thread: &ThreadKey) -> ThreadRow {
        let row = held.thread.as_ref().map(|(row, _)| row.clone());
        row.unwrap_or_else(|| ThreadRow::new(thread.thread(), self.now()))
    }

    pub(super) fn end(&self, row: &mut RunRow, ended: Ended) {
        (row.status, row.end, row.updated) = (ended.status(), Some(ended), self.now());
    }
}
