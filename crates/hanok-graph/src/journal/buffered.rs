//! Entries that wait for the end of a run: the super-steps of a graph become one.

use std::collections::{BTreeMap, BTreeSet};

use hanok_checkpoint::{Body, Commit, Persistence, TaskWrite};
use hanok_core::{Change, Changes, Namespace, Position, Spent, Timestamp};

use crate::names::{WAITING, is_waiting};

/// An entry that waits.
#[derive(Debug, Clone)]
struct Entry {
    /// The name that stands for its position.
    name: Position,
    at: Timestamp,
    path: Namespace,
    body: Body,
}

/// Entries that wait, in order.
#[derive(Debug, Default)]
pub(super) struct Buffered {
    entries: Vec<Entry>,
    /// The number of entries up to the last commit of the thread's own graph, which is the last of them if there is one.
    done: usize,
    named: u64,
    /// The positions of writes that have waited, by their names.
    stand: BTreeMap<Position, Position>,
    /// The entries that waited when an append of unknown result began. `leaving` has their positions if it succeeded.
    before: Vec<Entry>,
    leaving: BTreeMap<Position, Position>,
}

impl Buffered {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lets an entry wait; returns its name.
    pub(super) fn push(&mut self, at: Timestamp, path: Namespace, body: Body) -> Position {
        self.named += 1;
        let name = Position(WAITING + self.named);
        match body {
            // What a subgraph adds to a state that it shares is told by its writes: its own super-steps stay as they are.
            Body::Commit(commit) if path.is_root() => self.commit(name, at, path, commit),
            Body::Void(mut void) => {
                self.entries.retain(|entry| !void.writes.contains(&entry.name));
                self.done = done(&self.entries);
                void.writes.retain(|write| !is_waiting(*write) || self.stand.contains_key(write));
                if !void.writes.is_empty() {
                    self.entries.push(Entry { name, at, path, body: Body::Void(void) });
                }
            }
            body => self.entries.push(Entry { name, at, path, body }),
        }
        name
    }

    /// The entries to append after `after`: those that wait, and `entries`. Report the result of the append with
    /// [`flushed`](Buffered::flushed) or [`restore`](Buffered::restore).
    pub(super) fn flush(
        &mut self,
        after: Position,
        entries: impl Iterator<Item = (Timestamp, Namespace, Body)>,
    ) -> Vec<(Timestamp, Namespace, Body)> {
        self.before = self.entries.clone();
        for (at, path, body) in entries {
            self.push(at, path, body);
        }
        let mut entries = std::mem::take(&mut self.entries);
        self.done = 0;
        for entry in entries.iter_mut().filter(|entry| entry.path.is_root()) {
            compact(&mut entry.body);
        }
        self.leaving = self.stand.clone();
        for (at, entry) in (after.0 + 1..).zip(&entries) {
            self.leaving.insert(entry.name, Position(at));
        }
        // Of what a super-step of the thread's own graph ends nothing is named any more.
        let ended = entries
            .iter()
            .rposition(|entry| entry.path.is_root() && matches!(entry.body, Body::Commit(_)));
        let ended = ended.map_or(Position::START, |index| Position(after.0 + 1 + index as u64));
        let placed = |entry: Entry| (entry.at, entry.path, placed(&self.leaving, entry.body));
        let entries = entries.into_iter().map(placed).collect();
        self.leaving.retain(|_, stands| *stands > ended);
        entries
    }

    /// Notes that the append succeeded.
    pub(super) fn flushed(&mut self) {
        self.before.clear();
        self.stand = std::mem::take(&mut self.leaving);
    }

    /// Notes that the append failed: entries that had waited wait on. Those that were to come with it are dropped, since
    /// their writer is gone.
    pub(super) fn restore(&mut self) {
        self.entries.splice(0..0, self.before.drain(..));
        self.done = done(&self.entries);
        self.leaving.clear();
    }

