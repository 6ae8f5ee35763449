//! Replay: recorded events, read from the log.

use std::{collections::VecDeque, fmt, sync::Arc};

use hanok_checkpoint::{
    Body, Branch, CheckpointError, Commit, Entry, Log, LogEntry, RunFold, ThreadFold, ThreadLife,
};
use hanok_core::{Fields, Namespace, Position, RunId};
use hanok_state::State;

use crate::{
    error::{RunError, state_error},
    graph::definition::Definition,
    ids,
    observe::{
        any::{AnyState, AnyUpdate, ReadsStored, StateType},
        event::{Event, EventId, EventKind, EventPlace, EventTask, Mode, Modes},
    },
    outcome::Pending,
};

/// The fields that an outcome of the thread's own graph shows. A subgraph shows all that is stored.
#[derive(Clone)]
pub(crate) struct Shows {
    /// The initial state of the thread: a field that nobody has written is not in the log.
    initial: Fields,
    /// The fields that are shown; the others have their initial value.
    fields: Vec<String>,
    /// The type of the state.
    of: Arc<dyn ReadsStored>,
}

impl Shows {
    pub(crate) fn of<S: State, C>(graph: &Definition<S, C>) -> Result<Self, RunError> {
        let initial = graph.initial.to_fields().map_err(state_error)?;
        let names = graph.initial.schema().fields.iter().map(|field| field.name.to_string());
        let fields = names.filter(|field| graph.shows(field)).collect();
        Ok(Self { initial, fields, of: Arc::new(StateType(graph.initial.clone())) })
    }

    fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|shown| shown == field)
    }
}

/// The recorded events of a thread, read from its log page by page: [`Thread::replay`](crate::Thread::replay).
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// thread.invoke(Count::update(), ()).await?;
/// let mut replay = thread.modes([Mode::Values]).replay(None).await?.ok_or("no log")?;
/// let states = replay.next().await?.into_iter().filter_map(|event| match event.kind {
///     EventKind::Values(state) => state.get::<Count>().ok().map(|state| state.n),
///     _ => None,
/// });
/// assert_eq!(states.collect::<Vec<_>>(), [0, 1]);
/// # Ok(()) }
/// ```
pub struct Replay {
    log: Log,
    own: ThreadLife,
    shows: Shows,
    modes: Modes,
    branch: Branch,
    /// Entries that are read and whose events are not returned yet.
    page: VecDeque<LogEntry>,
    fold: ThreadFold,
    after: Option<EventId>,
    to: Option<EventId>,
    end: Position,
}

/// The limit of the states of one page, in bytes. A larger state comes alone.
const STATES: usize = 256 * 1024;

impl Replay {
    /// The events after `after`, up to `to` (`None`: the log's end); `None` for a thread that has no log.
    pub(crate) async fn of(
        log: Log,
        after: Option<EventId>,
        to: Option<EventId>,
        shows: Shows,
        modes: Modes,
    ) -> Result<Option<Self>, RunError> {
        // An entry may have several events, some of which were seen.
        let from = after.map_or(Position::START, |id| Position(id.position.0.saturating_sub(1)));
        let branch = log.branch(from).await.map_err(RunError::Checkpoint)?;
        let Some(branch) = branch else {
            // What is known to be stored is gone with the thread.
            let known = to.or(after);
            return known.map_or(Ok(None), |_| Err(RunError::NoSuchThread(log.thread().clone())));
        };
        let end = branch.places.back().copied().unwrap_or(branch.follows);
        if let Some(id) = after {
            // An id of an earlier life names something else here, or nothing.
            branch.life.admit(log.thread(), id.life).map_err(RunError::Checkpoint)?;
        }
        // What was seen is stored: a log that ends before it is an older one.
        if let Some(id) = to.max(after).filter(|id| id.position > end) {
            return Err(RunError::Checkpoint(behind(end, id.position)));
        }
        if let Some(id) = after {
            let floor = branch.floor;
            if id.position < floor {
                let (thread, position) = (log.thread().clone(), id.position);
                return Err(RunError::Checkpoint(CheckpointError::Pruned {
                    thread,
                    position,
                    floor,
                }));
            }
        }
        let mut fold = ThreadFold::default();
        if branch.follows > Position::START {
            let opened = log.open(Some(branch.follows)).await.map_err(RunError::Checkpoint)?;
            fold = opened.map(|opened| opened.fold).unwrap_or_default();
        }
        let page = VecDeque::new();
        let own = ThreadLife { thread: log.thread().clone(), life: branch.life };
        Ok(Some(Self { log, own, shows, modes, branch, page, fold, after, to, end }))
    }

