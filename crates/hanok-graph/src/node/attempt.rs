//! Attempts: the facts and records of one attempt of one task, behind its node's context.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hanok_checkpoint::{Intent, Outbox, Question};
use hanok_core::{
    CallDescription, CallInfo, CallItem, CallKey, CallSink, Cancellation, Limit, Meter, Position,
    Spent, Stored, StoredState, TaskId, Timestamp, Token, TokenSink,
};

use crate::{
    ids::Digest,
    node::{
        activity::{Activity, Wait},
        command::ToParent,
        doubts::Within,
        question::UnfitAnswer,
        run_context::RunContext,
        task_ref::TaskRef,
    },
    observe::{
        event::{Event, EventKind},
        spoken::Spoken,
        tool_event::ToolEvent,
        trail::Mark,
    },
    outcome::{Breakpoint, Pending, Resolution},
    slots::HeldSlots,
};

/// One attempt of one task.
pub(crate) struct TaskAttempt {
    pub(crate) env: Arc<RunContext>,
    pub(crate) task: Arc<TaskRef>,
    /// The task that called the graph of this one.
    pub(crate) within: Option<Arc<Within>>,
    pub(crate) remaining: u32,
    /// True if the super-step has no other task, and merges the task's update into the very state that it reads.
    pub(crate) alone: bool,
    /// The number of the attempt, counted from 1.
    pub(crate) attempt: u32,
    /// True if the error handler runs and not the node. Its steps, calls and questions are its own.
    pub(crate) handling: bool,
    /// True for a task that the limits of the turn do not end.
    pub(crate) past_limits: bool,
    pub(crate) at: Timestamp,
    /// A position at which the state is the one that the task reads.
    pub(crate) from: Position,
    /// The end of the attempt's time, if it does not wait for the store.
    pub(crate) deadline: Option<Timestamp>,
    /// The time for which the task had waited for the store when the attempt began.
    pub(crate) waited: Duration,
    /// Stops what the attempt has begun; cancelled when it is over.
    pub(crate) stop: LazyStop,
    pub(crate) activity: Activity,
    /// Whether a model wrote while somebody watched messages.
    pub(crate) spoken: Spoken,
    /// The slots that the task holds.
    pub(crate) held: HeldSlots,
    /// The spending of the task that no entry has recorded yet.
    pub(crate) meter: OnceLock<Meter>,
    pub(crate) stored_steps: OnceLock<Arc<StoredSteps>>,
    pub(crate) log: OnceLock<Box<Mutex<AttemptLog>>>,
}

/// The request to stop the work of an attempt, made on first use.
#[derive(Debug, Default)]
pub(crate) struct LazyStop {
    made: OnceLock<Cancellation>,
    ended: AtomicBool,
}

impl LazyStop {
    fn of(&self, run: &Cancellation) -> &Cancellation {
        let made = self.made.get_or_init(|| run.child());
        // Asked after it is made: whoever ends the attempt meanwhile sees it, or is seen here.
        if self.ended.load(Ordering::SeqCst) {
            made.cancel();
        }
        made
    }

    /// Ends the attempt, and stops its work.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        if let Some(made) = self.made.get() {
            made.cancel();
        }
    }
}

/// The records of a task: those in the log, and those added since. All attempts share them.
#[derive(Default)]
pub(crate) struct StoredSteps {
    pub(crate) memos: Mutex<BTreeMap<String, Stored>>,
    /// The notes of calls that are under way, by key.
    pub(crate) notes: Mutex<BTreeMap<String, Stored>>,
    /// Intents of calls without a result, by key.
    pub(crate) intents: Mutex<BTreeMap<String, Intent>>,
    /// The resolutions of such calls, by the doubt's id.
    pub(crate) settled: BTreeMap<String, Stored>,
    pub(crate) questions: Vec<Question>,
    pub(crate) answers: BTreeMap<String, Stored>,
    /// The stored forms of the state before the deploys since the task began.
    pub(crate) earlier: Vec<StoredState>,
    /// In a test of a node: the answers, each behind the payload of its question.
    pub(crate) scripted: Option<Vec<(Stored, Stored)>>,
}

