//! Sinks: a run reports its events to one, and a stream reads them.

use std::{
    collections::{BTreeSet, VecDeque},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures_channel::oneshot;
use futures_util::Stream;
use hanok_checkpoint::Life;
use hanok_core::{BoxFuture, Chain, Namespace, Position, Spawned, Spawner};

use crate::{
    error::RunError,
    names::is_waiting,
    observe::event::{Event, EventId, EventKind, Modes},
    outcome::Outcome,
};

/// The most events that wait for a slow reader. Further ones are dropped, and a mark has their number; recorded ones are
/// read from the log instead.
const WAITING: usize = 4_096;

/// The sink of a run's events. Without an observer it costs nothing.
#[derive(Clone, Default)]
pub(crate) struct Sink(Option<Arc<Shared>>);

/// The observers of one run.
struct Shared {
    watched: Vec<Arc<Watched>>,
    /// The modes that any of them observes.
    modes: Modes,
    /// The ids of the messages that were told.
    messages: Mutex<BTreeSet<String>>,
}

/// One observer.
struct Watched {
    modes: Modes,
    queue: Mutex<Queue>,
    /// The function that is told each event at once; without one the events wait for a reader.
    tells: Option<Tell>,
}

/// A function that is told events.
pub(crate) type Tell = Arc<dyn Fn(&Event) + Send + Sync>;

#[derive(Default)]
struct Queue {
    events: VecDeque<Event>,
    sequence: u64,
    dropped: u64,
    /// The run's first recorded event, observed or not.
    first: Option<EventId>,
    /// The last recorded event that was dropped. None is queued until the reader has caught up.
    gap: Option<EventId>,
    waker: Option<Waker>,
    /// The current life of the thread.
    life: Life,
    /// True when the run is over.
    closed: bool,
    /// The position up to which the log is safe; `None` if all of it is.
    safe: Option<Position>,
    /// Recorded events that wait for the log to be safe.
    held: VecDeque<Event>,
}

impl Sink {
    /// A sink whose events wait for a reader.
    pub(crate) fn observed(modes: Modes) -> Self {
        Self::of(vec![Watched::new(modes, None)])
    }

    /// A sink that tells its events to a function, one after the other.
    pub(crate) fn telling(modes: Modes, tell: Tell) -> Self {
        Self::of(vec![Watched::new(modes, Some(tell))])
    }

    fn of(watched: Vec<Arc<Watched>>) -> Self {
        let modes = watched.iter().fold(Modes::of([]), |all, watched| all.and(watched.modes));
        let shared = Shared { watched, modes, messages: Mutex::default() };
        Self(Some(Arc::new(shared)))
    }

    /// A sink for the observers of both.
    pub(crate) fn and(self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (_, None) => self,
            (None, Some(_)) => other.clone(),
            (Some(one), Some(other)) => {
                Self::of(one.watched.iter().chain(&other.watched).cloned().collect())
            }
        }
    }

    fn watched(&self) -> &[Arc<Watched>] {
        self.0.as_ref().map_or(&[], |shared| shared.watched.as_slice())
    }

    /// True if there is an observer.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The observed modes; none without an observer.
    pub(crate) fn modes(&self) -> Modes {
        self.0.as_ref().map_or(Modes::of([]), |shared| shared.modes)
    }

    /// Notes that the message `id` is told, as a whole or by its tokens; true for the first time.
    pub(crate) fn tells(&self, id: &str) -> bool {
        let Some(shared) = &self.0 else { return false };
        let mut told = shared.messages.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(id.to_owned())
    }

    /// Reports an event, which is made only for an observer. Never blocks.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        let Some((last, others)) = self.watched().split_last() else { return };
        let mut event = event();
        // What waits for the end of the run is not recorded as what it was.
        event.id = event.id.filter(|id| !is_waiting(id.position));
        for watched in others {
            watched.take(event.clone());
        }
        last.take(event);
    }

    /// Sets the life of the run's thread.
    pub(crate) fn begin(&self, life: Life) {
        for watched in self.watched() {
            watched.queue().life = life;
        }
    }

    /// Holds recorded events after `safe` back until they are safe.
    pub(crate) fn hold(&self, safe: Position) {
        for watched in self.watched() {
            watched.queue().safe = Some(safe);
        }
    }

    /// Notes that the log is safe up to `position`, and queues the events that were held back.
    pub(crate) fn is_safe(&self, position: Position) {
        for watched in self.watched() {
            watched.is_safe(position);
        }
    }

    /// Notes that recorded events up to `to` were not queued.
    pub(crate) fn missed(&self, known: Position, to: Position) {
        for watched in self.watched() {
            watched.missed(known, to);
        }
    }

    fn close(&self) {
        for watched in self.watched() {
            let mut queue = watched.queue();
            queue.closed = true;
            queue.wake();
        }
    }

    fn next(&self, waker: &Waker) -> Next {
        let [watched] = self.watched() else { return Next::End };
        let mut queue = watched.queue();
        if let Some(event) = queue.events.pop_front() {
            return Next::Event(Box::new(event));
        }
        if queue.dropped > 0 {
            let dropped = std::mem::take(&mut queue.dropped);
            // From here on recorded events are queued again: what is missing ends with the gap.
            let before = |EventId { life, position, .. }| {
                EventId::last_of(life, Position(position.0.saturating_sub(1)))
            };
            return Next::Lagged(dropped, queue.gap.take(), queue.first.map(before));
        }
        if queue.closed {
            return Next::End;
        }
        queue.waker = Some(waker.clone());
        Next::Wait
    }
}