    /// The last position of the log as of the first read.
    pub(crate) fn end(&self) -> Position {
        self.end
    }

    /// The next events, in order: those of the next entries of the log, at least one. Empty at the end of the log as of
    /// the first read.
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read. Then read on from the last event that was returned.
    pub async fn next(&mut self) -> Result<Vec<Event>, RunError> {
        loop {
            let events = self.read()?;
            if !events.is_empty() {
                return Ok(events);
            }
            let page = self.log.branch_page(&mut self.branch).await;
            self.page = page.map_err(RunError::Checkpoint)?.into();
            if self.page.is_empty() {
                return Ok(Vec::new());
            }
        }
    }

    /// The events of the page that was read, up to a bound, since states may be large.
    fn read(&mut self) -> Result<Vec<Event>, RunError> {
        let (mut events, mut states) = (Vec::new(), 0);
        while states < STATES
            && let Some(LogEntry { position, parent, entry }) = self.page.pop_front()
        {
            // What stands before a copy's own entries happened in the thread that was copied.
            while self.branch.copies.front().is_some_and(|(at, _)| *at <= position) {
                self.branch.copies.pop_front();
            }
            let copied = self.branch.copies.front().map(|(_, from)| from);
            let of = self.fold.identity.as_ref().or(copied).unwrap_or(&self.own);
            let before =
                EntryEvents::before(of, position, &entry, &self.fold, &self.shows, self.modes);
            self.fold.apply(position, &entry).map_err(|error| RunError::State(Box::new(error)))?;
            let mut of_entry = Vec::new();
            before.push_to(&mut of_entry, &entry, parent, &self.fold);
            of_entry.retain_mut(|event| self.is_wanted(event));
            states += of_entry.iter().map(size).sum::<usize>();
            events.append(&mut of_entry);
        }
        Ok(events)
    }

    /// Sets the thread's life of an event; returns true if the event is in the range.
    fn is_wanted(&self, event: &mut Event) -> bool {
        event.id.as_mut().is_some_and(|id| {
            id.life = self.branch.life;
            event.place = Some(EventPlace::from(*id));
            self.after.is_none_or(|seen| *id > seen) && self.to.is_none_or(|to| *id <= to)
        })
    }
}

/// The number of bytes of the state in an event.
fn size(event: &Event) -> usize {
    match &event.kind {
        EventKind::Values(state) => state.size(),
        _ => 0,
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("thread", self.log.thread()).finish_non_exhaustive()
    }
}

/// The error of a store that ends before a position that is known to be stored: a copy that lags, or an older one that
/// was put in its place.
fn behind(end: Position, stored: Position) -> CheckpointError {
    let source = format!("its log ends at position {end}, and position {stored} is stored");
    CheckpointError::Unavailable {
        reason: "it answers with what was before",
        source: source.into(),
    }
}

/// The facts about a graph's run before an entry is applied, from which the entry's events are made.
struct EntryEvents<'a> {
    position: Position,
    /// The run of the thread's own graph that was open before the entry.
    run: Option<RunId>,
    path: Namespace,
    step: u32,
    /// The task of a commit that names no writes.
    task: Option<EventTask>,
    /// True if a commit changes a field that is shown.
    changes: bool,
    shows: &'a Shows,
    /// The modes of the events.
    modes: Modes,
}

impl<'a> EntryEvents<'a> {
    fn before(
        of: &ThreadLife,
        position: Position,
        entry: &Entry,
        fold: &ThreadFold,
        shows: &'a Shows,
        modes: Modes,
    ) -> Self {
        let path = entry.namespace.clone();
        let run = fold.run(&path);
        let (step, turn) = run.map_or((0, Position::START), |run| (run.frontier.step, run.turn));
        let shown = |field: &str| !path.is_root() || shows.has(field);
        let (mut task, mut changes) = (None, false);
        if let Body::Commit(commit) = &entry.body {
            if let ([], [node]) = (commit.folds.as_slice(), commit.nodes.as_slice()) {
                let id = ids::task(of, &path, turn, commit.step, node, 0);
                task = Some(EventTask { node: node.clone(), id, attempt: 1 });
            }
            changes = changed(commit, run).any(shown);
        }
        let step = match (&entry.body, run) {
            // What is told of the end belongs to the last super-step.
            (Body::End(_), Some(run)) if run.frontier.is_done() => step.saturating_sub(1),
            (Body::Begin(begin), _) if begin.frontier.is_some() => 0,
            _ => step,
        };
        let run = open_run(fold);
        Self { position, run, path, step, task, changes, shows, modes }
    }

