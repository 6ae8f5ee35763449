//! What a node is given besides the state.

use std::{error::Error, fmt, sync::Arc};

use hanok_checkpoint::{Answer, Body, CheckpointError, Doubt, Intent, Memo, Outbox, Safety};
use hanok_core::{
    AskError, BoxError, Call, CallKey, Cancellation, Check, Namespace, Request, Stored,
    StoredError, TaskId, Timestamp,
};
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::{
    ids::Digest,
    node::{
        attempt::{TaskAttempt, Tokens, locked},
        question::Asker,
    },
    observe::event::EventKind,
    outcome::Resolution,
    runtime::Runtime,
};

/// What a node is given besides the state: the run's services, and the ways to the engine. Clones are the same context.
pub struct Context<C = ()> {
    services: Arc<C>,
    scope: Arc<TaskAttempt>,
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
    /// A call was given up: nobody knows whether it was made, and it is not made again.
    #[error(
        "the call of `{tool}` with the key {key} was given up: nobody knows whether it was made"
    )]
    GivenUp {
        /// The tool.
        tool: String,
        /// The call's idempotency key.
        key: String,
    },
    /// A call that must not be repeated is to be made where nothing is stored, in a subgraph of a thread that is.
    #[error("`{tool}` must not be called twice, and a subgraph that stores nothing could not tell")]
    NotKept {
        /// The tool.
        tool: String,
    },
    /// The store failed.
    #[error("the result of a step could not be kept")]
    Checkpoint(#[from] CheckpointError),
}

/// Says of an error that the call which gave it was certainly not made, so that it may be made again.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct NotMade(pub BoxError);

impl<C> Context<C> {
    pub(crate) fn new(services: Arc<C>, scope: Arc<TaskAttempt>) -> Self {
        Self { services, scope }
    }

    pub(crate) fn scope(&self) -> &Arc<TaskAttempt> {
        &self.scope
    }

    pub(crate) fn shared_services(&self) -> &Arc<C> {
        &self.services
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
        self.scope.task()
    }

    /// Which attempt of the task in this run it is, counted from 1.
    pub fn attempt(&self) -> u32 {
        self.scope.attempt
    }

    /// The super-step, counted from 0 in its turn.
    pub fn step_number(&self) -> u32 {
        self.scope.step
    }

    /// How many super-steps may follow this one.
    pub fn remaining_steps(&self) -> u32 {
        self.scope.remaining
    }

    /// When the task was scheduled, by the clock of the process that did: the same in every retry and every run of it, so
    /// that a question, a deadline or a call that names the time stays what it was. [`Context::runtime`] has the clock of
    /// this moment.
    pub fn now(&self) -> Timestamp {
        self.scope.at
    }

    /// Where time, ids, randomness and tasks come from.
    pub fn runtime(&self) -> &Runtime {
        &self.scope.env.runtime
    }

    /// The request to stop that this task heeds: of the run, or because its own time is over.
    pub fn cancellation(&self) -> &Cancellation {
        self.scope.cancellation()
    }

    /// Gives a sign of life, for a node with an idle time-out.
    pub fn heartbeat(&self) {
        self.scope.activity.touch();
    }

    /// What a `SendTo` gave this task, `None` for a task that an edge scheduled.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it has another shape.
    pub fn input<T: DeserializeOwned>(&self) -> Result<Option<T>, StoredError> {
        self.scope.input.as_ref().map(Stored::decode).transpose()
    }

    /// Sends `item` to whoever observes the run, at once. An item that cannot be stored is not sent.
    pub fn custom<T: Serialize + ?Sized>(&self, item: &T) {
        self.scope.activity.touch();
        if self.scope.env.sink.is_on()
            && let Ok(item) = Stored::encode(item)
        {
            self.scope.emit(EventKind::Custom(item));
        }
    }

    /// A call of a model or a tool: `kind` and `name` say which, `arguments` with what. Its idempotency key is the same
    /// in every retry and resume of the task, and another for every other call.
    pub fn call(&self, kind: &str, name: &str, arguments: &str) -> Call {
        let scope = &self.scope;
        scope.activity.touch();
        let content = Digest::new("call")
            .part(scope.task().as_bytes())
            .part(scope.named(kind).as_bytes())
            .part(name.as_bytes())
            .part(arguments.as_bytes())
            .hex();
        let mut seen = scope.log();
        let before = seen.calls.entry(content.clone()).or_default();
        let key = CallKey::new(format!("{content}-{before}"));
        *before += 1;
        drop(seen);
        let call = Call::new(key, scope.env.runtime.clock.clone())
            .tenant_of(scope.env.journal.thread().tenant().clone())
            .cancellation(scope.cancellation().clone())
            .meter(scope.meter().clone())
            .ask(Arc::new(Asker(scope.clone())));
        let call = match scope.deadline {
            Some(deadline) => call.deadline(deadline),
            None => call,
        };
        // A token is a sign of life, so a model is to stream as well where only an idle time-out looks.
        let heard = scope.env.sink.is_on() || scope.activity.is_watched();
        if heard { call.tokens(Arc::new(Tokens(scope.clone()))) } else { call }
    }