    /// Notes a commit of the thread's own graph. It takes in the entries of its tasks and their calls, and becomes part
    /// of the commit before.
    fn commit(&mut self, name: Position, at: Timestamp, root: Namespace, mut commit: Commit) {
        let whole = commit.folds.iter().all(|fold| self.waits(*fold));
        let mut written = BTreeMap::new();
        let mut kept: Vec<Entry> = Vec::new();
        for entry in self.entries.split_off(self.done) {
            let in_root = entry.path.is_root();
            match entry.body {
                Body::Write(write) if in_root && whole && commit.folds.contains(&entry.name) => {
                    written.insert(entry.name, write);
                }
                Body::Memo(_) | Body::Failed(_) if in_root => {
                    commit.spent = commit.spent.plus(spent(&entry.body));
                }
                _ if !in_root && !outlives(&kept, &entry.path, &entry.body) => {
                    commit.spent = commit.spent.plus(spent(&entry.body));
                }
                _ => kept.push(entry),
            }
        }
        if whole {
            fold(&mut commit, written);
        }
        let alone = commit.folds.is_empty() && kept.iter().all(|entry| !entry.path.is_root());
        let earlier = self.entries.pop_if(|entry| {
            let is_whole = matches!(&entry.body, Body::Commit(it) if it.folds.is_empty());
            alone && entry.path.is_root() && is_whole
        });
        if let Some(Entry { body: Body::Commit(earlier), .. }) = earlier {
            commit = joined(earlier, commit);
        }
        self.entries.extend(kept);
        self.entries.push(Entry { name, at, path: root, body: Body::Commit(commit) });
        self.done = self.entries.len();
    }

    fn waits(&self, position: Position) -> bool {
        is_waiting(position) && !self.stand.contains_key(&position)
    }
}

/// The number of `entries` up to the last commit of the thread's own graph.
fn done(entries: &[Entry]) -> usize {
    let ends = |entry: &Entry| entry.path.is_root() && matches!(entry.body, Body::Commit(_));
    entries.iter().rposition(ends).map_or(0, |last| last + 1)
}

/// True if an entry of a subgraph belongs to a state that outlives its call; `kept` precede it. For a call that began
/// before the waiting entries this is unknown, and the entry stays: without such a state it has no effect.
fn outlives(kept: &[Entry], path: &Namespace, body: &Body) -> bool {
    let begun = |body: &Body| match body {
        Body::Begin(begin) => Some(begin.persistence == Persistence::PerThread),
        _ => None,
    };
    let mut of_path = kept.iter().rev().filter(|entry| entry.path == *path);
    begun(body).or_else(|| of_path.find_map(|entry| begun(&entry.body))).unwrap_or(true)
}

/// The entry's body, with the positions of entries that have waited in place of their names.
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

/// The spending that an entry records.
fn spent(body: &Body) -> Spent {
    match body {
        Body::Commit(commit) => commit.spent,
        Body::Memo(memo) => memo.spent,
        Body::Failed(failed) => failed.spent,
        Body::End(end) => end.spent,
        _ => Spent::default(),
    }
}

/// Moves the changes of the folded writes into the commit, before its own.
fn fold(commit: &mut Commit, mut written: BTreeMap<Position, TaskWrite>) {
    let mut changes = Vec::new();
    for write in commit.folds.drain(..).filter_map(|fold| written.remove(&fold)) {
        let own = &commit.changes;
        changes.extend(write.changes.0.into_iter().filter(|(field, _)| own.get(field).is_none()));
    }
    changes.append(&mut commit.changes.0);
    commit.changes = Changes(changes);
}

/// Joins the commits of two super-steps, one after the other.
fn joined(earlier: Commit, later: Commit) -> Commit {
    let (mut changes, mut outbox) = (earlier.changes, earlier.outbox);
    changes.0.extend(later.changes.0);
    outbox.extend(later.outbox);
    let spent = earlier.spent.plus(later.spent);
    Commit { changes, outbox, spent, ..later }
}

/// Drops parts of a commit that are useless once it is stored: the operands of reducers, and the values of a field before
/// it was written whole.
fn compact(body: &mut Body) {
    let Body::Commit(commit) = body else { return };
    // What these positions say comes before the changes, and only where these say nothing.
    if !commit.folds.is_empty() {
        return;
    }
    let mut whole = BTreeSet::new();
    let mut kept = Vec::with_capacity(commit.changes.0.len());
    for (field, change) in std::mem::take(&mut commit.changes.0).into_iter().rev() {
        if whole.contains(&field) || matches!(change, Change::Input(_)) {
            continue;
        }
        if matches!(change, Change::Set(_) | Change::Unset) {
            whole.insert(field.clone());
        }
        kept.push((field, change));
    }
    kept.reverse();
    commit.changes = Changes(kept);
}