    /// Adds the events of the entry, which follows `parent` and is part of `fold`.
    fn push_to(self, events: &mut Vec<Event>, entry: &Entry, parent: Position, fold: &ThreadFold) {
        let Some(run) = fold.run(&self.path) else { return };
        let of_type = || self.path.is_root().then(|| self.shows.of.clone());
        let of_run = self.run.or_else(|| open_run(fold));
        // What is not asked for is not made: a state is as large as all that led to it.
        let mut push = |mode: Option<Mode>, task, kind: &dyn Fn() -> EventKind| {
            if mode.is_none_or(|mode| self.modes.has(mode)) {
                let event = Event::new(&self.path, self.step, task, Some(self.position), kind());
                events.push(Event { run: of_run, time: entry.at, ..event });
            }
        };
        match &entry.body {
            Body::Begin(begin) if begin.frontier.is_some() => {
                push(Some(Mode::Values), None, &|| EventKind::Values(self.state(run)));
            }
            Body::Write(write) => {
                let task = EventTask { node: write.node.clone(), id: write.task, attempt: 1 };
                let update =
                    || EventKind::Updates(AnyUpdate::stored(write.changes.clone(), of_type()));
                push(Some(Mode::Updates), Some(task), &update);
            }
            Body::Commit(commit) => {
                if let Some(task) = self.task.clone() {
                    let update =
                        || EventKind::Updates(AnyUpdate::stored(commit.changes.clone(), of_type()));
                    push(Some(Mode::Updates), Some(task), &update);
                }
                push(Some(Mode::Checkpoints), None, &|| EventKind::Checkpoint);
                if self.changes {
                    push(Some(Mode::Values), None, &|| EventKind::Values(self.state(run)));
                }
            }
            Body::Question(question) => {
                let task = EventTask::of_question(question);
                let request = || EventKind::Request(Pending::of_question(question, &self.path));
                push(Some(Mode::Interrupts), Some(task), &request);
            }
            Body::End(end) if self.path.is_root() => {
                let error = || (!end.detail.is_empty()).then(|| end.detail.clone());
                let ended = || {
                    let (outcome, spent) = (end.outcome.clone(), run.spent);
                    let code = end.code.as_deref().map(Into::into);
                    let by = end.by.clone();
                    EventKind::Ended { outcome, error: error(), code, spent, by }
                };
                push(None, None, &ended);
            }
            Body::Answer(_) | Body::Edit(_) => {
                if let Some((task, kind)) =
                    EventKind::by_person(&entry.body, &run.records, of_type())
                {
                    push(kind.mode(), task, &|| kind.clone());
                    if matches!(entry.body, Body::Edit(_)) {
                        push(Some(Mode::Values), None, &|| EventKind::Values(self.state(run)));
                    }
                }
            }
            Body::Rewind(rewind) => {
                let by = || rewind.by.clone();
                push(None, None, &|| EventKind::Rewound { to: parent, by: by() });
                push(Some(Mode::Values), None, &|| EventKind::Values(self.state(run)));
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
        AnyState::stored(fields, root.then(|| self.shows.of.clone()))
    }
}

/// The run of the thread's own graph, as long as it is under way.
fn open_run(fold: &ThreadFold) -> Option<RunId> {
    fold.run(&Namespace::root()).filter(|run| run.open)?.run
}

/// The fields that a commit changes.
fn changed<'a>(commit: &'a Commit, run: Option<&'a RunFold>) -> impl Iterator<Item = &'a str> {
    let folded = commit.folds.iter().filter_map(move |at| run?.records.pending.get(at));
    let folded = folded.flat_map(|write| &write.changes.0);
    folded.chain(&commit.changes.0).map(|(field, _)| field.as_ref())
}