    /// Hands `payload` to whoever reads `topic`, if and when the super-step is committed: a [`Consumer`] of the store is
    /// given it at least once, with an id that stays the same.
    ///
    /// Without a checkpointer nobody is given anything. A call of the node that fails hands nothing over.
    ///
    /// [`Consumer`]: hanok_checkpoint::Consumer
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the payload cannot be stored.
    pub fn hand_out(
        &self,
        topic: &str,
        payload: &(impl Serialize + ?Sized),
    ) -> Result<(), StoredError> {
        let payload = Stored::encode(payload)?;
        let mut seen = self.scope.log();
        let number = seen.outbox.len().to_string();
        let id =
            Digest::new("item").part(self.scope.task().as_bytes()).part(number.as_bytes()).hex();
        seen.outbox.push(Outbox { id, topic: topic.to_owned(), payload });
        Ok(())
    }

    /// Makes everything safe that the run has stored so far, and waits for it: to be called before something that should
    /// not happen for a run that is lost. With [`Durability::Sync`](crate::Durability::Sync) it is safe already.
    ///
    /// # Errors
    ///
    /// [`StepError::Checkpoint`] when the store fails.
    pub async fn barrier(&self) -> Result<(), StepError> {
        Ok(self.scope.env.journal.barrier().await?)
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
        let key = self.scope.named(name);
        if !self.scope.log().steps.insert(key.clone()) {
            return Err(StepError::Twice(name.to_owned()));
        }
        if let Some(memo) = self.remembered(&key)? {
            return Ok(memo);
        }
        let value = work().await.map_err(|error| StepError::Failed(error.into()))?;
        self.remember(&key, &value).await?;
        Ok(value)
    }

    /// Makes a call that must not be repeated: `tool` with `arguments` (JSON text). That it is about to be made is stored
    /// first, so that it survives the death of the machine; then its result is. A task that meant to make it and left no
    /// result is not started again until a person has said whether it was made, or as `doubt` says:
    /// [`Outcome::InDoubt`](crate::Outcome::InDoubt).
    ///
    /// An error of `work` leaves that doubt too, unless it is a [`NotMade`] or says that a person is asked. A node that
    /// leaves one is not run again by its [`Retry`](crate::Retry), with or without a checkpointer, but where `doubt` is
    /// [`Doubt::Repeat`].
    ///
    /// # Errors
    ///
    /// [`StepError::Failed`] with the work's own error; [`StepError::GivenUp`] when the doubt was settled that way;
    /// [`StepError::NotKept`] in a subgraph that stores nothing, of a thread that is kept.
    pub async fn once<T, E, F>(
        &self,
        tool: &str,
        arguments: &str,
        doubt: Doubt,
        work: impl FnOnce(Call) -> F,
    ) -> Result<T, StepError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<BoxError>,
        F: Future<Output = Result<T, E>>,
    {
        self.once_as(self.call("once", tool, arguments), tool, arguments, doubt, work).await
    }

    /// As [`once`](Context::once), for a call whose key was made before with [`call`](Context::call).
    ///
    /// # Errors
    ///
    /// As [`once`](Context::once).
    pub async fn once_as<T, E, F>(
        &self,
        call: Call,
        tool: &str,
        arguments: &str,
        doubt: Doubt,
        work: impl FnOnce(Call) -> F,
    ) -> Result<T, StepError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<BoxError>,
        F: Future<Output = Result<T, E>>,
    {
        let scope = &self.scope;
        if scope.env.hollow {
            return Err(StepError::NotKept { tool: tool.to_owned() });
        }
        let key = call.key().to_string();
        if let Some(memo) = self.remembered(&key)? {
            return Ok(memo);
        }
        let (said, id) = scope.doubt(&key);
        let stored = |source| StepError::Stored { name: tool.to_owned(), source };
        match said {
            Some(Resolution::Made(value)) => return value.decode().map_err(stored),
            Some(Resolution::GiveUp) => {
                return Err(StepError::GivenUp { tool: tool.to_owned(), key });
            }
            Some(Resolution::NotMade) | None => {}
        }
        let intent = Intent {
            task: scope.task(),
            key: key.clone(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            id: id.clone(),
            node: scope.node.to_string(),
            doubt,
        };
        if scope.env.journal.is_kept() {
            let entry = (scope.namespace.clone(), Body::Intent(intent.clone()));
            scope.env.journal.append_safely(vec![entry], Safety::Machine).await?;
        }
        locked(&scope.stored_steps().intents).insert(key.clone(), intent);
        match work(call).await {
            Ok(value) => {
                self.remember(&key, &value).await?;
                locked(&scope.stored_steps().intents).remove(&key);
                Ok(value)
            }
            Err(error) => {
                let error = error.into();
                if was_not_made(&*error) {
                    self.withdraw(&key, id).await?;
                }
                Err(StepError::Failed(error))
            }
        }
    }

    /// Asks a person: shows `payload`, ends the run, and returns the answer when the thread is resumed with one.
    ///
    /// The node runs again from its beginning then; what it did before is done again unless it is a
    /// [`step`](Context::step). A question belongs to its content: a node that asks something else asks anew, and the answer
    /// to what it asked before is void ([`EventKind::AnswerVoided`]). An answer that is no `T` is not taken: the question
    /// stays open, and whoever answered is told [`RunError::WrongAnswer`](crate::RunError::WrongAnswer).
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
        let request = Request { check: Some(Check::of::<T>()), ..Request::new(payload) };
        self.scope.ask(request)?.decode().map_err(failed)
    }

