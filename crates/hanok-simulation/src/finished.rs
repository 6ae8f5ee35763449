//! A run that is over, as checks see it.

use hanok_checkpoint::{Begin, Body, LogEntry, ThreadFold};
use hanok_core::{Namespace, Position, Spent};

use crate::effects::Effects;

/// A run that is over, for [`Simulation::check`](crate::Simulation::check).
#[derive(Debug)]
pub struct FinishedRun<'a, S> {
    /// The state at the end.
    pub state: &'a S,
    /// The thread's log, oldest first, on all branches.
    pub log: &'a [LogEntry],
    /// The effects outside of the world.
    pub effects: &'a Effects,
}

impl<S> FinishedRun<'_, S> {
    /// The amounts that the turns of the thread have spent by its log, each at its end.
    pub fn spent(&self) -> Vec<Spent> {
        spent(self.log)
    }
}

/// The amount that each turn of the branch that a thread is on has spent.
fn spent(entries: &[LogEntry]) -> Vec<Spent> {
    let (mut fold, mut turns) = (ThreadFold::default(), Vec::new());
    for LogEntry { position, entry, .. } in branch(entries, Position::START) {
        let root = entry.namespace.is_root();
        if let (true, Body::Begin(Begin { frontier: Some(_), .. })) = (root, &entry.body) {
            turns.push(Spent::default());
        }
        // A log that does not fold is told elsewhere.
        if fold.apply(*position, entry).is_err() {
            break;
        }
        if let (Some(turn), Some(run)) = (turns.last_mut(), fold.run(&Namespace::root())) {
            *turn = run.spent;
        }
    }
    turns
}

/// The entries after `start` that lead to the last one, in order.
pub(crate) fn branch(entries: &[LogEntry], start: Position) -> Vec<&LogEntry> {
    let at = |position: Position| entries.get(usize::try_from(position.0.checked_sub(1)?).ok()?);
    let branch = std::iter::successors(entries.last(), |entry| at(entry.parent));
    let mut branch: Vec<_> = branch.take_while(|entry| entry.position > start).collect();
    branch.reverse();
    branch
}
