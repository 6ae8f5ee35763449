//! The seat of a reader who follows a thread: a run of the thread in this process finds it there.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use hanok_core::ThreadKey;
use tokio::sync::Notify;

use crate::{
    observe::{
        event::{EventId, Modes},
        trail::{After, Cursor, Trail},
    },
    thread::active::ActiveRuns,
};

/// The seats of all readers who follow threads of an app.
#[derive(Default)]
pub(crate) struct Seats(Mutex<BTreeMap<ThreadKey, Vec<Weak<Seat>>>>);

/// The place of one reader.
pub(crate) struct Seat {
    runs: Arc<ActiveRuns>,
    thread: ThreadKey,
    modes: Modes,
    state: Mutex<State>,
    /// Notified when a run has put a cursor here.
    pub(crate) came: Notify,
}

#[derive(Default)]
struct State {
    /// True while the reader reads no trail.
    waits: bool,
    cursor: Option<Cursor>,
}

impl Seats {
    /// Shows the trail of a run that begins to all readers who wait.
    pub(crate) fn show(&self, thread: &ThreadKey, trail: &Arc<Trail>) {
        let seats = self.locked().get(thread).cloned().unwrap_or_default();
        for seat in seats.iter().filter_map(Weak::upgrade) {
            let mut state = seat.state();
            if std::mem::take(&mut state.waits) {
                state.cursor = Some(trail.from_the_start(seat.modes, After::Thread(None)));
                seat.came.notify_one();
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, Vec<Weak<Seat>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// A seat of a reader of `thread`.
    pub(crate) fn take(runs: &Arc<ActiveRuns>, thread: &ThreadKey, modes: Modes) -> Arc<Self> {
        let (runs, key, came) = (runs.clone(), thread.clone(), Notify::new());
        let seat = Arc::new(Self { runs, thread: key, modes, state: Mutex::default(), came });
        let mut seats = seat.runs.seats().locked();
        seats.entry(thread.clone()).or_default().push(Arc::downgrade(&seat));
        drop(seats);
        // What is told before the reader looks is told to it.
        if let Some(cursor) = seat.cursor(None) {
            seat.state().cursor = Some(cursor);
        }
        seat
    }

    /// A cursor on the trail of the run that the thread has in this process, for a reader who has seen everything up to `last`. `None`
    /// without a run: the next one puts one here.
    pub(crate) fn cursor(&self, last: Option<EventId>) -> Option<Cursor> {
        let mut state = self.state();
        if let Some(mut cursor) = state.cursor.take() {
            last.into_iter().for_each(|last| cursor.advance(last));
            return Some(cursor);
        }
        let trail = self.runs.trail(&self.thread).filter(|trail| !trail.is_closed());
        state.waits = trail.is_none();
        trail.map(|trail| trail.from_now(self.modes, last))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.runs.seats().locked();
        if let Some(of_thread) = seats.get_mut(&self.thread) {
            of_thread.retain(|seat| seat.strong_count() > 0);
            if of_thread.is_empty() {
                seats.remove(&self.thread);
            }
        }
    }
}

impl fmt::Debug for Seats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Seats").field(&self.locked().len()).finish()
    }
}
