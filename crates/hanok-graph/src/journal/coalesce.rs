//! Entries that wait for the end of a run: the super-steps of a graph become one.

use std::collections::BTreeMap;

use hanok_checkpoint::{Body, Commit, Persistence, TaskWrite};
use hanok_core::{Change, Changes, Namespace, Position, Spent};

/// From here on positions are not those of a log, but names of entries that wait.
const WAITING: u64 = 1 << 62;

/// Whether a position names an entry that waits.
pub(crate) fn is_waiting(position: Position) -> bool {
    position.0 >= WAITING
}

/// Entries that wait, in order.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    entries: Vec<(Position, Namespace, Body)>,
    named: u64,
    /// Where writes stand now that waited.
    stand: BTreeMap<Position, Position>,
    /// What waited when an append began whose answer is not known, and where it stands then.
    before: Vec<(Position, Namespace, Body)>,
    leaving: BTreeMap<Position, Position>,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lets an entry wait; returns its name.
    pub(super) fn push(&mut self, namespace: Namespace, body: Body) -> Position {
        self.named += 1;
        let name = Position(WAITING + self.named);
        match body {
            Body::Commit(commit) => self.commit(name, namespace, commit),
            Body::Void(mut void) => {
                self.entries.retain(|(name, _, _)| !void.writes.contains(name));
                void.writes.retain(|write| !is_waiting(*write) || self.stand.contains_key(write));
                if !void.writes.is_empty() {
                    self.entries.push((name, namespace, Body::Void(void)));
                }
            }
            body => self.entries.push((name, namespace, body)),
        }
        name
    }

    /// What is to be put into the log after `after`: what waits, and `entries`. Whether it came there is to be said
    /// with [`left`](Waiting::left) or [`stay`](Waiting::stay).
    pub(super) fn leave(
        &mut self,
        after: Position,
        entries: Vec<(Namespace, Body)>,
    ) -> Vec<(Namespace, Body)> {
        self.before = self.entries.clone();
        for (namespace, body) in entries {
            self.push(namespace, body);
        }
        let entries = std::mem::take(&mut self.entries);
        self.leaving = self.stand.clone();
        for (at, (name, _, _)) in (after.0 + 1..).zip(&entries) {
            self.leaving.insert(*name, Position(at));
        }
        let placed = |(_, namespace, body)| (namespace, placed(&self.leaving, body));
        entries.into_iter().map(placed).collect()
    }

    /// What was to be put into the log stands there.
    pub(super) fn left(&mut self) {
        self.before.clear();
        self.stand = std::mem::take(&mut self.leaving);
    }

    /// What was to be put into the log does not stand there: what had waited waits on. What was to come with it is not
    /// wanted any more: whoever wanted it is gone.
    pub(super) fn stay(&mut self) {
        self.entries.splice(0..0, self.before.drain(..));
        self.leaving.clear();
    }

    /// A super-step is done: what its tasks left is part of it, and it becomes part of the one before.
    fn commit(&mut self, name: Position, namespace: Namespace, mut commit: Commit) {
        if !namespace.is_root() {
            // What a subgraph adds to a state that it shares is told by its writes. They go with the caller's super-step.
            self.entries.push((name, namespace, Body::Commit(commit)));
            return;
        }
        let whole = commit.folds.iter().all(|fold| self.waits(*fold));
        let mut written = BTreeMap::new();
        let (mut kept, mut spent) = (Vec::new(), Spent::default());
        for (name, path, body) in std::mem::take(&mut self.entries) {
            let own = path == namespace;
            match body {
                Body::Write(write) if own && whole && commit.folds.contains(&name) => {
                    written.insert(name, write);
                }
                Body::Memo(memo) if own => spent = spent.plus(memo.spent),
                Body::Failed(failed) if own => spent = spent.plus(failed.spent),
                body if !own
                    && path.is_within(&namespace)
                    && !self.outlives(&kept, &path, &body) =>
                {
                    spent = spent.plus(said(&body));
                }
                body => kept.push((name, path, body)),
            }
        }
        commit.spent = commit.spent.plus(spent);
        if whole {
            fold(&mut commit, written);
        }
        let before = kept.iter().rposition(|(_, path, _)| *path == namespace);
        if let Some(at) = before
            && commit.folds.is_empty()
            && let Some((_, _, Body::Commit(earlier))) = kept.get(at)
            && earlier.folds.is_empty()
        {
            let (_, _, earlier) = kept.remove(at);
            if let Body::Commit(earlier) = earlier {
                commit = joined(earlier, commit);
            }
        }
        kept.push((name, namespace, Body::Commit(commit)));
        self.entries = kept;
    }

    fn waits(&self, position: Position) -> bool {
        is_waiting(position) && !self.stand.contains_key(&position)
    }

    /// Whether an entry of a subgraph belongs to a state that outlives its call. Where the call began before what waits, that
    /// is not known here, and the entry stays: to a state that does not outlive it, it does nothing.
    fn outlives(
        &self,
        kept: &[(Position, Namespace, Body)],
        path: &Namespace,
        body: &Body,
    ) -> bool {
        let begun = |body: &Body| match body {
            Body::Begin(begin) => Some(begin.persistence == Persistence::PerThread),
            _ => None,
        };
        let of_path = kept.iter().rev().filter(|(_, of, _)| of == path);
        begun(body)
            .or_else(|| of_path.into_iter().find_map(|(_, _, body)| begun(body)))
            .unwrap_or(true)
    }
}

/// What an entry says, with what waited named by where it stands.
fn placed(stands: &BTreeMap<Position, Position>, body: Body) -> Body {
    let place = |position: &mut Position| {
        if let Some(stands) = stands.get(position) {
            *position = *stands;
        }
    };
    match body {
        Body::Commit(mut commit) => {
            commit.folds.iter_mut().for_each(place);
            Body::Commit(commit)
        }
        Body::Void(mut void) => {
            void.writes.iter_mut().for_each(place);
            Body::Void(void)
        }
        body => body,
    }
}

/// What an entry says was spent.
fn said(body: &Body) -> Spent {
    match body {
        Body::Commit(commit) => commit.spent,
        Body::Memo(memo) => memo.spent,
        Body::Failed(failed) => failed.spent,
        Body::End(end) => end.spent,
        _ => Spent::default(),
    }
}

/// What the folded writes say becomes the commit's own, before what it says itself.
fn fold(commit: &mut Commit, mut written: BTreeMap<Position, TaskWrite>) {
    let mut changes = Vec::new();
    for write in commit.folds.drain(..).filter_map(|fold| written.remove(&fold)) {
        let own = &commit.changes;
        changes.extend(write.changes.0.into_iter().filter(|(field, _)| own.get(field).is_none()));
    }
    changes.append(&mut commit.changes.0);
    commit.changes = Changes(changes);
}

/// Two super-steps, one after the other, as one.
fn joined(earlier: Commit, later: Commit) -> Commit {
    let whole = |change: &Change| matches!(change, Change::Set(_) | Change::Unset);
    // A field that is written whole does not depend on what it was.
    let mut changes = earlier.changes.0;
    changes.retain(|(field, change)| {
        let input = matches!(change, Change::Input(_));
        !input && !later.changes.0.iter().any(|(name, change)| name == field && whole(change))
    });
    changes.extend(later.changes.0);
    let mut outbox = earlier.outbox;
    outbox.extend(later.outbox);
    let spent = earlier.spent.plus(later.spent);
    Commit { changes: Changes(changes), outbox, spent, ..later }
}
