//! A thread that is followed: what its log says, then what it says next, and what its runs in this process tell besides.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{FutureExt, Stream, stream};
use hanok_checkpoint::{Checkpointer, Log};
use hanok_core::Position;

use crate::{
    error::RunError,
    observe::{
        event::{Event, EventId, EventPlace},
        events::{Reader, cut},
    },
    thread::{
        pages::{Pages, Recorded},
        seat::Seat,
    },
};

/// The longest time after which a log is looked at again of which nothing was heard.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The events of a thread, from its log and from its runs: [`Thread::follow`](crate::Thread::follow).
#[must_use]
pub struct Follow(Pin<Box<dyn Stream<Item = Event> + Send>>);

impl Follow {
    pub(super) fn new(
        log: Log,
        seat: Arc<Seat>,
        recorded: Recorded,
        after: Option<EventPlace>,
    ) -> Self {
        let last = after.map(|place| place.after);
        let (page, reading) = (VecDeque::new(), Reading::Log);
        let follower = Follower { log, seat, recorded, after, last, page, reading };
        Self(Box::pin(stream::unfold(Some(follower), |follower| async {
            let mut follower = follower?;
            match follower.next().await {
                Ok(event) => {
                    let is_last = matches!(follower.reading, Reading::Cut);
                    Some((event, (!is_last).then_some(follower)))
                }
                Err(error) => Some((cut(&error), None)),
            }
        })))
    }
}

impl Stream for Follow {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow").finish_non_exhaustive()
    }
}

/// A reader of a thread.
struct Follower {
    log: Log,
    seat: Arc<Seat>,
    recorded: Recorded,
    /// The place from which it follows: live events up to there were seen.
    after: Option<EventPlace>,
    /// The last recorded event that was read.
    last: Option<EventId>,
    /// Recorded events that are read and not returned yet.
    page: VecDeque<Event>,
    reading: Reading,
}

/// What a follower reads.
enum Reading {
    /// The log.
    Log,
    /// The log, of which a part is read.
    Pages(Box<Pages>),
    /// The events of a run in this process.
    Trail(Box<Reader>),
    /// Nothing: all is read up to this position of the log.
    Nothing(Position),
    /// Nothing more: what is missing cannot be read.
    Cut,
}

impl Follower {
    async fn next(&mut self) -> Result<Event, RunError> {
        loop {
            if let Some(event) = self.step().await?.filter(|event| self.is_new(event)) {
                return Ok(event);
            }
        }
    }

    /// True for an event that was not seen before the reader came.
    fn is_new(&self, event: &Event) -> bool {
        event.place.is_none_or(|place| Some(place) > self.after)
    }

    /// Reads on: an event, or nothing yet.
    async fn step(&mut self) -> Result<Option<Event>, RunError> {
        if let Some(event) = self.page.pop_front() {
            self.last = self.last.max(event.id);
            return Ok(Some(event));
        }
        match &mut self.reading {
            Reading::Trail(reader) => {
                let event = poll_fn(|cx| reader.poll(cx)).await;
                self.last = self.last.max(reader.cursor.last());
                if reader.is_cut {
                    self.reading = Reading::Cut;
                } else if event.is_none() {
                    self.reading = Reading::Log;
                }
                return Ok(event);
            }
            Reading::Log => {
                if !self.join() {
                    let pages = self.recorded.pages(self.last, None);
                    self.reading = Reading::Pages(Box::new(pages));
                }
            }
            Reading::Pages(pages) => {
                let (page, end) = (pages.next().await?, pages.end());
                self.page = page.into();
                // A run that began meanwhile tells its events itself, and more.
                if self.join() {
                    self.leave_to_trail();
                } else if self.page.is_empty() {
                    self.reading = Reading::Nothing(end);
                }
            }
            Reading::Nothing(position) => {
                let (log, clock) = (&self.log, &self.recorded.clock);
                futures_util::select_biased! {
                    () = self.seat.came.notified().fuse() => {}
                    moved = Box::pin(log.store().beyond(log.thread(), *position)).fuse() => {
                        moved.map_err(RunError::Checkpoint)?;
                    }
                    // A thread that was deleted moves no more.
                    () = clock.sleep(LOOK_AGAIN).fuse() => {}
                }
                self.reading = Reading::Log;
            }
            Reading::Cut => {}
        }
        Ok(None)
    }

    /// Reads the trail of a run in this process from now on, if there is one.
    fn join(&mut self) -> bool {
        let Some(cursor) = self.seat.cursor(self.last) else { return false };
        let reader = Reader::new(cursor, Some(self.recorded.catch_up()));
        self.reading = Reading::Trail(Box::new(reader));
        true
    }

    /// Leaves those events of the page that the trail has to the trail, and tells it of the others.
    fn leave_to_trail(&mut self) {
        let Reading::Trail(reader) = &mut self.reading else { return };
        let before = reader.cursor.before();
        self.page.retain(|event| before.is_none() || event.id <= before);
        if let Some(last) = self.page.back().and_then(|event| event.id) {
            reader.cursor.advance(last);
        }
    }
}
