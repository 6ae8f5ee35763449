//! The events of one run, as a stream.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_channel::oneshot;
use futures_util::Stream;
use hanok_core::{BoxFuture, Chain, Namespace, Spawned, Spawner, Spent};

use crate::{
    error::RunError,
    observe::{
        event::{Event, EventId, EventKind, Modes},
        sink::end_of,
        trail::{After, Cursor, Next, Trail},
    },
    outcome::Outcome,
};

/// Reads recorded events of a thread: after the first id, up to the second.
pub(crate) type CatchUp = Arc<dyn Fn(Option<EventId>, EventId) -> Missed + Send + Sync>;

/// The events page by page, or the error of the log.
pub(crate) type Missed = Pin<Box<dyn Stream<Item = Result<Vec<Event>, RunError>> + Send>>;

/// A reader of a trail that reads from the log what the trail does not have.
pub(crate) struct Reader {
    pub(crate) cursor: Cursor,
    catch_up: Option<CatchUp>,
    /// Recorded events up to an id that are being read from the log.
    reading: Option<(Missed, EventId)>,
    read: VecDeque<Event>,
    /// True when missed events cannot be read. The stream then ends, so that a reader continues from before the gap.
    pub(crate) is_cut: bool,
}

impl Reader {
    pub(crate) fn new(cursor: Cursor, catch_up: Option<CatchUp>) -> Self {
        Self { cursor, catch_up, reading: None, read: VecDeque::new(), is_cut: false }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Poll::Ready(Some(event));
            }
            if self.is_cut {
                return Poll::Ready(None);
            }
            if let Some((reading, to)) = &mut self.reading {
                match ready!(reading.as_mut().poll_next(cx)) {
                    Some(Ok(page)) => self.read = page.into(),
                    Some(Err(error)) => {
                        self.is_cut = true;
                        return Poll::Ready(Some(cut(&error)));
                    }
                    None => {
                        self.cursor.advance(*to);
                        self.reading = None;
                    }
                }
                continue;
            }
            match self.cursor.next(cx.waker()) {
                Next::Event(event) => return Poll::Ready(Some(*event)),
                Next::Missed { dropped, to } => {
                    if let (Some(to), Some(catch_up)) = (to, &self.catch_up) {
                        self.reading = Some((catch_up(self.cursor.last(), to), to));
                    }
                    if dropped > 0 {
                        return Poll::Ready(Some(unplaced(EventKind::Lagged(dropped))));
                    }
                }
                Next::End => return Poll::Ready(None),
                Next::Wait => return Poll::Pending,
            }
        }
    }
}

/// An event of the reader and not of the run.
fn unplaced(kind: EventKind) -> Event {
    Event::new(&Namespace::root(), 0, None, None, kind)
}

/// The event of a reader who cannot read what is missing.
pub(crate) fn cut(error: &RunError) -> Event {
    unplaced(EventKind::Cut { error: Chain(error).to_string() })
}

/// An observed run: a stream of its events, then its outcome.
///
/// The run continues by itself, however slowly it is read, and also when the stream is dropped, except after
/// [`drop_with_reader`](Events::drop_with_reader). At most 4,096 events wait, and at most 256 KiB of them. A reader that lags receives
/// the number of dropped events, then the recorded ones among them from the log. The last event is [`EventKind::Ended`], also
/// for an input that was refused. A log that cannot be read ends the stream with [`EventKind::Cut`] instead, and the reader reads on
/// from the last id with [`Thread::events`](crate::Thread::events).
///
/// ```
/// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// let mut events = thread.stream(Input::New(Count::update()), ());
/// let mut last = None;
/// while let Some(event) = events.next().await {
///     last = Some(event.kind);
/// }
/// assert!(matches!(last, Some(EventKind::Ended { error: None, .. })));
/// assert_eq!(events.outcome().await?.done()?.n, 1);
/// # Ok(()) }
/// ```
#[must_use]
pub struct Events<S> {
    reader: Reader,
    run: Run,
    outcome: BoxFuture<'static, Result<Outcome<S>, RunError>>,
    has_ended: bool,
}

impl<S: Send + 'static> Events<S> {
    pub(crate) fn new<F>(
        spawner: &dyn Spawner,
        modes: Modes,
        catch_up: Option<CatchUp>,
        run: impl FnOnce(Arc<Trail>) -> F,
    ) -> Self
    where
        F: Future<Output = Result<Outcome<S>, RunError>> + Send + 'static,
    {
        let trail = Arc::new(Trail::default());
        let reader = Reader::new(trail.from_the_start(modes, After::Run), catch_up);
        let (send, outcome) = oneshot::channel();
        let closes = trail.closes();
        let run = run(trail);
        let run = spawner.spawn(Box::pin(async move {
            let outcome = run.await;
            drop(closes);
            // Nobody may be waiting for it.
            drop(send.send(outcome));
        }));
        let outcome = Box::pin(async { outcome.await.unwrap_or(Err(RunError::Lost)) });
        let run = Run { task: Some(run), stops: false };
        Self { reader, run, outcome, has_ended: false }
    }

    /// The stream of a run that is over, unless its input was refused.
    pub(crate) async fn not_refused(mut self) -> Result<Self, RunError> {
        let ended = (&mut self.outcome).await?;
        self.outcome = Box::pin(std::future::ready(Ok(ended)));
        Ok(self)
    }

    /// The same stream, whose outcome has another state.
    pub(crate) fn map_state<T: 'static>(
        self,
        change: impl FnOnce(S) -> T + Send + 'static,
    ) -> Events<T> {
        let Self { reader, run, outcome, has_ended } = self;
        let outcome = Box::pin(async move { Ok(outcome.await?.map(change)) });
        Events { reader, run, outcome, has_ended }
    }
}

impl<S> Events<S> {
    /// Stops the run when the stream is dropped; the thread can be resumed. Default: the run goes on without a reader.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// drop(app.thread(ThreadKey::named("gone")?).stream(Input::New(Count::update()), ()).drop_with_reader());
    /// drop(app.thread(ThreadKey::named("kept")?).stream(Input::New(Count::update()), ()));
    /// let kept = app.thread(ThreadKey::named("kept")?);
    /// while kept.state(None).await?.is_none_or(|state| state.n == 0) {
    ///     tokio::task::yield_now().await;
    /// }
    /// assert!(app.thread(ThreadKey::named("gone")?).state(None).await?.is_none());
    /// # Ok(()) }
    /// ```
    pub fn drop_with_reader(mut self) -> Self {
        self.run.stops = true;
        self
    }

    /// Waits for the end of the run and returns its outcome. Unread events are skipped.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
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
        (&mut self.outcome).await
    }
}

/// A run that goes on without its handle, unless it is to stop with it.
struct Run {
    task: Option<Spawned>,
    stops: bool,
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(task) = self.task.take().filter(|_| !self.stops) {
            task.detach();
        }
    }
}

impl<S> Stream for Events<S> {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let event = ready!(self.reader.poll(cx));
        if let Some(event) = &event {
            let is_end = event.path.is_root() && matches!(event.kind, EventKind::Ended { .. });
            self.has_ended |= is_end;
        } else if !self.has_ended && !self.reader.is_cut {
            // Its task was stopped, or there was none to run it on.
            self.has_ended = true;
            let end = end_of::<S>(Err(&RunError::Lost), Spent::default(), None);
            return Poll::Ready(Some(unplaced(end)));
        }
        Poll::Ready(event)
    }
}

impl<S> Unpin for Events<S> {}

impl<S> fmt::Debug for Events<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("last", &self.reader.cursor.last()).finish_non_exhaustive()
    }
}
