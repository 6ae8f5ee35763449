//! The context that a run shares with all its subgraphs.

use std::{
    collections::BTreeMap,
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hanok_checkpoint::SharedStore;
use hanok_core::{Cancellation, Limit, Meter, RunId, Spent};

use crate::{
    error::RunError,
    journal::journal::Journal,
    node::{doubts::Doubts, readable::Readable},
    node_set::Breakpoints,
    observe::sink::Sink,
    outcome::Pending,
    runtime::Runtime,
    slots::Slots,
};

/// The context that a run shares with all its subgraphs.
pub(crate) struct RunContext {
    pub(crate) journal: Arc<Journal>,
    pub(crate) parts: Arc<RunParts>,
    /// The retries that remain.
    pub(crate) retries: AtomicU32,
    /// True within a subgraph that stores nothing, of a thread that is stored.
    pub(crate) unsaved: bool,
    pub(crate) account: Mutex<Account>,
    pub(crate) readable: Readable,
    /// The first answer of the run that did not fit its question.
    pub(crate) wrong: Mutex<Option<RunError>>,
}

/// The parts of a [`RunContext`] that a subgraph without a store shares, too.
pub(crate) struct RunParts {
    pub(crate) runtime: Runtime,
    pub(crate) cancellation: Cancellation,
    /// The request to stop of the tasks that the limits of the turn end: made with that of the run, and when its time is over.
    pub(crate) limited: Cancellation,
    /// The requests to end the run after the super-step under way.
    pub(crate) drains: Vec<Cancellation>,
    pub(crate) sink: Sink,
    /// The spending of the turn, and its budget.
    pub(crate) total: Meter,
    /// The slots of the run and of the process.
    pub(crate) slots: Vec<Slots>,
    /// The limit of the super-steps of a turn, if the thread has one.
    pub(crate) limit: Option<u32>,
    /// The spending of the turn before this run.
    pub(crate) before: Spent,
    /// The memory across threads, if the app has one.
    pub(crate) memory: Option<Arc<SharedStore>>,
    /// The run of the thread's own graph, and its tags.
    pub(crate) run: RunId,
    pub(crate) tags: BTreeMap<String, String>,
    /// The breakpoints of the run, beside those of its graph.
    pub(crate) breakpoints: Breakpoints,
    /// The calls of which nobody knows whether they were made.
    pub(crate) doubts: Doubts,
    /// The answered requests that are not asked any more.
    pub(crate) voided: Mutex<Vec<Pending>>,
}

impl Deref for RunContext {
    type Target = RunParts;

    fn deref(&self) -> &RunParts {
        &self.parts
    }
}

/// The spending that entries have recorded.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// The spending of this run that entries have recorded, time included.
    recorded: Spent,
    /// The time up to which the run's time was recorded, by the monotonic clock.
    since: Duration,
}

impl Account {
    pub(crate) fn from(since: Duration) -> Self {
        Self { since, ..Self::default() }
    }
}

impl RunContext {
    pub(crate) fn is_draining(&self) -> bool {
        self.drains.iter().any(Cancellation::is_cancelled)
    }

    /// Takes one of the remaining retries.
    pub(crate) fn take_retry(&self) -> bool {
        let take = |left: u32| left.checked_sub(1);
        self.retries.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
    }

    /// Notes that an entry records `spent`.
    pub(crate) fn record_spent(&self, spent: Spent) {
        let mut account = self.account();
        account.recorded = account.recorded.plus(spent);
    }

    /// The time since the last entry that recorded it, for the next one.
    pub(crate) fn worked(&self) -> Spent {
        let now = self.runtime.clock.monotonic();
        let mut account = self.account();
        let worked = now.saturating_sub(account.since);
        let millis = u64::try_from(worked.as_millis()).unwrap_or(u64::MAX);
        account.since = now;
        let time = Spent { millis, ..Spent::default() };
        account.recorded = account.recorded.plus(time);
        time
    }

    /// The recorded spending of the turn.
    pub(crate) fn turn(&self) -> Spent {
        self.before.plus(self.account().recorded)
    }

    /// The spending that no entry has recorded, for the last one.
    pub(crate) fn unreported(&self) -> Spent {
        let time = self.worked();
        let (spent, recorded) = (self.total.spent(), self.account().recorded);
        let rest = Spent {
            model_calls: spent.model_calls.saturating_sub(recorded.model_calls),
            tool_calls: spent.tool_calls.saturating_sub(recorded.tool_calls),
            input_tokens: spent.input_tokens.saturating_sub(recorded.input_tokens),
            output_tokens: spent.output_tokens.saturating_sub(recorded.output_tokens),
            cost: spent.cost.saturating_sub(recorded.cost),
            millis: 0,
        };
        self.record_spent(rest);
        rest.plus(time)
    }

    /// Ends what the limits of the turn end, because of `limit`.
    pub(crate) fn stop(&self, limit: Limit) {
        self.total.close(limit);
        self.limited.cancel();
    }

    /// Notes that an answer did not fit its question.
    pub(crate) fn refuse(&self, error: RunError) {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The error for an answer that did not fit its question.
    pub(crate) fn refused(&self) -> Option<RunError> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes that an answered request is not asked any more.
    pub(crate) fn void(&self, request: Pending) {
        self.voided.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    }

    /// The answered requests that are not asked any more.
    pub(crate) fn take_voided(&self) -> Vec<Pending> {
        std::mem::take(&mut self.voided.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
