//! Recorded events, told again from the log.

use std::{collections::VecDeque, sync::Arc};

use hanok_checkpoint::{
    Body, Branch, CheckpointError, Commit, Entry, Log, LogEntry, RunFold, ThreadFold,
};
use hanok_core::{Fields, Namespace, Position, TaskId, ThreadKey};
use hanok_state::State;

use crate::{
    AnyState, AnyUpdate, Event, EventId, EventKind, RunError,
    commit::event,
    graph::Inner,
    ids,
    progress::{pending, state_error},
};

/// What an outcome of the thread's own graph shows. Of a subgraph all that is stored is told.
pub(crate) struct Shows {
    /// What the thread begins with: a field that nothing has written is not in the log.
    initial: Fields,
    /// The fields that are shown; the others have their initial value.
    fields: Vec<String>,
}

impl Shows {
    pub(crate) fn of<S: State, C>(graph: &Inner<S, C>) -> Result<Self, RunError> {
        let initial = graph.initial.to_fields().map_err(state_error)?;
        let names = graph.initial.schema().fields.iter().map(|field| field.name.to_string());
        Ok(Self { initial, fields: names.filter(|field| graph.shows(field)).collect() })
    }

    fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|shown| shown == field)
    }
}

/// The recorded events after `after`, up to `to` (`None`: the log's end), in order.
pub(crate) async fn events(
    log: &Log,
    after: Option<EventId>,
    to: Option<EventId>,
    shows: &Shows,
) -> Result<Vec<Event>, RunError> {
    // An entry may have several events, some of which were seen.
    let from = after.map_or(Position::START, |id| Position(id.position.0.saturating_sub(1)));
    let branch = log.branch(from).await.map_err(RunError::Checkpoint)?;
    let Some(Branch { life, floor, entries }) = branch else { return Ok(Vec::new()) };
    if let Some(id) = after {
        // An id of an earlier life names something else here, or nothing.
        life.admit(log.thread(), id.life).map_err(RunError::Checkpoint)?;
        if id.position < floor {
            let (thread, position) = (log.thread().clone(), id.position);
            return Err(RunError::Checkpoint(CheckpointError::Pruned { thread, position, floor }));
        }
    }
    let base = entries.first().map_or(from, |entry| entry.parent);
    let mut fold = ThreadFold::default();
    if base > Position::START {
        let opened = log.open(Some(base)).await.map_err(RunError::Checkpoint)?;
        fold = opened.map(|opened| opened.fold).unwrap_or_default();
    }
    let mut told = Vec::new();
    let mut copies = copies(&entries);
    for LogEntry { position, entry, .. } in entries {
        // What stands before a copy's own entries happened in the thread that was copied.
        while copies.front().is_some_and(|(at, _)| *at <= position) {
            copies.pop_front();
        }
        let copied = copies.front().map(|(_, from)| from);
        let thread = fold.identity.as_ref().or(copied).unwrap_or(log.thread());
        let telling = Telling::before(thread, position, &entry, &fold, shows);
        fold.apply(position, &entry).map_err(|error| RunError::State(Box::new(error)))?;
        telling.tell(&entry, &fold, &mut told);
    }
    told.retain_mut(|event| {
        event.id.as_mut().is_some_and(|id| {
            id.life = life;
            after.is_none_or(|seen| *id > seen) && to.is_none_or(|to| *id <= to)
        })
    });
    Ok(told)
}

/// Where threads were copied, and which.
fn copies(entries: &[LogEntry]) -> VecDeque<(Position, ThreadKey)> {
    let copied = entries.iter().filter_map(|entry| match &entry.entry.body {
        Body::Copied(copied) => Some((entry.position, copied.from.clone())),
        _ => None,
    });
    copied.collect()
}

/// What has to be known of a graph's run before an entry is applied, to tell of the entry.
struct Telling<'a> {
    position: Position,
    path: Namespace,
    step: u32,
    /// The task of a commit that names no writes.
    task: Option<(Arc<str>, TaskId, u32)>,
    /// Whether a commit changes what is shown.
    changes: bool,
    shows: &'a Shows,
}

impl<'a> Telling<'a> {
    fn before(
        thread: &ThreadKey,
        position: Position,
        entry: &Entry,
        fold: &ThreadFold,
        shows: &'a Shows,
    ) -> Self {
        let path = entry.namespace.clone();
        let run = fold.run(&path);
        let (step, turn) = run.map_or((0, Position::START), |run| (run.frontier.step, run.turn));
        let shown = |field: &str| !path.is_root() || shows.has(field);
        let (mut task, mut changes) = (None, false);
        if let Body::Commit(commit) = &entry.body {
            if let ([], [node]) = (commit.folds.as_slice(), commit.nodes.as_slice()) {
                let id = ids::task(thread, &path, turn, commit.step, node, 0);
                task = Some((node.clone(), id, 1));
            }
            changes = changed(commit, run).any(shown);
        }
        let step = match (&entry.body, run) {
            // What is told of the end belongs to the last super-step.
            (Body::End(_), Some(run)) if run.frontier.is_done() => step.saturating_sub(1),
            (Body::Begin(begin), _) if begin.frontier.is_some() => 0,
            _ => step,
        };
        Self { position, path, step, task, changes, shows }
    }

    fn tell(self, entry: &Entry, fold: &ThreadFold, told: &mut Vec<Event>) {
        let Some(run) = fold.run(&self.path) else { return };
        let mut say = |task, kind| {
            told.push(event(&self.path, self.step, task, Some(self.position), kind));
        };
        match &entry.body {
            Body::Begin(begin) if begin.frontier.is_some() => {
                say(None, EventKind::Values(self.state(run)));
            }
            Body::Write(write) => {
                let task = (write.node.clone(), write.task, 1);
                let update = AnyUpdate::stored(write.changes.clone());
                say(Some(task), EventKind::Updates(update));
            }
            Body::Commit(commit) => {
                if let Some(task) = self.task.clone() {
                    let update = AnyUpdate::stored(commit.changes.clone());
                    say(Some(task), EventKind::Updates(update));
                }
                say(None, EventKind::Checkpoint);
                if self.changes {
                    say(None, EventKind::Values(self.state(run)));
                }
            }
            Body::Question(question) => {
                let task = (question.node.as_str().into(), question.task, 1);
                say(Some(task), EventKind::Request(pending(question, &self.path)));
            }
            Body::End(end) if self.path.is_root() => {
                let error = (!end.detail.is_empty()).then(|| end.detail.clone());
                let (outcome, spent) = (end.outcome.clone(), run.spent);
                say(None, EventKind::Ended { outcome, error, spent });
            }
            _ => {}
        }
    }

    fn state(&self, run: &RunFold) -> AnyState {
        let root = self.path.is_root();
        let mut fields = if root { self.shows.initial.clone() } else { Fields::default() };
        for (name, field) in run.fields.iter() {
            if !root || self.shows.has(name) {
                fields.insert(name, field.clone());
            }
        }
        AnyState::stored(fields)
    }
}

/// The fields that a commit changes.
fn changed<'a>(commit: &'a Commit, run: Option<&'a RunFold>) -> impl Iterator<Item = &'a str> {
    let folded = commit.folds.iter().filter_map(move |at| run?.pending.get(at));
    let folded = folded.flat_map(|write| &write.changes.0);
    folded.chain(&commit.changes.0).map(|(field, _)| field.as_ref())
}
