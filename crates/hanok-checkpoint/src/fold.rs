//! What a log amounts to.

use std::{collections::BTreeMap, sync::Arc};

use hanok_core::{
    Changes, Fields, FoldError, Namespace, Position, RunId, Spent, StoredSchema, TaskId, ThreadKey,
    Timestamp,
};

use crate::{
    Begin, Body, Commit, Copied, Entry, Epoch, Frontier, Persistence, Rebase, run_end::RunEnd,
    step_records::StepRecords,
};

/// What the ids of tasks derive from in a subgraph whose calls share a namespace: a number that the calling task has to
/// itself.
pub fn turn_of(parent: TaskId) -> Position {
    let bytes = parent.as_bytes().iter().take(8);
    Position(bytes.fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}

/// What the log of a thread amounts to at a position: per namespace its state, what is due and what is pending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ThreadFold {
    /// The position folded up to.
    pub position: Position,
    /// The thread's own graph under the root, and the subgraphs that are running or outlive their call.
    pub runs: BTreeMap<Namespace, RunFold>,
    /// The thread from whose name the ids of the turn's tasks derive, if it is another: the turn was copied from there.
    pub identity: Option<ThreadKey>,
}

/// One graph's part of a thread.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFold {
    /// The run that is under way or was last.
    pub run: Option<RunId>,
    /// The epoch of the claim it ran under.
    pub epoch: Epoch,
    /// Whether a run began that did not end.
    pub open: bool,
    /// The task that calls this subgraph.
    pub parent: Option<TaskId>,
    /// Whether the state outlives the call.
    pub persistence: Persistence,
    /// The state.
    pub fields: Fields,
    /// The schema that it is stored in.
    pub schema: Arc<StoredSchema>,
    /// The fingerprint of the graph that ran.
    pub graph: u64,
    /// What is due.
    pub frontier: Frontier,
    /// When it was scheduled: what its tasks take for the time.
    pub since: Timestamp,
    /// Where the turn begins, or was rewound to begin anew: with the super-step, the ids of the tasks derive from it. A
    /// run that goes on after a crash keeps it. A subgraph's is the start, for its namespace names the task that calls it;
    /// that of one which outlives its calls is [`turn_of`] the task.
    pub turn: Position,
    /// The nodes of the last super-step.
    pub last: Vec<Arc<str>>,
    /// The records of the tasks that are due.
    pub records: StepRecords,
    /// Whether a run stopped at a breakpoint here, which the next ones pass.
    pub paused: bool,
    /// How the last run ended, as its [`End`](crate::End) says; `None` while one is under way.
    pub ended: Option<RunEnd>,
    /// Whether a subgraph began with its caller's state.
    pub shared: bool,
    /// What the tasks of such a subgraph wrote, in order.
    pub added: Vec<Changes>,
    /// What the turn has spent; the thread's own graph counts its subgraphs too.
    pub spent: Spent,
    /// How often a run went on with what a lost one left, since the thread last came nearer to the turn's end.
    pub takeovers: u32,
}

/// Whether the state of the subgraph at `path`, one of `runs`, outlives the calls of the graph at `parent`: a call within
/// one that is over is over, however long its own state would live.
pub fn outlives(runs: &BTreeMap<Namespace, RunFold>, path: &Namespace, parent: &Namespace) -> bool {
    std::iter::successors(Some(path.clone()), Namespace::parent)
        .take_while(|path| path != parent)
        .all(|path| runs.get(&path).is_some_and(|run| run.persistence == Persistence::PerThread))
}

impl ThreadFold {
    /// The part of one graph.
    pub fn run(&self, namespace: &Namespace) -> Option<&RunFold> {
        self.runs.get(namespace)
    }

