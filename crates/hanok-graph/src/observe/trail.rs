//! The trail of a run: its newest events, for as many readers as there are, each at its own place.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering},
    },
    task::Waker,
};

use hanok_checkpoint::Life;
use hanok_core::{Position, Token};

use crate::observe::{
    event::{Event, EventId, EventKind, Modes},
    tool_event::ToolEvent,
};

/// The most bytes of events that wait for the slowest reader, and their most number. Older ones are dropped; recorded ones are read
/// from the log instead.
const MOST_BYTES: usize = 256 * 1024;
const MOST_EVENTS: usize = 4_096;

/// The newest events of a run. Without a reader it takes none.
#[derive(Default)]
pub(crate) struct Trail {
    on: AtomicBool,
    /// The modes that any reader shows.
    modes: AtomicU16,
    /// The position of the last entry that the run has written.
    written: AtomicU64,
    /// The position after which the events are of the trail, since its first reader came.
    joined: AtomicU64,
    ring: Mutex<Ring>,
}

#[derive(Default)]
struct Ring {
    items: VecDeque<Item>,
    /// The number of the first item.
    first: u64,
    bytes: usize,
    life: Life,
    /// The last id before the run's own events.
    origin: Option<EventId>,
    /// The last recorded event that was dropped.
    dropped: Option<EventId>,
    readers: BTreeMap<u64, Seat>,
    seats: u64,
    closed: bool,
}

/// The place of a reader.
struct Seat {
    next: u64,
    modes: Modes,
    waker: Option<Waker>,
}

enum Item {
    Event(Box<Event>, Mark),
    /// Recorded events up to here did not come. A reader who was shown them without ids is not shown them again.
    Gap(EventId, Shown),
}

/// What a reader has to know of an event beside the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Plain,
    /// A message that its reader knows already if it has heard all tokens.
    Streamed,
    /// The end of an input that was refused, which is no event of the thread.
    Refused,
}

/// Whether the events of a gap were shown without their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Never,
    WithoutIds,
}

impl Trail {
    /// True if there is a reader.
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::SeqCst)
    }

    /// The modes of all readers.
    pub(crate) fn modes(&self) -> Modes {
        Modes::of_bits(self.modes.load(Ordering::SeqCst))
    }

    /// The position at which the first reader came.
    pub(crate) fn joined(&self) -> Position {
        Position(self.joined.load(Ordering::SeqCst))
    }

    /// Notes that a run of the thread's `life` begins after `known`.
    pub(crate) fn begin(&self, life: Life, known: Position) {
        self.wrote(known);
        let mut ring = self.ring();
        ring.life = life;
        ring.origin.get_or_insert(EventId::last_of(life, known));
        ring.wake();
    }

    /// Notes that the run has written entries up to `position`.
    pub(crate) fn wrote(&self, position: Position) {
        self.written.store(position.0, Ordering::SeqCst);
    }

    pub(crate) fn push(&self, event: Event, mark: Mark) {
        if self.modes().take(&event.kind) {
            self.ring().push(Item::Event(Box::new(event), mark));
        }
    }

    /// Notes that recorded events up to `to` do not come.
    pub(crate) fn gap(&self, to: Position, shown: Shown) {
        if self.is_on() {
            let mut ring = self.ring();
            let to = EventId::last_of(ring.life, to);
            ring.push(Item::Gap(to, shown));
        }
    }

    /// Ends the trail: readers are told when they have read it.
    pub(crate) fn close(&self) {
        let mut ring = self.ring();
        ring.closed = true;
        ring.wake();
    }

    /// True if nothing more comes.
    pub(crate) fn is_closed(&self) -> bool {
        self.ring().closed
    }

    /// Ends the trail when what is returned is dropped.
    pub(crate) fn closes(self: &Arc<Self>) -> Closes {
        Closes(self.clone())
    }

    /// A reader of the run from its beginning.
    pub(crate) fn from_the_start(self: &Arc<Self>, modes: Modes, after: After) -> Cursor {
        self.sit(modes, after, false)
    }

    /// A reader of what comes from now on. What was recorded before is read from the log.
    pub(crate) fn from_now(self: &Arc<Self>, modes: Modes, after: Option<EventId>) -> Cursor {
        self.sit(modes, After::Thread(after), true)
    }

    fn sit(self: &Arc<Self>, modes: Modes, after: After, late: bool) -> Cursor {
        let mut ring = self.ring();
        let number = ring.seats;
        ring.seats += 1;
        let next = ring.first + ring.items.len() as u64;
        ring.readers.insert(number, Seat { next, modes, waker: None });
        if !self.on.swap(true, Ordering::SeqCst) {
            // Whatever is written after this is told.
            let written = self.written.load(Ordering::SeqCst);
            self.joined.store(written, Ordering::SeqCst);
        }
        self.remember_modes(&ring);
        let written = Position(self.written.load(Ordering::SeqCst));
        let upto = (late && ring.origin.is_some()).then(|| EventId::last_of(ring.life, written));
        drop(ring);
        let (last, follows) = match after {
            After::Run => (None, false),
            After::Thread(last) => (last, true),
        };
        let trail = self.clone();
        Cursor { trail, number, modes, upto, last, follows, is_placed: false, missed: late }
    }

    fn remember_modes(&self, ring: &Ring) {
        let all = ring.readers.values().fold(Modes::of([]), |all, seat| all.and(seat.modes));
        self.modes.store(all.bits(), Ordering::SeqCst);
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a trail when it is dropped.
pub(crate) struct Closes(Arc<Trail>);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trail").field("on", &self.is_on()).finish_non_exhaustive()
    }
}

