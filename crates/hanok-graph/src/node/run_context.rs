//! What a run and all its subgraphs share.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hanok_core::{Cancellation, Limit, Meter, Spent};

use crate::{
    error::RunError, journal::journal::Journal, node::readable::Readable, observe::sink::Sink,
    runtime::Runtime, slots::Slots,
};

/// What a run and all its subgraphs share.
pub(crate) struct RunContext {
    pub(crate) journal: Arc<Journal>,
    pub(crate) runtime: Runtime,
    pub(crate) cancellation: Cancellation,
    /// Any of them asks the run to end after the super-step under way.
    pub(crate) drains: Vec<Cancellation>,
    pub(crate) sink: Sink,
    /// What the turn has spent and may spend.
    pub(crate) total: Meter,
    /// Retries that are left.
    pub(crate) retries: AtomicU32,
    /// The slots of the run and of the process.
    pub(crate) slots: Vec<Slots>,
    /// How many super-steps a turn may take, if the thread says so.
    pub(crate) limit: Option<u32>,
    /// Whether nothing is kept here, though the thread is: within a subgraph that stores nothing.
    pub(crate) hollow: bool,
    /// What the turn had spent before this run.
    pub(crate) before: Spent,
    pub(crate) account: Mutex<Account>,
    pub(crate) readable: Readable,
    /// The first answer of the run that did not fit its question.
    pub(crate) wrong: Mutex<Option<RunError>>,
}

/// What entries have said of what was spent.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// What was spent in this run and said by entries, time included.
    recorded: Spent,
    /// Up to when the run's time was said, by the clock that only goes forward.
    since: Duration,
    /// The limit that stopped the run from outside a task.
    hit: Option<Limit>,
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

    /// Takes one of the retries that are left.
    pub(crate) fn take_retry(&self) -> bool {
        let take = |left: u32| left.checked_sub(1);
        self.retries.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
    }

    /// Notes that an entry says `spent`.
    pub(crate) fn record_spent(&self, spent: Spent) {
        let mut account = self.account();
        account.recorded = account.recorded.plus(spent);
    }

    /// The time since the last entry that said it, for an entry that says it.
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

    /// What the log says that the turn has spent.
    pub(crate) fn turn(&self) -> Spent {
        self.before.plus(self.account().recorded)
    }

    /// What was spent and no entry has said, for the last one.
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

    /// Stops the run because of a limit.
    pub(crate) fn stop(&self, limit: Limit) {
        self.account().hit = Some(limit);
        self.cancellation.cancel();
    }

    /// The limit that stopped the run.
    pub(crate) fn hit(&self) -> Option<Limit> {
        self.account().hit
    }

    /// Notes that an answer did not fit its question.
    pub(crate) fn refuse(&self, error: RunError) {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// What whoever answered is told, if an answer did not fit its question.
    pub(crate) fn refused(&self) -> Option<RunError> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