/// The records of an attempt so far.
#[derive(Default)]
pub(crate) struct AttemptLog {
    pub(crate) steps: BTreeSet<String>,
    pub(crate) calls: BTreeMap<String, u32>,
    /// The number of questions with each payload.
    pub(crate) questions: BTreeMap<(Stored, Option<Arc<str>>), u32>,
    pub(crate) subgraphs: BTreeMap<String, u32>,
    /// The names under which graphs were run.
    pub(crate) named: BTreeSet<Arc<str>>,
    /// The number of graphs that each call has run, by the call's key.
    pub(crate) within_calls: BTreeMap<CallKey, u32>,
    /// Questions without an answer, which suspend the task, whatever its node returns.
    pub(crate) questions_asked: Vec<Question>,
    /// Answers that do not fit. Their questions are asked again, and suspend the task too.
    pub(crate) unfit: Vec<UnfitAnswer>,
    /// The questions whose answers were used.
    pub(crate) used: BTreeSet<String>,
    /// Questions of subgraphs, which are in the log already.
    pub(crate) waiting: Vec<Pending>,
    /// The reason why a subgraph stopped before its end, and the task with it.
    pub(crate) stopped: Option<Stop>,
    /// The command of a subgraph.
    pub(crate) command: Option<ToParent>,
    /// Items for the outbox.
    pub(crate) outbox: Vec<Outbox>,
}