    /// Applies the entry at `position`.
    ///
    /// # Errors
    ///
    /// [`FoldError`] when a change does not fit the state before it.
    pub fn apply(&mut self, position: Position, entry: &Entry) -> Result<(), FoldError> {
        self.position = position;
        match &entry.body {
            Body::Begin(begin) => {
                if begin.frontier.is_some() {
                    self.end_calls(&entry.namespace);
                    self.new_turn(&entry.namespace);
                }
                let base = begin.shared.then(|| self.caller(&entry.namespace)).flatten();
                let run = self.of(entry);
                if let (Some((fields, schema)), true) = (base, begin.frontier.is_some()) {
                    (run.fields, run.schema) = (fields, schema);
                }
                run.begin((position, entry.at), begin)?;
            }
            Body::Write(write) => {
                self.of(entry).records.pending.insert(position, write.clone());
                self.goes_on();
            }
            Body::Commit(commit) => {
                self.of(entry).commit(commit, entry.at)?;
                self.goes_on();
                self.end_calls(&entry.namespace);
                self.count(&entry.namespace, commit.spent);
            }
            Body::Void(void) => {
                let pending = &mut self.of(entry).records.pending;
                void.writes.iter().for_each(|position| {
                    pending.remove(position);
                });
            }
            Body::Memo(memo) => {
                let run = self.of(entry);
                run.spent = run.spent.plus(memo.spent);
                run.records.memoise(memo);
                self.goes_on();
                self.count(&entry.namespace, memo.spent);
            }
            Body::Intent(intent) => {
                let key = (intent.task, intent.key.clone());
                self.of(entry).records.intents.insert(key, intent.clone());
            }
            Body::Question(question) => self.of(entry).records.ask(question.clone()),
            Body::Answer(answer) => self.of(entry).records.answer(&answer.id, &answer.value),
            Body::Reopen(reopen) => {
                self.of(entry).records.answers.remove(&reopen.id);
            }
            // What is due is due anew: as other tasks, with other keys.
            Body::Rewind => {
                self.end_calls(&Namespace::root());
                self.new_turn(&Namespace::root());
                self.runs.values_mut().for_each(|run| run.anew(position, entry.at));
                self.goes_on();
            }
            Body::Rebase(rebase) => self.of(entry).rebase(rebase)?,
            Body::Extend(extend) => {
                let run = self.of(entry);
                run.fields.apply_all(&extend.values)?;
                run.schema = extend.schema.clone().into();
            }
            Body::Origin(origin) => {
                *self = Self { identity: None, ..origin.snapshot.to_fold(position) };
            }
            Body::Copied(Copied { from }) => {
                self.identity.get_or_insert_with(|| from.clone());
            }
            // What stands before it says what is left.
            Body::Erased(_) => {}
            Body::End(end) => {
                let run = self.of(entry);
                run.open = false;
                run.paused |= end.outcome == RunEnd::Breakpoint;
                run.ended = Some(end.outcome.clone()).filter(|end| *end != "");
                run.spent = run.spent.plus(end.spent);
                self.count(&entry.namespace, end.spent);
            }
            Body::Failed(failed) => {
                let run = self.of(entry);
                run.spent = run.spent.plus(failed.spent);
                run.records.failures.insert(failed.task, failed.clone());
                self.count(&entry.namespace, failed.spent);
            }
            Body::Edit(edit) => {
                if edit.frontier.is_some() {
                    self.end_calls(&entry.namespace);
                    self.new_turn(&entry.namespace);
                }
                // Whoever changes something knows more than the runs that were lost.
                if edit.frontier.is_some() || !edit.changes.0.is_empty() {
                    self.goes_on();
                }
                let run = self.of(entry);
                run.fields.apply_all(&edit.changes)?;
                if let Some(frontier) = &edit.frontier {
                    run.scheduled(frontier, entry.at);
                    run.last = edit.node.iter().map(|node| node.as_str().into()).collect();
                    run.turn = position;
                }
            }
        }
        Ok(())
    }

    /// Whether nothing is under way that a snapshot would have to hold.
    pub fn is_quiet(&self) -> bool {
        self.runs.values().all(|run| run.records.is_empty() && run.added.is_empty())
    }

    /// How many bytes the states take as stored, about.
    pub fn size(&self) -> usize {
        self.runs.values().map(|run| run.fields.size()).sum()
    }

    /// What a subgraph spends counts for the thread's turn.
    fn count(&mut self, namespace: &Namespace, spent: Spent) {
        if !namespace.is_root()
            && !spent.is_nothing()
            && let Some(root) = self.runs.get_mut(&Namespace::root())
        {
            root.spent = root.spent.plus(spent);
        }
    }

