//! Applying an entry to what a log amounts to.

use std::sync::Arc;

use hanok_core::{
    Fields, FoldError, Namespace, Position, Spent, StoredSchema, StoredState, Timestamp,
};

use crate::{
    entry::body::{Body, Entry},
    entry::fold::{RunFold, ThreadFold, outlives, turn_of},
    entry::frontier::Frontier,
    entry::run::{Begin, End, Persistence},
    entry::run_end::RunEnd,
    entry::state::{Copied, Edit, Extend, Rebase},
    entry::task::{Answer, Commit, Failed, Memo},
};

impl ThreadFold {
    /// Applies the entry at `position`.
    ///
    /// ```
    /// use hanok_checkpoint::{Body, Entry, Question, ThreadFold};
    /// use hanok_core::{Namespace, Position, Stored, TaskId, Timestamp};
    ///
    /// # let (id, node) = ("first".to_owned(), "ask".to_owned());
    /// # let (task, payload) = (TaskId::from_bytes([0; 16]), Stored::encode("Go on?")?);
    /// let question = Question { id, task, node, payload, schema: None, deadline: None, audience: None };
    /// let root = Namespace::root();
    /// let entry = Entry { at: Timestamp(0), namespace: root.clone(), body: Body::Question(question) };
    /// let mut fold = ThreadFold::default();
    /// fold.apply(Position(1), &entry)?;
    /// assert_eq!(fold.run(&root).map(|run| run.records.open_questions().count()), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FoldError`] when a change does not fit the state before it.
    pub fn apply(&mut self, position: Position, entry: &Entry) -> Result<(), FoldError> {
        self.position = position;
        match &entry.body {
            Body::Begin(begin) => self.begin(position, entry, begin)?,
            Body::Write(write) => {
                self.run_mut(entry).records.pending.insert(position, write.clone());
                self.progressed();
            }
            Body::Commit(commit) => self.commit(entry, commit)?,
            Body::Void(void) => self.run_mut(entry).records.void(&void.writes),
            Body::Memo(memo) => self.memo(entry, memo),
            Body::Intent(intent) => self.run_mut(entry).records.intend(intent.clone()),
            Body::Question(question) => self.run_mut(entry).records.ask(question.clone()),
            Body::Answer(answer) => self.answer(entry, answer),
            Body::Reopen(reopen) => self.run_mut(entry).records.reopen(&reopen.id),
            Body::Rewind(_) => self.rewind(position, entry.at),
            Body::Rebase(rebase) => self.run_mut(entry).rebase(rebase)?,
            Body::Extend(extend) => self.run_mut(entry).extend(extend)?,
            Body::Origin(origin) => {
                *self = Self { identity: None, ..origin.snapshot.to_fold(position) };
            }
            Body::Copied(Copied { from }) => {
                self.identity.get_or_insert_with(|| from.clone());
            }
            // What stands before it says what is left.
            Body::Erased(_) => {}
            // It decides nothing.
            Body::Late(_) => {}
            Body::End(end) => self.end(entry, end),
            Body::Failed(failed) => self.failed(entry, failed),
            Body::Edit(edit) => self.edit(position, entry, edit)?,
        }
        Ok(())
    }

    fn begin(&mut self, position: Position, entry: &Entry, begin: &Begin) -> Result<(), FoldError> {
        if begin.frontier.is_some() {
            self.end_calls(&entry.namespace);
            self.new_turn(&entry.namespace);
        }
        let base = begin.shared.then(|| self.caller_state(&entry.namespace)).flatten();
        let run = self.run_mut(entry);
        if let (Some((fields, schema)), true) = (base, begin.frontier.is_some()) {
            (run.fields, run.schema) = (fields, schema);
        }
        run.begin(position, entry.at, begin)
    }

    fn commit(&mut self, entry: &Entry, commit: &Commit) -> Result<(), FoldError> {
        self.run_mut(entry).commit(commit, entry.at)?;
        self.progressed();
        self.end_calls(&entry.namespace);
        self.count(&entry.namespace, commit.spent);
        Ok(())
    }

    /// An answer between runs ends the waiting: the run that asked has something to do again.
    fn answer(&mut self, entry: &Entry, answer: &Answer) {
        self.run_mut(entry).records.answer(&answer.id, &answer.value);
        if let Some(root) = self.runs.get_mut(&Namespace::root())
            && !root.open
        {
            root.ended = None;
        }
    }