impl Watched {
    fn new(modes: Modes, tells: Option<Tell>) -> Arc<Self> {
        Arc::new(Self { modes, queue: Mutex::default(), tells })
    }

    /// Takes an event, or holds it back until the log is safe up to it.
    fn take(&self, mut event: Event) {
        let taken = self.modes.take(&event.kind);
        if !taken && event.id.is_none() {
            return;
        }
        let mut queue = self.queue();
        if let Some(id) = &mut event.id {
            id.life = queue.life;
        }
        let held = |id: EventId| queue.safe.is_some_and(|safe| id.position > safe);
        if event.id.is_some_and(held) {
            queue.held.push_back(event);
        } else {
            queue.take(event, taken, self.tells.as_ref());
        }
    }

    fn is_safe(&self, position: Position) {
        let mut queue = self.queue();
        if queue.safe.is_none_or(|safe| position <= safe) {
            return;
        }
        queue.safe = Some(position);
        while let Some(event) =
            queue.held.pop_front_if(|event| event.id.is_none_or(|id| id.position <= position))
        {
            let taken = self.modes.take(&event.kind);
            queue.take(event, taken, self.tells.as_ref());
        }
    }

    fn missed(&self, known: Position, to: Position) {
        let mut queue = self.queue();
        let life = queue.life;
        let first = EventId { life, position: known.next(), index: 0 };
        queue.first = queue.first.or(Some(first));
        queue.gap = queue.gap.max(Some(EventId::last_of(life, to)));
        queue.dropped += 1;
        queue.wake();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn take(&mut self, event: Event, observed: bool, tells: Option<&Tell>) {
        self.first = self.first.or(event.id);
        match (observed, tells) {
            (false, _) => {}
            (true, None) => self.push(event),
            (true, Some(tell)) => {
                let event = Event { sequence: Some(self.sequence), ..event };
                self.sequence += 1;
                // What an observer does is no fault of the run.
                drop(catch_unwind(AssertUnwindSafe(|| tell(&event))));
            }
        }
    }

    fn push(&mut self, mut event: Event) {
        event.sequence = Some(self.sequence);
        self.sequence += 1;
        let full = self.events.len() >= WAITING;
        match event.id {
            Some(id) if full || self.gap.is_some() => {
                self.gap = Some(id);
                self.dropped += 1;
            }
            None if full => self.dropped += 1,
            _ => self.events.push_back(event),
        }
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

enum Next {
    Event(Box<Event>),
    /// The number of dropped events, the last recorded one among them, and the id before the run's first.
    Lagged(u64, Option<EventId>, Option<EventId>),
    Wait,
    End,
}

/// Reads recorded events of a thread: after the first id, up to the second.
pub(crate) type CatchUp =
    Arc<dyn Fn(Option<EventId>, EventId) -> BoxFuture<'static, Missed> + Send + Sync>;

/// The events, or the error of the log.
type Missed = Result<Vec<Event>, RunError>;

/// An observed run: a stream of its events, then its outcome.
///
/// The run continues by itself, however slowly it is read. At most 4,096 events wait. A reader that lags receives the
/// number of dropped events, then the recorded ones among them from the log. A log that cannot be read ends the stream
/// with [`EventKind::Cut`], and the reader reads on from the last id with [`Thread::events`](crate::Thread::events).
/// Dropping the stream drops the run, which leaves the thread resumable, except after
/// [`keep_running`](Events::keep_running).
///
/// ```
/// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// let mut events = thread.stream(Input::New(Count::update()), ());
/// let mut count = 0;
/// while let Some(_event) = events.next().await {
///     count += 1;
/// }
/// assert!(count > 0);
/// assert_eq!(events.outcome().await?.done()?.n, 1);
/// # Ok(()) }
/// ```
#[must_use]
pub struct Events<S> {
    sink: Sink,
    run: Option<Spawned>,
    outcome: oneshot::Receiver<Result<Outcome<S>, RunError>>,
    catch_up: Option<CatchUp>,
    /// The last recorded event that was read.
    last: Option<EventId>,
    /// Recorded events that are being read from the log.
    reading: Option<BoxFuture<'static, Missed>>,
    read: VecDeque<Event>,
    /// True when missed events cannot be read. The stream then ends, so that a reader continues from before the gap.
    is_cut: bool,
}

impl<S: Send + 'static> Events<S> {
    pub(crate) fn new<F>(
        spawner: &dyn Spawner,
        modes: Modes,
        catch_up: Option<CatchUp>,
        run: impl FnOnce(Sink) -> F,
    ) -> Self
    where
        F: Future<Output = Result<Outcome<S>, RunError>> + Send + 'static,
    {
        let sink = Sink::observed(modes);
        let (send, outcome) = oneshot::channel();
        let (run, closing) = (run(sink.clone()), Closing(sink.clone()));
        let run = spawner.spawn(Box::pin(async move {
            let outcome = run.await;
            drop(closing);
            // Nobody may be waiting for it.
            drop(send.send(outcome));
        }));
        let (last, reading, read) = (None, None, VecDeque::new());
        Self { sink, run: Some(run), outcome, catch_up, last, reading, read, is_cut: false }
    }

    /// Lets the run continue when the stream is dropped. Default: the run is dropped too.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let events = thread.stream(Input::New(Count::update()), ()).keep_running();
    /// drop(events);
    /// // The run ends by itself.
    /// # while thread.state(None).await?.is_none_or(|state| state.n == 0) { tokio::task::yield_now().await }
    /// assert_eq!(thread.state(None).await?.map(|state| state.n), Some(1));
    /// # Ok(()) }
    /// ```
    pub fn keep_running(mut self) -> Self {
        if let Some(run) = self.run.take() {
            run.detach();
        }
        self
    }

    /// Waits for the end of the run and returns its outcome. Unread events are skipped.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let events = thread.stream(Input::New(Count::update()), ());
    /// assert_eq!(events.outcome().await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError`] when the run could not go on; [`RunError::Lost`] when there is no runtime to run it on.
    pub async fn outcome(mut self) -> Result<Outcome<S>, RunError> {
        let outcome = (&mut self.outcome).await;
        outcome.unwrap_or(Err(RunError::Lost))
    }
}

/// Closes the stream at the end of the run, also when the run is dropped.
struct Closing(Sink);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<S> Stream for Events<S> {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let this = &mut *self;
        if let Some(reading) = &mut this.reading {
            let Poll::Ready(events) = reading.as_mut().poll(cx) else { return Poll::Pending };
            this.reading = None;
            let modes = this.sink.modes();
            match events {
                Ok(events) => {
                    this.read.extend(events.into_iter().filter(|event| modes.take(&event.kind)));
                }
                Err(error) => {
                    this.is_cut = true;
                    let error = Chain(&error).to_string();
                    return Poll::Ready(Some(live(EventKind::Cut { error })));
                }
            }
        }
        if let Some(event) = this.read.pop_front() {
            this.last = event.id.or(this.last);
            return Poll::Ready(Some(event));
        }
        if this.is_cut {
            return Poll::Ready(None);
        }
        match this.sink.next(cx.waker()) {
            Next::Event(event) => {
                this.last = event.id.or(this.last);
                Poll::Ready(Some(*event))
            }
            Next::Lagged(dropped, gap, before) => {
                if let (Some(gap), Some(catch_up)) = (gap, &this.catch_up) {
                    // What earlier runs told is not this one's to tell.
                    this.reading = Some(catch_up(this.last.or(before), gap));
                }
                Poll::Ready(Some(live(EventKind::Lagged(dropped))))
            }
            Next::End => Poll::Ready(None),
            Next::Wait => Poll::Pending,
        }
    }
}

impl<S> Unpin for Events<S> {}

fn live(kind: EventKind) -> Event {
    Event {
        path: Namespace::root(),
        step: 0,
        node: None,
        task: None,
        attempt: 0,
        call: None,
        sequence: None,
        id: None,
        kind,
    }
}

impl<S> fmt::Debug for Events<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("last", &self.last).finish_non_exhaustive()
    }
}
