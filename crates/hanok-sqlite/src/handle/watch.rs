//! Waiting for a thread to move, whoever moves it.
//!
//! SQLite reports to nobody that a file changed. So a worker with waiters looks every few milliseconds at a number that another
//! connection's commit changes, and no further while it stays the same.

use std::time::Duration;

use futures_channel::oneshot;
use hanok_checkpoint::CheckpointError;
use hanok_core::{Position, ThreadKey};

use crate::{file::database::Database, log::read};

/// The time between two looks at the file while somebody waits.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// Somebody who waits for the head of a thread to be beyond a position.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) thread: ThreadKey,
    pub(super) after: Position,
    pub(super) answer: oneshot::Sender<Result<Position, CheckpointError>>,
}

/// The waiters of one database, and its version at the last look.
#[derive(Debug, Default)]
pub(super) struct Watch {
    waiters: Vec<Waiter>,
    version: Option<(i64, u64)>,
}

impl Watch {
    /// True while anybody waits.
    pub(super) fn is_on(&self) -> bool {
        !self.waiters.is_empty()
    }

    /// Lets `waiter` wait; the next look is for it at the latest.
    pub(super) fn add(&mut self, waiter: Waiter) {
        self.waiters.push(waiter);
        self.version = None;
    }

    /// Answers those whose thread is beyond their position.
    pub(super) fn look(&mut self, database: &mut Database) {
        // Whoever is gone does not wait.
        self.waiters.retain(|waiter| !waiter.answer.is_canceled());
        if !self.is_on() {
            return;
        }
        let version = database.version().ok();
        if version.is_some() && version == self.version {
            return;
        }
        self.version = version;
        for waiter in std::mem::take(&mut self.waiters) {
            let head = database.read(|tx| read::head(tx, &waiter.thread));
            match head.map(|head| head.map_or(Position::START, |head| head.position)) {
                Ok(head) if head <= waiter.after => self.waiters.push(waiter),
                // Somebody who is gone does not hear it.
                answer => drop(waiter.answer.send(answer)),
            }
        }
    }
}
