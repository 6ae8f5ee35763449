//! One thread of an app.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use hanok_checkpoint::{CheckpointError, Checkpointer, Log, LogEntry};
use hanok_core::{Budget, Cancellation, InvalidName, Namespace, Position, RequestId, ThreadKey};
use hanok_state::State;
use serde::Serialize;

use crate::{
    error::RunError,
    journal::durability::Durability,
    observe::{
        event::{Event, EventId, Mode, Modes},
        sink::{CatchUp, Events, Sink},
    },
    outcome::{Outcome, Resolution},
    run::rebase::migrated,
    slots::Slots,
    thread::{
        app::App,
        input::{Input, NewInput},
        options::RunOptions,
        queue::run_input,
        replay::{self, Replay, Shows},
    },
};

/// How long a reader who missed events waits before the log is read again, at first and at most.
const AGAIN_FIRST: Duration = Duration::from_millis(20);
const AGAIN_LONGEST: Duration = Duration::from_secs(5);

/// The longest key or value of a tag, in bytes.
const LONGEST_TAG: usize = 256;

/// The most tags of a run.
const MOST_TAGS: usize = 32;

/// One conversation, one graph through time: an append-only log. Clones are the same thread.
pub struct Thread<S: State, C = ()> {
    pub(crate) app: App<S, C>,
    key: ThreadKey,
    pub(crate) options: RunOptions,
    modes: Modes,
}

