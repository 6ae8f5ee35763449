//! What a node is given besides the state.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hanok_checkpoint::{Body, CheckpointError, Memo, Question};
use hanok_core::{
    Ask, AskError, BoxError, BoxFuture, Call, CallKey, Cancellation, Meter, Namespace, Request,
    RequestId, Stored, StoredError, TaskId, Timestamp, Token, TokenSink,
};
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::{
    Event, EventKind, Pending, Runtime,
    event::Sink,
    ids::Digest,
    journal::{Journal, Keep},
};

/// What a node is given besides the state: the run's services, and the ways to the engine. Clones are the same context.
pub struct Context<C = ()> {
    services: Arc<C>,
    scope: Arc<TaskScope>,
}

/// One task, as its node sees it.
pub(crate) struct TaskScope {
    pub(crate) journal: Arc<Journal>,
    pub(crate) namespace: Namespace,
    pub(crate) node: Arc<str>,
    pub(crate) task: TaskId,
    pub(crate) step: u32,
    pub(crate) remaining: u32,
    pub(crate) input: Option<Stored>,
    pub(crate) started: Timestamp,
    pub(crate) runtime: Runtime,
    pub(crate) cancellation: Cancellation,
    pub(crate) sink: Sink,
    /// What the task has spent and no entry has said yet.
    pub(crate) meter: Meter,
    /// What the run has spent.
    pub(crate) total: Meter,
    pub(crate) memos: BTreeMap<String, Stored>,
    pub(crate) answers: BTreeMap<String, Stored>,
    pub(crate) seen: Mutex<Seen>,
}

/// What a task has done so far.
#[derive(Default)]
pub(crate) struct Seen {
    steps: BTreeSet<String>,
    calls: BTreeMap<String, u32>,
    /// How often each payload was asked.
    questions: BTreeMap<Stored, u32>,
    subgraphs: u32,
    /// Questions that have no answer: the task is suspended, whatever its node returns.
    pub(crate) asked: Vec<Question>,
    /// Questions of subgraphs, which are in the log already.
    pub(crate) waiting: Vec<Pending>,
}

/// Why a memoised step has no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StepError {
    /// The work failed. Nothing was stored; it is done again when the task is.
    #[error(transparent)]
    Failed(BoxError),
    /// Two steps of one task have one name.
    #[error("two steps of one task are named `{0}`")]
    Twice(String),
    /// The result cannot be stored, or was stored in another shape.
    #[error("the result of step `{name}` cannot be stored or read")]
    Stored {
        /// The step.
        name: String,
        /// Why.
        #[source]
        source: StoredError,
    },
    /// The store failed.
    #[error("the result of a step could not be kept")]
    Checkpoint(#[from] CheckpointError),
}

impl<C> Context<C> {
    pub(crate) fn new(services: Arc<C>, scope: Arc<TaskScope>) -> Self {
        Self { services, scope }
    }

    pub(crate) fn scope(&self) -> &Arc<TaskScope> {
        &self.scope
    }

    /// What the run was given for its nodes: models, tools, the user.
    pub fn services(&self) -> &C {
        &self.services
    }

    /// The node's name.
    pub fn node(&self) -> &str {
        &self.scope.node
    }

    /// Whose node it is: the thread's own graph's (the root), or a subgraph's.
    pub fn namespace(&self) -> &Namespace {
        &self.scope.namespace
    }

    /// The task: the same in every retry and resume.
    pub fn task(&self) -> TaskId {
        self.scope.task
    }

    /// The super-step, counted from 0 in its turn.
    pub fn step_number(&self) -> u32 {
        self.scope.step
    }

    /// How many super-steps may follow this one.
    pub fn remaining_steps(&self) -> u32 {
        self.scope.remaining
    }

    /// When the super-step's tasks were started.
    pub fn now(&self) -> Timestamp {
        self.scope.started
    }

    /// Where time, ids, randomness and tasks come from.
    pub fn runtime(&self) -> &Runtime {
        &self.scope.runtime
    }

    /// The request to stop that this run heeds.
    pub fn cancellation(&self) -> &Cancellation {
        &self.scope.cancellation
    }

    /// What a `Send` gave this task, `None` for a task that an edge scheduled.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it has another shape.
    pub fn input<T: DeserializeOwned>(&self) -> Result<Option<T>, StoredError> {
        self.scope.input.as_ref().map(Stored::decode).transpose()
    }

    /// Sends `item` to whoever observes the run, at once. An item that cannot be stored is not sent.
    pub fn custom<T: Serialize + ?Sized>(&self, item: &T) {
        if self.scope.sink.is_on()
            && let Ok(item) = Stored::encode(item)
        {
            self.scope.emit(EventKind::Custom(item));
        }
    }

