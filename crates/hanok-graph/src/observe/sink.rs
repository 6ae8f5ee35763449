//! Sinks: a run reports its events to one, which gives them run, time and place, and passes them on in the order of the log.

use std::{
    collections::{BTreeSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use hanok_checkpoint::{Life, RunEnd};
use hanok_core::{Answerer, Chain, Clock, Namespace, Position, RunId, Spent, Timestamp};

use crate::{
    error::RunError,
    names::is_waiting,
    observe::{
        event::{Event, EventId, EventKind, EventPlace, Modes},
        trail::{Mark, Shown, Trail},
    },
    outcome::Outcome,
};

/// The sink of a run's events. Without an observer it costs nothing.
#[derive(Clone, Default)]
pub(crate) struct Sink(Option<Arc<Shared>>);

/// The observers of one run.
struct Shared {
    clock: Arc<dyn Clock>,
    trail: Arc<Trail>,
    tellers: Vec<Teller>,
    /// The modes of all tellers.
    told: Modes,
    /// The ids of the messages that were told.
    messages: Mutex<BTreeSet<String>>,
    /// The time of the entries that were written last.
    wrote_at: AtomicU64,
    /// True when recorded events wait until the log is safe.
    holds: AtomicBool,
    line: Mutex<Line>,
}

/// A function that is told events at once, one after the other.
pub(crate) struct Teller {
    pub(crate) modes: Modes,
    pub(crate) tell: Arc<dyn Fn(&Event) + Send + Sync>,
}

/// The events of the run, in order.
#[derive(Default)]
struct Line {
    /// The life of the thread; `None` where nothing is stored.
    life: Option<Life>,
    run: Option<RunId>,
    /// The last recorded event.
    last: Option<EventId>,
    /// The number of live events so far.
    live: u64,
    /// The position up to which the log is safe; `None` if all of it is.
    safe: Option<Position>,
    /// Events that wait: a recorded one until the log is safe up to it, and all that came after.
    held: VecDeque<(Event, Mark)>,
    /// True when the end of the run was told.
    ended: bool,
}

impl Sink {
    /// A sink for the readers of `trail` and for `tellers`.
    pub(crate) fn new(clock: Arc<dyn Clock>, trail: Arc<Trail>, tellers: Vec<Teller>) -> Self {
        let told = tellers.iter().fold(Modes::of([]), |all, teller| all.and(teller.modes));
        let (messages, line) = (Mutex::default(), Mutex::default());
        let (wrote_at, holds) = (AtomicU64::default(), AtomicBool::default());
        Self(Some(Arc::new(Shared {
            clock,
            trail,
            tellers,
            told,
            messages,
            wrote_at,
            holds,
            line,
        })))
    }

    /// True if there is an observer.
    pub(crate) fn is_on(&self) -> bool {
        self.0.as_ref().is_some_and(|shared| shared.is_on())
    }

    /// The observed modes; none without an observer.
    pub(crate) fn modes(&self) -> Modes {
        let none = Modes::of([]);
        self.0.as_ref().map_or(none, |shared| shared.told.and(shared.trail.modes()))
    }

    /// Notes that the message `id` is told, as a whole or by its tokens; true for the first time.
    pub(crate) fn tells(&self, id: &str) -> bool {
        let Some(shared) = &self.0 else { return false };
        let mut told = shared.messages.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(id.to_owned())
    }

    /// Reports an event, which is made only for an observer. Never blocks.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        self.emit_marked(Mark::Plain, event);
    }

    /// Reports an event of which readers have to know `mark`.
    pub(crate) fn emit_marked(&self, mark: Mark, event: impl FnOnce() -> Event) {
        let Some(shared) = self.0.as_ref().filter(|shared| shared.is_on()) else { return };
        let mut event = event();
        // What waits for the end of the run is not recorded as what it was.
        event.id = event.id.filter(|id| !is_waiting(id.position));
        event.time = match event.id {
            Some(_) => Timestamp(shared.wrote_at.load(Ordering::SeqCst)),
            None => shared.clock.now(),
        };
        let mut line = shared.line();
        line.place(&mut event, shared.trail.joined());
        let is_safe = |id: EventId| line.safe.is_none_or(|safe| id.position <= safe);
        match line.held.is_empty() && event.id.is_none_or(is_safe) {
            true => shared.deliver(&mut line, event, mark),
            false => line.held.push_back((event, mark)),
        }
    }

    /// Notes that `run` of the thread's `life` begins after the position `known`.
    pub(crate) fn begin(&self, life: Life, run: RunId, known: Position) {
        let Some(shared) = &self.0 else { return };
        let mut line = shared.line();
        (line.life, line.run, line.ended) = (Some(life), Some(run), false);
        line.last = line.last.max(Some(EventId::last_of(life, known)));
        shared.trail.begin(life, known);
    }

    /// Notes that entries up to `position` were written at `at`, before their events are reported.
    pub(crate) fn wrote(&self, position: Position, at: Timestamp) {
        let Some(shared) = &self.0 else { return };
        shared.wrote_at.store(at.0, Ordering::SeqCst);
        if !is_waiting(position) {
            shared.trail.wrote(position);
        }
    }

    /// Holds recorded events after `safe` back until they are safe.
    pub(crate) fn hold(&self, safe: Position) {
        let Some(shared) = &self.0 else { return };
        shared.holds.store(true, Ordering::SeqCst);
        shared.line().safe = Some(safe);
    }

    /// Notes that the log is safe up to `position`, and passes on the events that were held back.
    pub(crate) fn is_safe(&self, position: Position) {
        let Some(shared) = self.0.as_ref().filter(|shared| shared.holds()) else { return };
        let mut line = shared.line();
        if line.safe.is_none_or(|safe| position <= safe) {
            return;
        }
        line.safe = Some(position);
        let is_safe =
            |(event, _): &mut (Event, Mark)| event.id.is_none_or(|id| id.position <= position);
        while let Some((event, mark)) = line.held.pop_front_if(is_safe) {
            shared.deliver(&mut line, event, mark);
        }
    }

    /// Notes that recorded events up to `to` are not reported, or were reported as what waits.
    pub(crate) fn missed(&self, to: Position, shown: Shown) {
        let Some(shared) = self.0.as_ref().filter(|shared| shared.is_on()) else { return };
        let mut line = shared.line();
        if let Some(life) = line.life {
            line.last = line.last.max(Some(EventId::last_of(life, to)));
            shared.trail.gap(to, shown);
        }
    }

    /// Notes that nothing more is reported: who reads it to its end is told how it ended, whatever kept it from being told.
    pub(crate) fn finish<S>(&self, ended: &Result<Outcome<S>, RunError>) {
        let Some(shared) = &self.0 else { return };
        let mut line = shared.line();
        for (event, mark) in std::mem::take(&mut line.held) {
            // What was not safe was never stored.
            if event.id.is_none() {
                shared.deliver(&mut line, event, mark);
            }
        }
        if !line.ended && shared.trail.is_on() {
            let end = end_of(ended.as_ref(), Spent::default(), None);
            let mut event = Event::new(&Namespace::root(), 0, None, None, end);
            event.time = shared.clock.now();
            line.place(&mut event, shared.trail.joined());
            shared.trail.push(event, Mark::Refused);
        }
    }
}

/// The end of a run, or of an input that was refused.
pub(crate) fn end_of<S>(
    ended: Result<&Outcome<S>, &RunError>,
    spent: Spent,
    by: Option<Answerer>,
) -> EventKind {
    let (outcome, error, code) = match ended {
        Ok(outcome) => (outcome.name(), None, None),
        Err(error) => (RunEnd::Failed, Some(Chain(error).to_string()), Some(error.code().into())),
    };
    EventKind::Ended { outcome, error, code, spent, by }
}

impl Shared {
    fn is_on(&self) -> bool {
        !self.tellers.is_empty() || self.trail.is_on()
    }

    fn holds(&self) -> bool {
        self.holds.load(Ordering::SeqCst)
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes an event on to everybody who shows it.
    fn deliver(&self, line: &mut Line, event: Event, mark: Mark) {
        line.ended |= event.path.is_root() && matches!(event.kind, EventKind::Ended { .. });
        for Teller { modes, tell } in &self.tellers {
            if modes.take(&event.kind) && mark != Mark::Streamed {
                // What an observer does is no fault of the run.
                drop(catch_unwind(AssertUnwindSafe(|| tell(&event))));
            }
        }
        self.trail.push(event, mark);
    }
}

impl Line {
    /// Gives an event its run and its place: a live one that after the last recorded one, or after `joined`, before which
    /// nobody was told anything.
    fn place(&mut self, event: &mut Event, joined: Position) {
        event.run = self.run;
        let Some(life) = self.life else { return };
        match &mut event.id {
            Some(id) => {
                id.life = life;
                event.place = Some(EventPlace::from(*id));
                self.last = self.last.max(Some(*id));
            }
            None => {
                self.live += 1;
                let after = self.last.filter(|last| last.position >= joined);
                let after = after.unwrap_or(EventId::last_of(life, joined));
                event.place = Some(EventPlace { after, live: self.live });
            }
        }
    }
}