impl Ring {
    fn push(&mut self, item: Item) {
        if self.readers.is_empty() {
            return;
        }
        self.bytes += item.weight();
        self.items.push_back(item);
        while self.bytes > MOST_BYTES || self.items.len() > MOST_EVENTS {
            self.drop_first();
        }
        self.wake();
    }

    fn drop_first(&mut self) {
        if let Some(item) = self.items.pop_front() {
            self.first += 1;
            self.bytes -= item.weight();
            let recorded = match &item {
                Item::Event(event, _) => event.id,
                Item::Gap(to, _) => Some(*to),
            };
            self.dropped = self.dropped.max(recorded);
        }
    }

    /// Forgets what all readers have read.
    fn trim(&mut self) {
        let end = self.first + self.items.len() as u64;
        let read = self.readers.values().map(|seat| seat.next).min().unwrap_or(end);
        while self.first < read && !self.items.is_empty() {
            if let Some(item) = self.items.pop_front() {
                self.bytes -= item.weight();
            }
            self.first += 1;
        }
    }

    fn wake(&mut self) {
        let wakers = self.readers.values_mut().filter_map(|seat| seat.waker.take());
        wakers.for_each(Waker::wake);
    }

    /// The item at `next`: moved out where nobody else is to read it.
    fn take(&mut self, next: u64) -> Option<(Item, bool)> {
        let at = usize::try_from(next - self.first).ok()?;
        if at == 0 && self.readers.len() == 1 {
            let item = self.items.pop_front()?;
            self.first += 1;
            self.bytes -= item.weight();
            return Some((item, true));
        }
        let item = match self.items.get(at)? {
            Item::Event(event, mark) => Item::Event(event.clone(), *mark),
            Item::Gap(to, shown) => Item::Gap(*to, *shown),
        };
        Some((item, false))
    }
}

impl Item {
    /// The bytes that the item keeps in memory. A state and an update share what they have with the run.
    fn weight(&self) -> usize {
        let Self::Event(event, _) = self else { return size_of::<Self>() };
        let payload = match &event.kind {
            EventKind::Token(Token::Text(text) | Token::Reasoning(text)) => text.len(),
            EventKind::Custom(item) | EventKind::Tool(ToolEvent::Output { item }) => {
                item.as_bytes().len()
            }
            EventKind::Tool(ToolEvent::Started { arguments: text } | ToolEvent::Ended { text }) => {
                text.len()
            }
            EventKind::Message(message) => message.text().len(),
            EventKind::TaskStarted { input: Some(input) } => input.as_bytes().len(),
            EventKind::Request(request) => request.payload.as_bytes().len(),
            _ => 0,
        };
        size_of::<Self>() + size_of::<Event>() + payload
    }
}

/// What a reader has seen before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum After {
    /// Nothing: it reads the events of one run.
    Run,
    /// The thread up to this event.
    Thread(Option<EventId>),
}

