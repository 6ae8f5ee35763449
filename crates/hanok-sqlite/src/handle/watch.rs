//! Waiting for a thread to move, whoever moves it.
//!
//! SQLite tells nobody that a file changed, so whoever waits looks, every few milliseconds and only while somebody waits: at a
//! number that another connection's commit changes, and no further while it stays the same.

use std::time::Duration;

use futures_channel::oneshot;
use hanok_checkpoint::CheckpointError;
use hanok_core::{Position, ThreadKey};

use crate::{file::database::Database, log::read};

/// How often the file is looked at while somebody waits.
pub(crate) const LOOK: Duration = Duration::from_millis(10);

/// Somebody who waits for the head of a thread to be beyond a position.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) thread: ThreadKey,
    pub(crate) after: Position,
    pub(crate) tell: oneshot::Sender<Result<Position, CheckpointError>>,
}

/// Those who wait, and what the file was when they last looked.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    waiters: Vec<Waiter>,
    seen: Option<(i64, u64)>,
}

impl Watch {
    /// Whether anybody waits.
    pub(crate) fn is_on(&self) -> bool {
        !self.waiters.is_empty()
    }

    /// Lets `waiter` wait; the next look is for it at the latest.
    pub(crate) fn add(&mut self, waiter: Waiter) {
        self.waiters.push(waiter);
        self.seen = None;
    }
}

impl Database {
    /// Tells those who wait what they wait for, if it is there.
    pub(crate) fn look(&mut self) {
        // Whoever is gone does not wait.
        self.watch.waiters.retain(|waiter| !waiter.tell.is_canceled());
        if !self.watch.is_on() {
            return;
        }
        let now = self.version().ok();
        if now.is_some() && now == self.watch.seen {
            return;
        }
        self.watch.seen = now;
        for waiter in std::mem::take(&mut self.watch.waiters) {
            let head = self.read(|tx| read::head(tx, &waiter.thread));
            match head.map(|head| head.map_or(Position::START, |head| head.position)) {
                Ok(head) if head <= waiter.after => self.watch.waiters.push(waiter),
                // Somebody who is gone does not hear it.
                told => drop(waiter.tell.send(told)),
            }
        }
    }
}
