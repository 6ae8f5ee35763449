//! What an observer of a run sees.

use std::{
    any::Any,
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use futures::Stream;
use hanok_core::{
    BoxFuture, Changes, Fields, Namespace, Position, Spent, Stored, StoredError, TaskId, Token,
};
use hanok_state::{State, StateUpdate};

use crate::{Outcome, Pending, RunError};

/// How many events may wait for a slow observer. Past it live ones are dropped, and a mark says how many.
const WAITING: usize = 4_096;

/// One thing that happened in a run.
#[derive(Debug, Clone)]
pub struct Event {
    /// Whose it is: the thread's own graph's (the root), or a subgraph's.
    pub path: Namespace,
    /// The super-step, counted from 0 in its turn.
    pub step: u32,
    /// The node, where it is one node's.
    pub node: Option<Arc<str>>,
    /// The task, where it is one task's.
    pub task: Option<TaskId>,
    /// The position in the log of what is recorded; nothing for a live event, which is never replayed.
    pub position: Option<Position>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EventKind {
    /// The state after the input, or after a super-step. Recorded.
    Values(AnyState),
    /// What a task wrote. Recorded.
    Updates(AnyUpdate),
    /// A person is asked. Recorded.
    Requests(Vec<Pending>),
    /// A task starts. Live.
    TaskStarted,
    /// A task failed. Live.
    TaskFailed(String),
    /// What a node sent with [`Context::custom`](crate::Context::custom). Live.
    Custom(Stored),
    /// A piece of what a model writes. Live.
    Token(Token),
    /// The run ended, having spent this. Live.
    Ended(Spent),
    /// So many live events were dropped because nobody read them. Live.
    Lagged(u64),
}

impl EventKind {
    fn is_live(&self) -> bool {
        !matches!(self, Self::Values(_) | Self::Updates(_) | Self::Requests(_))
    }
}

/// A state of any type.
#[derive(Clone)]
pub struct AnyState(Arc<dyn ErasedState>);

trait ErasedState: Any + Send + Sync {
    fn fields(&self) -> Result<Fields, StoredError>;
    fn any(&self) -> &(dyn Any + Send + Sync);
}

struct Shared<S>(Arc<S>);

impl<S: State> ErasedState for Shared<S> {
    fn fields(&self) -> Result<Fields, StoredError> {
        self.0.to_fields()
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        &*self.0
    }
}

impl AnyState {
    pub(crate) fn new<S: State>(state: &Arc<S>) -> Self {
        Self(Arc::new(Shared(state.clone())))
    }

    /// The state, if it is an `S`.
    pub fn downcast_ref<S: State>(&self) -> Option<&S> {
        self.0.any().downcast_ref()
    }

    /// The state as it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field's `Serialize` fails.
    pub fn to_fields(&self) -> Result<Fields, StoredError> {
        self.0.fields()
    }
}

impl fmt::Debug for AnyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_fields() {
            Ok(fields) => write!(f, "{fields}"),
            Err(error) => write!(f, "({error})"),
        }
    }
}

/// An update of any type.
#[derive(Clone)]
pub struct AnyUpdate(Arc<dyn ErasedUpdate>);

trait ErasedUpdate: Any + Send + Sync {
    fn changes(&self) -> Result<Changes, StoredError>;
    fn any(&self) -> &(dyn Any + Send + Sync);
}

struct Update<U>(U);

impl<U: StateUpdate> ErasedUpdate for Update<U> {
    fn changes(&self) -> Result<Changes, StoredError> {
        self.0.to_changes()
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        &self.0
    }
}

impl AnyUpdate {
    pub(crate) fn new<U: StateUpdate>(update: U) -> Self {
        Self(Arc::new(Update(update)))
    }

    /// The update, if it is a `U`.
    pub fn downcast_ref<U: StateUpdate>(&self) -> Option<&U> {
        self.0.any().downcast_ref()
    }

    /// The update as it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a value's `Serialize` fails.
    pub fn to_changes(&self) -> Result<Changes, StoredError> {
        self.0.changes()
    }
}

impl fmt::Debug for AnyUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyUpdate").finish_non_exhaustive()
    }
}

/// Where a run reports what happens. Without an observer it costs nothing.
#[derive(Clone, Default)]
pub(crate) struct Sink(Option<Arc<Mutex<Queue>>>);

#[derive(Default)]
struct Queue {
    events: VecDeque<Event>,
    dropped: u64,
    waker: Option<Waker>,
}

impl Sink {
    fn observed() -> Self {
        Self(Some(Arc::default()))
    }

    /// Whether somebody observes.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Reports an event, made only if somebody observes. Never blocks.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        let Some(queue) = &self.0 else { return };
        let event = event();
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        if event.kind.is_live() && queue.events.len() >= WAITING {
            queue.dropped += 1;
            return;
        }
        queue.events.push_back(event);
        if let Some(waker) = queue.waker.take() {
            waker.wake();
        }
    }

    fn take(&self, waker: &Waker) -> Option<Event> {
        let mut queue = self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.dropped > 0 && queue.events.len() < WAITING / 2 {
            let kind = EventKind::Lagged(std::mem::take(&mut queue.dropped));
            let path = Namespace::root();
            return Some(Event { path, step: 0, node: None, task: None, position: None, kind });
        }
        let event = queue.events.pop_front();
        if event.is_none() {
            queue.waker = Some(waker.clone());
        }
        event
    }
}

/// A run, observed: a stream of its events, then its outcome. The run goes on only while the stream is read; dropping it
/// drops the run, which leaves the thread resumable.
#[must_use]
pub struct Events<S> {
    sink: Sink,
    run: Option<BoxFuture<'static, Result<Outcome<S>, RunError>>>,
    outcome: Option<Result<Outcome<S>, RunError>>,
}

impl<S> Events<S> {
    pub(crate) fn new<F>(run: impl FnOnce(Sink) -> F) -> Self
    where
        F: Future<Output = Result<Outcome<S>, RunError>> + Send + 'static,
    {
        let sink = Sink::observed();
        let run: BoxFuture<'static, _> = Box::pin(run(sink.clone()));
        Self { sink, run: Some(run), outcome: None }
    }

    /// How the run ended; runs it to its end first, passing over what was not read.
    ///
    /// # Errors
    ///
    /// [`RunError`] when the run could not go on.
    pub async fn outcome(mut self) -> Result<Outcome<S>, RunError> {
        if let Some(run) = self.run.take() {
            return run.await;
        }
        // The run is taken exactly when its outcome is put here.
        self.outcome.take().unwrap_or(Ok(Outcome::Cancelled))
    }
}

impl<S: Unpin> Stream for Events<S> {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let this = &mut *self;
        if let Some(run) = &mut this.run
            && let Poll::Ready(outcome) = run.as_mut().poll(cx)
        {
            this.outcome = Some(outcome);
            this.run = None;
        }
        match this.sink.take(cx.waker()) {
            Some(event) => Poll::Ready(Some(event)),
            None if this.run.is_none() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

impl<S> fmt::Debug for Events<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("running", &self.run.is_some()).finish_non_exhaustive()
    }
}