    /// A call of a model or a tool: `kind` and `name` say which, `arguments` with what. Its idempotency key is the same
    /// in every retry and resume of the task, and another for every other call.
    pub fn call(&self, kind: &str, name: &str, arguments: &str) -> Call {
        let scope = &self.scope;
        let content = Digest::new("call")
            .part(scope.task.as_bytes())
            .part(kind.as_bytes())
            .part(name.as_bytes())
            .part(arguments.as_bytes())
            .hex();
        let mut seen = scope.seen();
        let before = seen.calls.entry(content.clone()).or_default();
        let key = CallKey::new(format!("{content}-{before}"));
        *before += 1;
        drop(seen);
        let call = Call::new(key, scope.runtime.clock.clone())
            .cancellation(scope.cancellation.clone())
            .meter(scope.meter.clone())
            .ask(Arc::new(Asker(scope.clone())));
        if scope.sink.is_on() { call.tokens(Arc::new(Tokens(scope.clone()))) } else { call }
    }

    /// Does `work` once: its result is stored, and a task that runs again after a crash is given it instead.
    ///
    /// # Errors
    ///
    /// [`StepError::Failed`] with the work's own error, which is not stored; [`StepError::Twice`] for a name that this
    /// task has used.
    pub async fn step<T, E, F>(&self, name: &str, work: impl FnOnce() -> F) -> Result<T, StepError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<BoxError>,
        F: Future<Output = Result<T, E>>,
    {
        let scope = &self.scope;
        if !scope.seen().steps.insert(name.to_owned()) {
            return Err(StepError::Twice(name.to_owned()));
        }
        let stored = |source| StepError::Stored { name: name.to_owned(), source };
        if let Some(memo) = scope.memos.get(name) {
            return memo.decode().map_err(stored);
        }
        let value = work().await.map_err(|error| StepError::Failed(error.into()))?;
        if scope.journal.is_kept() {
            let spent = scope.spend();
            let memo = Memo {
                task: scope.task,
                name: name.to_owned(),
                value: Stored::encode(&value).map_err(stored)?,
                spent,
            };
            let entry = (scope.namespace.clone(), Body::Memo(memo));
            scope.journal.append(vec![entry], Keep::Claim).await?;
        }
        Ok(value)
    }

    /// Asks a person: shows `payload`, ends the run, and returns the answer when the thread is resumed with one.
    ///
    /// The node runs again from its beginning then; what it did before is done again unless it is a
    /// [`step`](Context::step). A question belongs to its content: a node that asks something else asks anew.
    ///
    /// # Errors
    ///
    /// [`AskError::Waiting`] until there is an answer: hand it on with `?`. [`AskError::Nobody`] without a checkpointer.
    pub async fn interrupt<T: DeserializeOwned>(
        &self,
        payload: &(impl Serialize + ?Sized),
    ) -> Result<T, AskError> {
        let failed = |error: StoredError| AskError::Failed(error.into());
        let payload = Stored::encode(payload).map_err(failed)?;
        self.scope.ask(payload)?.decode().map_err(failed)
    }

    /// The number of the next subgraph that this task calls.
    pub(crate) fn next_subgraph(&self) -> u32 {
        let mut seen = self.scope.seen();
        seen.subgraphs += 1;
        seen.subgraphs - 1
    }
}

impl TaskScope {
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was spent, for an entry, and counts it for the run.
    pub(crate) fn spend(&self) -> hanok_core::Spent {
        let spent = self.meter.take();
        self.total.add(spent);
        spent
    }

    pub(crate) fn emit(&self, kind: EventKind) {
        self.sink.emit(|| Event {
            path: self.namespace.clone(),
            step: self.step,
            node: Some(self.node.clone()),
            task: Some(self.task),
            position: None,
            kind,
        });
    }

    /// The answer to the task's next question, if it is there; otherwise the question is asked.
    fn ask(&self, payload: Stored) -> Result<Stored, AskError> {
        if !self.journal.is_kept() {
            return Err(AskError::Nobody {
                reason: "an interrupt needs a checkpointer: the run has to end and go on later",
            });
        }
        let mut seen = self.seen();
        // Counted among equal ones: a question that another one comes before stays the same question.
        let before = seen.questions.entry(payload.clone()).or_default();
        let ordinal = *before;
        *before += 1;
        let id = Digest::new("question")
            .part(self.task.as_bytes())
            .part(&ordinal.to_le_bytes())
            .part(payload.as_bytes())
            .hex();
        if let Some(answer) = self.answers.get(&id) {
            return Ok(answer.clone());
        }
        seen.asked.push(Question {
            id: id.clone(),
            task: self.task,
            node: self.node.to_string(),
            payload,
        });
        Err(AskError::Waiting(RequestId(id.into())))
    }
}

/// Lets the calls of a task ask.
struct Asker(Arc<TaskScope>);

impl Ask for Asker {
    fn ask(&self, request: Request) -> BoxFuture<'_, Result<Stored, AskError>> {
        Box::pin(async move { self.0.ask(request.payload) })
    }
}

/// Passes what a model writes to the observer of the run.
struct Tokens(Arc<TaskScope>);

impl TokenSink for Tokens {
    fn token(&self, token: Token) {
        self.0.emit(EventKind::Token(token));
    }
}

impl<C> Clone for Context<C> {
    fn clone(&self) -> Self {
        Self { services: self.services.clone(), scope: self.scope.clone() }
    }
}

impl<C> fmt::Debug for Context<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("node", &self.scope.node)
            .field("task", &self.scope.task)
            .field("step", &self.scope.step)
            .finish_non_exhaustive()
    }
}