    /// The turn is nearer to its end, in whatever graph of it: what is stored is not done again by the next run.
    fn goes_on(&mut self) {
        if let Some(root) = self.runs.get_mut(&Namespace::root()) {
            root.takeovers = 0;
        }
    }

    /// The state of the graph that calls the one of `namespace`, and its schema.
    fn caller(&self, namespace: &Namespace) -> Option<(Fields, Arc<StoredSchema>)> {
        self.runs.get(&namespace.parent()?).map(|run| (run.fields.clone(), run.schema.clone()))
    }

    /// The ids of tasks derive from where their turn begins, and from now on from the thread's own name.
    fn new_turn(&mut self, namespace: &Namespace) {
        if namespace.is_root() {
            self.identity = None;
        }
    }

    fn of(&mut self, entry: &Entry) -> &mut RunFold {
        self.runs.entry(entry.namespace.clone()).or_default()
    }

    /// The calls of a super-step that is done are over. A state that outlives its call stays, and nothing of the call.
    pub(crate) fn end_calls(&mut self, parent: &Namespace) {
        let over: Vec<_> = self
            .runs
            .keys()
            .filter(|path| *path != parent && path.is_within(parent))
            .map(|path| (path.clone(), outlives(&self.runs, path, parent)))
            .collect();
        for (path, stays) in over {
            if !stays {
                self.runs.remove(&path);
            } else if let Some(run) = self.runs.get_mut(&path)
                && !run.frontier.is_done()
            {
                run.scheduled(&Frontier::default(), run.since);
            }
        }
    }
}

impl RunFold {
    fn begin(
        &mut self,
        (position, at): (Position, Timestamp),
        begin: &Begin,
    ) -> Result<(), FoldError> {
        self.run = Some(begin.run);
        self.epoch = begin.epoch;
        self.open = true;
        self.ended = None;
        self.parent = begin.parent;
        self.persistence = begin.persistence;
        self.shared = begin.shared;
        if let Some(schema) = &begin.schema {
            (self.fields, self.schema) = (Fields::default(), schema.clone());
        }
        self.graph = begin.graph;
        self.takeovers = begin.takeovers;
        self.fields.apply_all(&begin.input)?;
        if let Some(frontier) = &begin.frontier {
            self.scheduled(frontier, at);
            self.turn = match (begin.parent, begin.persistence) {
                (None, _) => position,
                (Some(_), Persistence::PerCall) => Position::START,
                (Some(parent), Persistence::PerThread) => turn_of(parent),
            };
            self.spent = Spent::default();
            self.added.clear();
        }
        Ok(())
    }

    fn commit(&mut self, commit: &Commit, at: Timestamp) -> Result<(), FoldError> {
        for folded in &commit.folds {
            let Some(write) = self.records.pending.get(folded) else { continue };
            if self.shared {
                self.added.push(write.changes.clone());
            }
            for (field, change) in &write.changes.0 {
                if commit.changes.get(field).is_none() {
                    self.fields.apply(field, change)?;
                }
            }
        }
        self.fields.apply_all(&commit.changes)?;
        self.spent = self.spent.plus(commit.spent);
        self.last.clone_from(&commit.nodes);
        self.takeovers = 0;
        self.scheduled(&commit.frontier, at);
        Ok(())
    }

    fn rebase(&mut self, rebase: &Rebase) -> Result<(), FoldError> {
        self.schema = rebase.schema.clone().into();
        self.fields = Fields::from_stored(&rebase.fields)?;
        for (position, changes) in &rebase.writes {
            if let Some(write) = self.records.pending.get_mut(position) {
                write.changes.clone_from(changes);
            }
        }
        if let Some(added) = &rebase.added {
            self.added.clone_from(added);
        }
        Ok(())
    }

    /// New tasks are due; what belonged to the old ones is over.
    fn scheduled(&mut self, frontier: &Frontier, at: Timestamp) {
        self.frontier = frontier.clone();
        self.since = at;
        self.records.clear();
        self.paused = false;
    }

    /// What is due is due again, as other tasks whose ids derive from `turn`: what the old ones wrote, asked and left in
    /// doubt is theirs. A breakpoint that was come to stays so.
    fn anew(&mut self, turn: Position, at: Timestamp) {
        self.records.clear();
        self.turn = turn;
        self.since = at;
    }
}