/// A reader of a trail.
pub(crate) struct Cursor {
    trail: Arc<Trail>,
    number: u64,
    modes: Modes,
    /// Recorded events up to this one are read from the log.
    upto: Option<EventId>,
    /// The last recorded event that was read.
    last: Option<EventId>,
    /// True for a reader of the thread, false for one of a run.
    follows: bool,
    /// True when it is known what comes before the trail.
    is_placed: bool,
    /// True for a reader who came during the run, or was too slow: it has not heard all tokens.
    missed: bool,
}

/// What a reader finds.
pub(crate) enum Next {
    Event(Box<Event>),
    /// So many events were dropped, and recorded ones up to this one are to be read from the log.
    Missed {
        dropped: u64,
        to: Option<EventId>,
    },
    Wait,
    End,
}

impl Cursor {
    /// The last recorded event that was read.
    pub(crate) fn last(&self) -> Option<EventId> {
        self.last
    }

    /// The last recorded event that the trail does not have; `None` as long as its run has written nothing.
    pub(crate) fn before(&self) -> Option<EventId> {
        self.upto.or(self.trail.ring().origin)
    }

    /// Notes that recorded events up to `to` were read elsewhere.
    pub(crate) fn advance(&mut self, to: EventId) {
        self.last = self.last.max(Some(to));
    }

    /// The next event, or what is in its place. `waker` is woken when there is one after [`Next::Wait`].
    pub(crate) fn next(&mut self, waker: &Waker) -> Next {
        let trail = self.trail.clone();
        let mut ring = trail.ring();
        if !self.is_placed
            && let Some(upto) = self.upto.or(ring.origin)
        {
            self.is_placed = true;
            // Before a thread's first run there is no log.
            if self.follows && self.last < Some(upto) && upto.position > Position::START {
                return Next::Missed { dropped: 0, to: Some(upto) };
            }
            self.last = self.last.max(Some(upto));
        }
        loop {
            let Some(seat) = ring.readers.get(&self.number) else { return Next::End };
            let next = seat.next;
            if next < ring.first {
                let (first, to) = (ring.first, ring.dropped.filter(|to| Some(*to) > self.last));
                self.missed = true;
                self.sit_at(&mut ring, first);
                return Next::Missed { dropped: first - next, to };
            }
            let Some((item, is_taken)) = ring.take(next) else {
                if ring.closed {
                    return Next::End;
                }
                if let Some(seat) = ring.readers.get_mut(&self.number) {
                    seat.waker = Some(waker.clone());
                }
                return Next::Wait;
            };
            self.sit_at(&mut ring, next + 1);
            if !is_taken {
                ring.trim();
            }
            match item {
                Item::Event(event, mark) if self.is_wanted(&event, mark) => {
                    return Next::Event(event);
                }
                Item::Gap(to, shown)
                    if Some(to) > self.last && (self.follows || shown == Shown::Never) =>
                {
                    let dropped = u64::from(shown == Shown::Never);
                    return Next::Missed { dropped, to: Some(to) };
                }
                _ => {}
            }
        }
    }

    fn sit_at(&self, ring: &mut Ring, next: u64) {
        if let Some(seat) = ring.readers.get_mut(&self.number) {
            seat.next = next;
        }
    }

    /// True for an event that the reader has not seen and shows.
    fn is_wanted(&mut self, event: &Event, mark: Mark) -> bool {
        match event.id {
            Some(id) if Some(id) <= self.last => return false,
            Some(id) => self.last = Some(id),
            // It was held back until what the reader has from the log was safe.
            None if event.place.is_some_and(|place| {
                self.last.is_some_and(|last| place.after.position < last.position)
            }) =>
            {
                return false;
            }
            // The thread has it with its id, at the latest at the end of its run.
            None if self.follows && event.kind.is_stored_with_work() => return false,
            None => {}
        }
        let is_mine = match mark {
            Mark::Plain => true,
            Mark::Streamed => self.missed,
            Mark::Refused => !self.follows,
        };
        is_mine && self.modes.take(&event.kind)
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let mut ring = self.trail.ring();
        ring.readers.remove(&self.number);
        ring.trim();
        self.trail.remember_modes(&ring);
        if ring.readers.is_empty() {
            self.trail.on.store(false, Ordering::SeqCst);
        }
    }
}