impl<S: State, C: Send + Sync + 'static> App<S, C> {
    /// The thread that `key` names. It need not exist yet.
    pub fn thread(&self, key: ThreadKey) -> Thread<S, C> {
        Thread::new(self.clone(), key)
    }
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    fn new(app: App<S, C>, key: ThreadKey) -> Self {
        Self { app, key, options: RunOptions::default(), modes: Modes::ALL }
    }

    /// Which thread it is.
    pub fn key(&self) -> &ThreadKey {
        &self.key
    }

    /// How many super-steps a turn may take, and a turn of each subgraph. Default: as each graph says.
    #[must_use]
    pub fn recursion_limit(self, limit: u32) -> Self {
        Self { options: RunOptions { limit: Some(limit), ..self.options }, ..self }
    }

    /// How much a turn may spend. Default: as the graph says.
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        Self { options: RunOptions { budget: Some(budget), ..self.options }, ..self }
    }

    /// How many tasks run at once in the runs that this handle begins. Default: as the graph says.
    #[must_use]
    pub fn max_concurrency(self, tasks: usize) -> Self {
        Self { options: RunOptions { slots: Some(Slots::new(tasks)), ..self.options }, ..self }
    }

    /// How many runs in a row may be lost since the last commit before the thread counts as poisoned. Default: 5.
    #[must_use]
    pub fn takeover_limit(self, takeovers: u32) -> Self {
        Self { options: RunOptions { takeovers, ..self.options }, ..self }
    }

    /// What becomes of a new input while the thread runs or waits. Default: [`NewInput::Reject`].
    #[must_use]
    pub fn new_input(self, new_input: NewInput) -> Self {
        Self { options: RunOptions { new_input, ..self.options }, ..self }
    }

    /// Lets this handle drop what is known of calls that may or may not have been made: by an edit in a node's place, an
    /// erasure, a rewind, a fork, or an input that [replaces](NewInput::Replace) the turn. Default: they are refused while
    /// such a doubt is open, for what is dropped is not asked again, and the call may be made twice.
    #[must_use]
    pub fn discarding_doubts(self) -> Self {
        Self { options: RunOptions { discards: true, ..self.options }, ..self }
    }

    /// When what a run of this handle did is safe. Default: as the app says.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        let durability = Some(durability);
        Self { options: RunOptions { durability, ..self.options }, ..self }
    }

    /// Lets runs be stopped: what was committed stays, and the thread can go on. Default: they cannot be.
    #[must_use]
    pub fn cancellation(self, cancellation: Cancellation) -> Self {
        Self { options: RunOptions { cancellation, ..self.options }, ..self }
    }

    /// Lets runs be stopped after the super-step that is under way: [`Outcome::Drained`]. Default: they cannot be.
    #[must_use]
    pub fn drain(self, drain: Cancellation) -> Self {
        Self { options: RunOptions { drains: vec![drain], ..self.options }, ..self }
    }

    /// Names the runs that this handle begins, for whoever looks for them later in the
    /// [history](hanok_checkpoint::Select::tag). Any texts will do, and are stored as they are.
    ///
    /// # Errors
    ///
    /// [`InvalidName::TooLong`] for a key or a value of more than 256 bytes, [`InvalidName::TooMany`] for more than 32 tags.
    pub fn tag(
        mut self,
        key: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<Self, InvalidName> {
        let (what, key, value) = ("tag", key.into(), value.into());
        let bytes = key.len().max(value.len());
        if bytes > LONGEST_TAG {
            return Err(InvalidName::TooLong { what, bytes });
        }
        self.options.tags.insert(key, value);
        match self.options.tags.len() {
            count if count > MOST_TAGS => Err(InvalidName::TooMany { what: "tags", count }),
            _ => Ok(self),
        }
    }

    /// Which events a stream of this handle shows. Default: all.
    #[must_use]
    pub fn modes(self, modes: impl IntoIterator<Item = Mode>) -> Self {
        Self { modes: Modes::of(modes), ..self }
    }

    /// Begins a turn with `update` and runs it to its end.
    ///
    /// If an earlier run of the thread was lost or drained, its turn is finished first; a run that is cancelled or drained
    /// while it does so ends so, and has not taken `update`.
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

    /// Goes on with what is due, after a crash, an error, a limit, a breakpoint or a cancellation. Of a thread that is
    /// done, its state.
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
    /// As [`Thread::invoke`]. An answer that cannot be given changes nothing: [`RunError::NoSuchRequest`],
    /// [`RunError::AlreadyAnswered`], [`RunError::Stale`], [`RunError::Expired`], [`RunError::WrongAnswer`].
    pub async fn answer(
        &self,
        id: RequestId,
        answer: &(impl Serialize + ?Sized),
        services: C,
    ) -> Result<Outcome<S>, RunError> {
        self.run(Input::answer(id, answer)?, services).await
    }

    /// Answers the one request that is open and goes on.
    ///
    /// # Errors
    ///
    /// As [`Thread::answer`]; [`RunError::NothingAsked`], and [`RunError::Ambiguous`] when several are open.
    pub async fn reply(
        &self,
        answer: &(impl Serialize + ?Sized),
        services: C,
    ) -> Result<Outcome<S>, RunError> {
        self.run(Input::reply(answer)?, services).await
    }

    /// Says of the call that the request `id` is about whether it was made, and goes on.
    ///
    /// # Errors
    ///
    /// As [`Thread::answer`].
    pub async fn settle(
        &self,
        id: RequestId,
        resolution: Resolution,
        services: C,
    ) -> Result<Outcome<S>, RunError> {
        let value = resolution.to_stored().map_err(|error| RunError::State(error.into()))?;
        self.run(Input::Answers(vec![(id, value)]), services).await
    }

    /// Does what `input` says.
    ///
    /// # Errors
    ///
    /// As [`Thread::invoke`] and [`Thread::answer`].
    pub async fn run(&self, input: Input<S>, services: C) -> Result<Outcome<S>, RunError> {
        let options = self.options.clone();
        run_input(self.app.clone(), self.key.clone(), input, Arc::new(services), options).await
    }

    /// Does what `input` says, observed. The run is started at once and goes on by itself.
    pub fn stream(&self, input: Input<S>, services: C) -> Events<S> {
        let (app, key, services) = (self.app.clone(), self.key.clone(), Arc::new(services));
        let spawner = &*self.app.runtime().spawner;
        Events::new(spawner, self.modes, Some(self.catch_up()), |sink: Sink| {
            let options = RunOptions { sink, ..self.options.clone() };
            run_input(app, key, input, services, options)
        })
    }

    /// The recorded events after `after` (`None`: from the thread's beginning) up to now, of the branch that the thread is
    /// on, of this handle's [modes](Thread::modes). The state after every super-step ([`Mode::Values`]) is as large as all that
    /// led to it, so ask for it only from an event on, or by [`replay`](Thread::replay). A reader who was cut off goes on
    /// from the id of the last event that it saw, without gap or duplicate, in any
    /// process. What a graph's state was is told as it is stored: [`AnyState::get`](crate::AnyState::get).
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read, is of another life of the thread, was cut off after `after`, or
    /// ends before it: an older copy of the store was put in its place. [`RunError::NoSuchThread`] when it is gone.
    pub async fn events(&self, after: Option<EventId>) -> Result<Vec<Event>, RunError> {
        let shows = Shows::of(&self.app.graph().0)?;
        replay::events(self.log(), after, None, shows, self.modes).await
    }

    /// As [`events`](Thread::events), page by page, for a thread that is long: what is told of one page is let go before the
    /// next is read. `None` for a thread that has no log.
    ///
    /// # Errors
    ///
    /// As [`events`](Thread::events).
    pub async fn replay(&self, after: Option<EventId>) -> Result<Option<Replay>, RunError> {
        let shows = Shows::of(&self.app.graph().0)?;
        Replay::of(self.log(), after, None, shows, self.modes).await
    }

    /// Reads what a slow reader missed.
    fn catch_up(&self) -> CatchUp {
        let (log, graph, modes) = (self.log(), self.app.graph().0.clone(), self.modes);
        Arc::new(move |after, to| {
            let (log, graph) = (log.clone(), graph.clone());
            Box::pin(async move {
                let shows = Shows::of(&graph)?;
                let mut wait = AGAIN_FIRST;
                loop {
                    let read = replay::events(log.clone(), after, Some(to), shows.clone(), modes);
                    match read.await {
                        // A store that does not answer may do so again.
                        Err(RunError::Checkpoint(CheckpointError::Unavailable { .. }))
                            if wait <= AGAIN_LONGEST =>
                        {
                            graph.runtime.clock.sleep(wait).await;
                            wait *= 2;
                        }
                        read => return read,
                    }
                }
            })
        })
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
        let initial = &*self.app.graph().0.initial;
        let read = migrated(initial, &Namespace::root(), run, &mut BTreeMap::new())?;
        Ok(Some(S::clone(&read.progress.state)))
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

    /// Removes the thread and all that belongs to it; says whether it was there.
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the store fails.
    pub async fn delete(&self) -> Result<bool, CheckpointError> {
        // What this process remembers of it goes as well.
        drop(self.app.recents().take(&self.key));
        self.app.store().delete(&self.key, None).await
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
            options: self.options.clone(),
            modes: self.modes,
        }
    }
}

impl<S: State, C> fmt::Debug for Thread<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("key", &self.key).finish_non_exhaustive()
    }
}