/// The reason why a task stops without a failure.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    Cancelled,
    Drained,
    Limit(Limit),
    Breakpoint(Breakpoint<()>),
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TaskAttempt {
    /// Another attempt of the same task.
    pub(crate) fn again(&self, attempt: u32, handling: bool) -> Self {
        Self {
            env: self.env.clone(),
            task: self.task.clone(),
            within: self.within.clone(),
            stop: LazyStop::default(),
            activity: self.activity.clone(),
            spoken: self.spoken.again(),
            held: self.held.clone(),
            meter: self.meter().clone().into(),
            stored_steps: self.stored_steps().clone().into(),
            log: OnceLock::new(),
            waited: self.activity.waited(),
            deadline: None,
            attempt,
            handling,
            ..*self
        }
    }

    /// The end of the attempt's time, later by the time for which it waited for the store.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        let waited = self.activity.waited().saturating_sub(self.waited);
        self.deadline.map(|deadline| deadline.plus(waited))
    }

    /// Begins a wait for the store, which is not the attempt's time. It ends when it is dropped.
    pub(crate) fn awaits_store(&self) -> Option<Wait<'_>> {
        self.activity.waits(&*self.env.runtime.clock)
    }

    /// The id of the task: the same in every retry and resume.
    pub(crate) fn id(&self) -> TaskId {
        self.task.id(self.env.journal.identity())
    }

    /// The request to stop that the attempt heeds.
    pub(crate) fn cancellation(&self) -> &Cancellation {
        self.stop.of(&self.env.limited)
    }

    /// The meter of the task's spending.
    pub(crate) fn meter(&self) -> &Meter {
        self.meter.get_or_init(|| self.env.total.child())
    }

    /// The limit that refused a call of the task.
    pub(crate) fn refused(&self) -> Option<Limit> {
        self.meter.get().and_then(Meter::refused)
    }

    /// The limit that the turn has reached, as far as the task can know.
    pub(crate) fn limit(&self) -> Option<Limit> {
        self.refused().or_else(|| self.env.total.exhausted())
    }

    /// The records of the task in the log.
    pub(crate) fn stored_steps(&self) -> &Arc<StoredSteps> {
        self.stored_steps.get_or_init(Arc::default)
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, AttemptLog> {
        locked(self.log.get_or_init(Box::default))
    }

    /// The records of the attempt, if there are any.
    pub(crate) fn log_so_far(&self) -> Option<MutexGuard<'_, AttemptLog>> {
        self.log.get().map(|seen| locked(seen))
    }

    /// A name of the node, or of its error handler. The two share none.
    pub(crate) fn named(&self, name: &str) -> String {
        if self.handling { format!("error/{name}") } else { name.to_owned() }
    }

    /// Takes the spending, for an entry that records it.
    pub(crate) fn spend(&self) -> Spent {
        self.meter.get().map_or_else(Spent::default, Meter::take)
    }

    /// Reports that the attempt begins.
    pub(crate) fn started(&self) {
        self.activity.touch();
        if self.env.sink.is_on() {
            self.emit(EventKind::TaskStarted { input: self.task.input.clone() });
        }
    }

    /// Reports a live event of the task.
    pub(crate) fn emit(&self, kind: EventKind) {
        self.activity.touch();
        self.report(self.attempt, None, || kind);
    }

    /// Reports a live event of the task of which readers have to know `mark`.
    pub(crate) fn emit_marked(&self, mark: Mark, kind: impl FnOnce() -> EventKind) {
        self.activity.touch();
        self.env.sink.emit_marked(mark, || self.event(self.attempt, None, kind()));
    }

    /// Reports a live event of a call of the task.
    pub(crate) fn emit_of(&self, call: Option<Arc<CallInfo>>, kind: impl FnOnce() -> EventKind) {
        self.activity.touch();
        self.env.sink.emit(|| Event { call, ..self.event(self.attempt, None, kind()) });
    }

    /// Reports an event of the attempt `attempt` of the task, recorded if it has a position.
    pub(crate) fn report(
        &self,
        attempt: u32,
        position: Option<Position>,
        kind: impl FnOnce() -> EventKind,
    ) {
        self.env.sink.emit(|| self.event(attempt, position, kind()));
    }

    fn event(&self, attempt: u32, position: Option<Position>, kind: EventKind) -> Event {
        let TaskRef { namespace, step, .. } = &*self.task;
        let task = self.task.of_event(self.env.journal.identity(), attempt);
        Event::new(namespace, *step, Some(task), position, kind)
    }

    /// The key of the next call with this content. In a copy a call that is made anew has another one than in the thread that it was
    /// copied from: to whoever receives it they are two calls.
    pub(crate) fn call_key(&self, kind: &str, name: &str, arguments: &str) -> CallKey {
        let content = Digest::new("call")
            .part(self.id().as_bytes())
            .part(self.named(kind).as_bytes())
            .part(name.as_bytes())
            .part(arguments.as_bytes())
            .hex();
        let mut log = self.log();
        let before = log.calls.entry(content.clone()).or_default();
        let number = std::mem::replace(before, *before + 1);
        drop(log);
        let key = format!("{content}-{number}");
        let journal = &self.env.journal;
        let is_new = journal.other_identity().is_some()
            && !self.is_recorded(&key)
            && !matches!(self.doubt(&key).0, Some(Resolution::Made(_) | Resolution::GiveUp));
        CallKey::new(match is_new {
            true => {
                let life = journal.own().life.to_bytes();
                let own = Digest::new("copied call").part(content.as_bytes()).part(&life).hex();
                format!("{own}-{number}")
            }
            false => key,
        })
    }

    /// Checks whether the log has a result, a note or an intent of the call `key`.
    pub(crate) fn is_recorded(&self, key: &str) -> bool {
        let steps = self.stored_steps();
        locked(&steps.memos).contains_key(key)
            || self.noted(key).is_some()
            || locked(&steps.intents).contains_key(key)
    }

    /// The resolution of the call `key`, and the id of the next intent to make it. The newest one counts: an earlier intent need
    /// not have been settled, since a call that is noted is announced again without that.
    pub(crate) fn doubt(&self, key: &str) -> (Option<Resolution>, String) {
        let steps = self.stored_steps();
        let numbered = steps.settled.iter().filter_map(|(id, value)| {
            let number: u32 = id.strip_prefix(key)?.strip_prefix('#')?.parse().ok()?;
            Some((number, value))
        });
        match numbered.max_by_key(|(number, _)| *number) {
            Some((last, value)) => {
                (Resolution::read(value), format!("{key}#{}", last.saturating_add(1)))
            }
            None => (None, format!("{key}#0")),
        }
    }
}

/// A task's id for a span, hashed only for an observer.
pub(crate) struct Shown<'a>(pub(crate) &'a TaskAttempt);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.id().fmt(f)
    }
}

/// Passes what a call tells to the observer of the run.
pub(crate) struct WatchedCall {
    pub(crate) scope: Arc<TaskAttempt>,
    pub(crate) description: Option<CallDescription>,
}

impl WatchedCall {
    fn info(&self) -> Option<Arc<CallInfo>> {
        self.description.as_ref().map(CallDescription::info)
    }
}

impl TokenSink for WatchedCall {
    fn token(&self, token: Token) {
        self.scope.spoken.note();
        self.scope.emit_of(self.info(), || EventKind::Token(token));
    }
}

impl CallSink for WatchedCall {
    fn item(&self, item: CallItem) {
        let kind = match item {
            CallItem::Custom(item) => EventKind::Custom(item),
            CallItem::Output(item) => EventKind::Tool(ToolEvent::Output { item }),
            // A kind of a newer version, which nobody here could name.
            _ => return,
        };
        self.scope.emit_of(self.info(), || kind);
    }
}