    /// As [`interrupt`](Context::interrupt), with an answer that counts until `deadline`. A resume after it gives
    /// [`AskError::Expired`], so that the node can go on without one.
    ///
    /// # Errors
    ///
    /// As [`interrupt`](Context::interrupt), and [`AskError::Expired`].
    pub async fn interrupt_until<T: DeserializeOwned>(
        &self,
        payload: &(impl Serialize + ?Sized),
        deadline: Timestamp,
    ) -> Result<T, AskError> {
        let failed = |error: StoredError| AskError::Failed(error.into());
        let payload = Stored::encode(payload).map_err(failed)?;
        let (deadline, check) = (Some(deadline), Some(Check::of::<T>()));
        let request = Request { deadline, check, ..Request::new(payload) };
        self.scope.ask(request)?.decode().map_err(failed)
    }

    /// Asks a person for a `T`: an answer that does not fit its JSON Schema is refused when it is given, and the question
    /// stays open.
    ///
    /// # Errors
    ///
    /// As [`interrupt_until`](Context::interrupt_until).
    #[cfg(feature = "schema")]
    pub async fn ask<T: DeserializeOwned + schemars::JsonSchema>(
        &self,
        payload: &(impl Serialize + ?Sized),
        deadline: Option<Timestamp>,
    ) -> Result<T, AskError> {
        let failed = |error: StoredError| AskError::Failed(error.into());
        let payload = Stored::encode(payload).map_err(failed)?;
        let schema = Some(crate::schema::of::<T>().into());
        let check = Some(Check::of::<T>());
        self.scope.ask(Request { payload, schema, deadline, check })?.decode().map_err(failed)
    }

    /// The result of an earlier run of a step, or of an earlier attempt.
    fn remembered<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StepError> {
        let memo = locked(&self.scope.stored_steps().memos).get(key).cloned();
        let stored = |source| StepError::Stored { name: key.to_owned(), source };
        memo.map(|memo| memo.decode()).transpose().map_err(stored)
    }

    async fn remember<T: Serialize>(&self, key: &str, value: &T) -> Result<(), StepError> {
        let scope = &self.scope;
        scope.activity.touch();
        let stored = |source| StepError::Stored { name: key.to_owned(), source };
        let value = Stored::encode(value).map_err(stored)?;
        if scope.env.journal.is_kept() {
            let spent = scope.spend();
            scope.env.record_spent(spent);
            let memo =
                Memo { task: scope.task(), name: key.to_owned(), value: value.clone(), spent };
            scope.env.journal.append(&scope.namespace, Body::Memo(memo)).await?;
        }
        locked(&scope.stored_steps().memos).insert(key.to_owned(), value);
        Ok(())
    }

    /// Says that a call which was meant was not made.
    async fn withdraw(&self, key: &str, id: String) -> Result<(), StepError> {
        let scope = &self.scope;
        if scope.env.journal.is_kept() {
            let stored = |source| StepError::Stored { name: key.to_owned(), source };
            let value = Resolution::NotMade.to_stored().map_err(stored)?;
            let answer = Body::Answer(Answer { id, value });
            scope.env.journal.append(&scope.namespace, answer).await?;
        }
        locked(&scope.stored_steps().intents).remove(key);
        Ok(())
    }
}

/// Whether an error says that its call was certainly not made: in so many words, or because a person is asked first.
fn was_not_made(error: &(dyn Error + 'static)) -> bool {
    crate::error::causes(error).any(|error| {
        error.is::<NotMade>() || matches!(error.downcast_ref(), Some(AskError::Waiting(_)))
    })
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
            .field("task", &self.scope.task())
            .field("step", &self.scope.step)
            .field("attempt", &self.scope.attempt)
            .finish_non_exhaustive()
    }
}
