//! One thread of an app.

use std::{fmt, sync::Arc};

use hanok_checkpoint::{AppendId, CheckpointError, Checkpointer, Log, LogEntry};
use hanok_core::{Cancellation, Namespace, Position, RequestId, Stored, ThreadKey};
use hanok_state::State;
use serde::Serialize;

use crate::{
    App, Events, Outcome, RunError,
    begin::{self, Options},
    drive::Progress,
    event::Sink,
};

/// What a run is to do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input<S: State> {
    /// Begins a turn with this update. A turn that a lost run left is finished first.
    New(S::Update),
    /// Goes on with what is due: after a crash, an error, a limit or a cancellation.
    Resume,
    /// Goes on with the answer to a request.
    Answer(RequestId, Stored),
}

impl<S: State> Input<S> {
    /// Goes on with `answer` to the request `id`.
    ///
    /// # Errors
    ///
    /// [`RunError::State`] when the answer cannot be stored.
    pub fn answer(id: RequestId, answer: &(impl Serialize + ?Sized)) -> Result<Self, RunError> {
        let answer = Stored::encode(answer).map_err(|error| RunError::State(error.into()))?;
        Ok(Self::Answer(id, answer))
    }
}

/// One conversation, one graph through time: an append-only log. Clones are the same thread.
pub struct Thread<S: State, C = ()> {
    app: App<S, C>,
    key: ThreadKey,
    limit: Option<u32>,
    cancellation: Cancellation,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    pub(crate) fn new(app: App<S, C>, key: ThreadKey) -> Self {
        Self { app, key, limit: None, cancellation: Cancellation::default() }
    }

    /// Which thread it is.
    pub fn key(&self) -> &ThreadKey {
        &self.key
    }

    /// How many super-steps a turn may take. Default: the graph's.
    #[must_use]
    pub fn recursion_limit(self, limit: u32) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Lets runs be stopped: what was committed stays, and the thread can go on. Default: they cannot be.
    #[must_use]
    pub fn cancellation(self, cancellation: Cancellation) -> Self {
        Self { cancellation, ..self }
    }

    /// Begins a turn with `update` and runs it to its end.
    ///
    /// If an earlier run of the thread was lost, its turn is finished first.
    ///
    /// # Errors
    ///
    /// [`RunError::Conflict`] while another run owns the thread: then nothing ran and nothing was stored. Any other
    /// [`RunError`] leaves what was committed, and the thread resumable.
    ///
    /// # Cancel safety
    ///
    /// A dropped run is a lost one: the next run of the thread finishes its turn.
    pub async fn invoke(&self, update: S::Update, services: C) -> Result<Outcome<S>, RunError> {
        self.run(Input::New(update), services).await
    }

    /// Goes on with what is due, after a crash, an error, a limit or a cancellation. Of a thread that is done, its state.
    ///
    /// # Errors
    ///
    /// As [`Thread::invoke`]; [`RunError::NoSuchThread`] for a thread that never ran.
    pub async fn resume(&self, services: C) -> Result<Outcome<S>, RunError> {
        self.run(Input::Resume, services).await
    }

    /// Answers a request and goes on.
    ///
    /// # Errors
    ///
    /// As [`Thread::invoke`]; [`RunError::NoSuchRequest`] for a request that is not open.
    pub async fn answer(
        &self,
        id: RequestId,
        answer: &(impl Serialize + ?Sized),
        services: C,
    ) -> Result<Outcome<S>, RunError> {
        self.run(Input::answer(id, answer)?, services).await
    }

    /// Does what `input` says.
    ///
    /// # Errors
    ///
    /// As [`Thread::invoke`].
    pub async fn run(&self, input: Input<S>, services: C) -> Result<Outcome<S>, RunError> {
        let options = self.options(Sink::default());
        begin::run(self.app.clone(), self.key.clone(), input, Arc::new(services), options).await
    }

    /// Does what `input` says, observed.
    pub fn stream(&self, input: Input<S>, services: C) -> Events<S> {
        let (app, key, services) = (self.app.clone(), self.key.clone(), Arc::new(services));
        Events::new(|sink| {
            let options = self.options(sink);
            begin::run(app, key, input, services, options)
        })
    }

    fn options(&self, sink: Sink) -> Options {
        Options { limit: self.limit, cancellation: self.cancellation.clone(), sink }
    }

    /// The state at `at` (`None`: now); `None` for a thread that has none.
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read; [`RunError::State`] when the state has another shape.
    pub async fn state(&self, at: Option<Position>) -> Result<Option<S>, RunError> {
        let opened = self.log().open(at).await.map_err(RunError::Checkpoint)?;
        let run = opened.and_then(|mut opened| opened.fold.runs.remove(&Namespace::root()));
        let Some(run) = run else { return Ok(None) };
        let progress = Progress::<S>::of(begin::upgraded::<S>(run)?.0)?;
        Ok(Some(S::clone(&progress.state)))
    }

    /// A page of the log's entries before `before` (`None`: its end), newest first, at most `limit`.
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the log cannot be read.
    pub async fn history(
        &self,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<LogEntry>, CheckpointError> {
        self.log().history(before, limit).await
    }

    /// Begins the thread `to` with the state of this one at `at` (`None`: now), and none of its history.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when `to` exists already.
    pub async fn fork(
        &self,
        at: Option<Position>,
        to: &ThreadKey,
    ) -> Result<Position, CheckpointError> {
        let runtime = self.app.runtime();
        self.log().fork(at, to, AppendId(runtime.ids.id()), runtime.clock.now()).await
    }

    /// Makes the thread go on from `to`; what came after stays in the log.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Fenced`] while a run owns the thread.
    pub async fn rewind(&self, to: Position) -> Result<Position, CheckpointError> {
        let runtime = self.app.runtime();
        self.log().rewind(to, AppendId(runtime.ids.id()), runtime.clock.now()).await
    }

    /// Removes the thread and all that belongs to it; says whether it was there.
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the store fails.
    pub async fn delete(&self) -> Result<bool, CheckpointError> {
        self.app.store().delete(&self.key).await
    }

    /// The thread's log.
    pub fn log(&self) -> Log {
        Log::new(self.app.store().clone(), self.key.clone())
    }
}

impl<S: State, C> Clone for Thread<S, C> {
    fn clone(&self) -> Self {
        Self {
            app: self.app.clone(),
            key: self.key.clone(),
            limit: self.limit,
            cancellation: self.cancellation.clone(),
        }
    }
}

impl<S: State, C> fmt::Debug for Thread<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("key", &self.key).finish_non_exhaustive()
    }
}