    fn memo(&mut self, entry: &Entry, memo: &Memo) {
        let run = self.run_mut(entry);
        run.spent = run.spent.plus(memo.spent);
        run.records.memoise(memo);
        self.progressed();
        self.count(&entry.namespace, memo.spent);
    }

    fn failed(&mut self, entry: &Entry, failed: &Failed) {
        let run = self.run_mut(entry);
        run.spent = run.spent.plus(failed.spent);
        run.records.failures.insert(failed.task, failed.clone());
        self.count(&entry.namespace, failed.spent);
    }

    fn end(&mut self, entry: &Entry, end: &End) {
        let run = self.run_mut(entry);
        run.open = false;
        run.paused |= end.outcome == RunEnd::Breakpoint;
        run.ended = Some(end.outcome.clone()).filter(|end| *end != "");
        run.spent = run.spent.plus(end.spent);
        self.count(&entry.namespace, end.spent);
    }

    /// Makes the due tasks due anew: as other tasks, with other keys.
    fn rewind(&mut self, position: Position, at: Timestamp) {
        self.end_calls(&Namespace::root());
        self.new_turn(&Namespace::root());
        self.runs.values_mut().for_each(|run| run.reschedule(position, at));
        self.progressed();
    }

    fn edit(&mut self, position: Position, entry: &Entry, edit: &Edit) -> Result<(), FoldError> {
        if edit.frontier.is_some() {
            self.end_calls(&entry.namespace);
            self.new_turn(&entry.namespace);
        }
        // Whoever changes something knows more than the runs that were lost.
        if edit.frontier.is_some() || !edit.changes.0.is_empty() {
            self.progressed();
        }
        let run = self.run_mut(entry);
        run.fields.apply_all(&edit.changes)?;
        if let Some(frontier) = &edit.frontier {
            run.scheduled(frontier, entry.at);
            run.last = edit.node.iter().map(|node| node.as_str().into()).collect();
            run.turn = position;
        }
        Ok(())
    }

    /// Counts for the thread's turn what a subgraph spends.
    fn count(&mut self, namespace: &Namespace, spent: Spent) {
        if !namespace.is_root()
            && !spent.is_nothing()
            && let Some(root) = self.runs.get_mut(&Namespace::root())
        {
            root.spent = root.spent.plus(spent);
        }
    }

    /// The turn is nearer to its end, in whatever graph of it: what is stored is not done again by the next run.
    fn progressed(&mut self) {
        if let Some(root) = self.runs.get_mut(&Namespace::root()) {
            root.takeovers = 0;
        }
    }

    /// The state of the graph that calls the one of `namespace`, and its schema.
    fn caller_state(&self, namespace: &Namespace) -> Option<(Fields, Arc<StoredSchema>)> {
        self.runs.get(&namespace.parent()?).map(|run| (run.fields.clone(), run.schema.clone()))
    }

    /// The ids of tasks derive from where their turn begins, and from now on from the thread's own name.
    fn new_turn(&mut self, namespace: &Namespace) {
        if namespace.is_root() {
            self.identity = None;
        }
    }

    fn run_mut(&mut self, entry: &Entry) -> &mut RunFold {
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
    fn begin(&mut self, position: Position, at: Timestamp, begin: &Begin) -> Result<(), FoldError> {
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
        self.graph.clone_from(&begin.graph);
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
        let schema = std::mem::replace(&mut self.schema, rebase.schema.clone().into());
        let fields = Fields::from_stored(&rebase.fields)?;
        let fields = std::mem::replace(&mut self.fields, fields);
        self.records.rebase(|| StoredState { schema, fields });
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

    fn extend(&mut self, extend: &Extend) -> Result<(), FoldError> {
        self.fields.apply_all(&extend.values)?;
        self.schema = extend.schema.clone().into();
        Ok(())
    }

    /// New tasks are due; what belonged to the old ones is over.
    fn scheduled(&mut self, frontier: &Frontier, at: Timestamp) {
        self.frontier = frontier.clone();
        self.since = at;
        self.records.clear();
        self.paused = false;
    }

    /// Makes the due tasks due again, as others whose ids derive from `turn`: what the old ones wrote, asked and left in
    /// doubt is theirs. A breakpoint that was come to stays so.
    fn reschedule(&mut self, turn: Position, at: Timestamp) {
        self.records.clear();
        self.turn = turn;
        self.since = at;
    }
}
