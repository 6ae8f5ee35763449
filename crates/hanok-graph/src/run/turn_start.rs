//! The start of a turn: an input, or the state of an earlier run.

use std::{collections::BTreeMap, sync::Arc};

use hanok_checkpoint::{
    Begin, Body, Edit, Epoch, Holder, Labels, OpenLog, Persistence, RunEnd, RunFold, ThreadLife,
    Tip, outlives,
};
use hanok_core::{Answerer, Changes, Namespace, Position, RunId, ThreadKey, Timestamp};
use hanok_state::{State, StateUpdate};

use crate::{
    error::{RunError, state_error},
    graph::definition::Definition,
    ids,
    journal::{journal::Relabel, snapshot_policy::SnapshotPolicy},
    names::START,
    node::command::Target,
    run::{
        answer,
        initial_fields::{first_values, forget, with_input},
        merge::{Unmerged, complete, merge},
        merge_edit::{EDIT, EditPlace, merge_edit},
        rebase::{LogPlace, Migrated, migrated},
        run_state::RunState,
        thread_cache::CachedThread,
    },
};

/// The place of an input: the graph and the life of a thread that ids derive from, where its turn begins, and when.
pub(crate) struct InputPlace<'a> {
    pub(crate) namespace: &'a Namespace,
    pub(crate) of: &'a ThreadLife,
    pub(crate) turn: Position,
    pub(crate) now: Timestamp,
}

/// Applies an input: completes it with ids that derive from its place, merges it, and schedules the first tasks. Returns
/// its changes in their stored form.
pub(crate) fn apply_input<S: State, C: Send + Sync + 'static>(
    graph: &Definition<S, C>,
    place: &InputPlace<'_>,
    progress: &mut RunState<S>,
    input: NewTurn<S::Update>,
) -> Result<Changes, RunError> {
    let NewTurn { mut update, goto } = input;
    let InputPlace { namespace, of, turn, now } = *place;
    let bound = progress.state.bind(&START.into(), &mut update);
    bound.map_err(|source| Unmerged::Refused(source).of_run(0, namespace))?;
    complete(&mut update, || ids::task(of, namespace, turn, 0, START, 0));
    let written: Vec<_> = update.written().into_iter().map(|field| field.into_owned()).collect();
    if let Some(allowed) = &graph.input
        && let Some(field) = written.iter().find(|f| !allowed.iter().any(|a| **a == ***f))
    {
        let allowed = allowed.iter().map(ToString::to_string).collect();
        return Err(RunError::Input { field: field.clone(), allowed });
    }
    let mut changes = update.to_changes().map_err(state_error)?;
    let state = Arc::make_mut(&mut progress.state);
    let resolved = merge(state, &mut [(&START.into(), &mut update)], true)
        .map_err(|refused| refused.of_run(0, namespace))?;
    changes.0.retain(|(field, _)| resolved.get(field).is_none());
    changes.0.extend(resolved.0);
    changes.fill(&progress.unknown);
    let schema = graph.initial.schema();
    let ephemeral = |field: &String| schema.fields.iter().any(|f| f.ephemeral && f.name == *field);
    progress.fresh = written.into_iter().filter(ephemeral).collect();
    let first = match goto {
        None => graph.first(&progress.state),
        Some(targets) => {
            let nodes = targets.iter().filter(|target| !target.is_end());
            nodes.map(Target::node).try_for_each(|node| graph.has(node))?;
            graph.first_of(targets)
        }
    };
    progress.frontier = match first {
        Ok(frontier) => graph.not_too_wide(frontier, 0, namespace)?,
        Err(source) => return Err(RunError::node(&START.into(), 0, namespace, source)),
    };
    (progress.turn, progress.at, progress.since) = (turn, turn, now);
    Ok(changes)
}

/// The input of a new turn: its update, and the nodes at which it begins, if they are not those that START leads to.
#[derive(Clone)]
pub(crate) struct NewTurn<U> {
    pub(crate) update: U,
    pub(crate) goto: Option<Vec<Target>>,
}

impl<U> From<U> for NewTurn<U> {
    fn from(update: U) -> Self {
        Self { update, goto: None }
    }
}

/// The input of a thread's run.
pub(crate) enum TurnInput<U> {
    /// A new turn.
    New(NewTurn<U>),
    /// The due tasks continue, with answers and an edit of the state if there are any.
    Continue { answers: Vec<answer::CheckedAnswer>, edit: Option<StateEdit<U>> },
}

/// An edit of the state, and who makes it, if that is known.
pub(crate) struct StateEdit<U> {
    pub(crate) update: U,
    pub(crate) by: Option<Answerer>,
}

impl<U> TurnInput<U> {
    /// The due tasks continue.
    pub(crate) fn resume() -> Self {
        Self::Continue { answers: Vec::new(), edit: None }
    }
}

fn snapshot_policy(opened: &OpenLog) -> SnapshotPolicy {
    let (snapshot, since) = opened.sizes;
    SnapshotPolicy::of(snapshot + since, opened.fold.size())
}

/// A run that is about to take its thread: the thread's state, and the entries with which the run begins.
pub(crate) struct TurnStart<S: State> {
    /// The end of the log.
    pub(crate) tip: Tip,
    /// The time at which the run takes it.
    pub(crate) now: Timestamp,
    /// The epoch with which the run takes it.
    pub(crate) epoch: Epoch,
    pub(crate) snapshots: SnapshotPolicy,
    pub(crate) progress: RunState<S>,
    /// The states of an earlier run's subgraphs.
    pub(crate) runs: BTreeMap<Namespace, RunFold>,
    /// True if that run ended because people are asked, and nothing could continue without them.
    pub(crate) interrupted: bool,
    takeovers: u32,
    /// True if the thread had no turn yet.
    is_new: bool,
    /// The entries with which the run takes the thread.
    pub(crate) first: Vec<(Namespace, Body)>,
    /// Stored fields that are unknown to this build, although it has the same version.
    pub(crate) unknown: Vec<String>,
    /// The position at which a new turn begins.
    pub(crate) began: Option<Position>,
    /// The life from which the ids of the turn's tasks derive, if it is another.
    pub(crate) identity: Option<ThreadLife>,
    /// The labels of the thread, and those while the run is under way.
    pub(crate) labels: Relabel,
}

/// The number of runs in a row that were lost with the due tasks, the last one included. A run of this very process that
/// is gone was dropped and does not count: a caller that hangs up six times has poisoned nothing.
pub(crate) fn takeovers(opened: Option<&OpenLog>, me: &Holder) -> u32 {
    let Some(opened) = opened else { return 0 };
    let Some(root) = opened.fold.run(&Namespace::root()) else { return 0 };
    let dropped = opened.head.claim.as_ref().is_some_and(|claim| claim.holder == *me);
    root.takeovers + u32::from(root.open && !dropped)
}

impl<S: State> TurnStart<S> {
    /// Reads the state from the log, or begins a thread without a log at `new`. A state in another schema is written anew
    /// in this build's.
    pub(crate) fn of<C: Send + Sync + 'static>(
        graph: &Definition<S, C>,
        thread: &ThreadKey,
        opened: Option<OpenLog>,
        new: impl FnOnce() -> Tip,
        me: &Holder,
        now: Timestamp,
    ) -> Result<Self, RunError> {
        let (tip, epoch, snapshots) = opened.as_ref().map_or_else(
            || (new(), Epoch::default(), SnapshotPolicy::of(0, 0)),
            |opened| (Tip::of(&opened.head), opened.head.epoch, snapshot_policy(opened)),
        );
        let initial = &*graph.initial;
        let takeovers = takeovers(opened.as_ref(), me);
        let stored = opened.as_ref().map(|opened| Labels::of(&opened.fold));
        let fold = opened.map(|opened| opened.fold).unwrap_or_default();
        let (mut runs, identity) = (fold.runs, fold.identity);
        let root = runs.remove(&Namespace::root()).unwrap_or_default();
        // An answer between runs leaves no end.
        let interrupted =
            !root.open && root.ended.as_ref().is_none_or(|end| *end == RunEnd::Interrupted);
        let is_new = root.run.is_none() && root.fields.is_empty();
        let Migrated { progress, entries: first, unknown } = if is_new {
            let schema = initial.schema().to_stored().into();
            let state = graph.initial.clone();
            let progress = RunState::beginning(state, Default::default(), schema);
            Migrated { progress, entries: Vec::new(), unknown: Vec::new() }
        } else {
            let place = LogPlace { thread, path: &Namespace::root() };
            graph.owns(place, &root)?;
            migrated(initial, place, root, &mut runs)?
        };
        Ok(Self {
            tip,
            now,
            epoch: epoch.next(now),
            snapshots,
            progress,
            runs,
            interrupted,
            takeovers,
            is_new,
            first,
            unknown,
            began: None,
            identity,
            labels: Relabel { stored, next: None },
        })
    }

    /// Continues from the final state of a run of this process.
    pub(crate) fn cached(cached: CachedThread<S>, graph: &Arc<str>, now: Timestamp) -> Self {
        Self {
            tip: cached.tip,
            now,
            epoch: cached.epoch.next(now),
            snapshots: cached.snapshots,
            progress: RunState::beginning(cached.state, cached.unknown, cached.schema),
            runs: BTreeMap::new(),
            interrupted: false,
            takeovers: 0,
            identity: None,
            is_new: false,
            first: Vec::new(),
            unknown: Vec::new(),
            began: None,
            // Only what is done is remembered.
            labels: Relabel { stored: Some(Labels::done(Some(graph.clone()))), next: None },
        }
    }

    /// Puts the entry with which the thread goes back before the others.
    pub(crate) fn went_back(mut self, entry: Option<(Namespace, Body)>) -> Self {
        self.first.splice(0..0, entry);
        self
    }

    /// The life of `thread` that the run is in.
    fn own(&self, thread: &ThreadKey) -> ThreadLife {
        ThreadLife { thread: thread.clone(), life: self.tip.life }
    }

    /// The life from which the ids of the turn's tasks derive.
    pub(crate) fn identity(&self, thread: &ThreadKey) -> ThreadLife {
        self.identity.clone().unwrap_or_else(|| self.own(thread))
    }

    /// Adds the entries with which the run begins.
    pub(crate) fn begin<C: Send + Sync + 'static>(
        mut self,
        graph: &Definition<S, C>,
        thread: &ThreadKey,
        run: RunId,
        turn_input: TurnInput<S::Update>,
        tags: BTreeMap<String, String>,
    ) -> Result<Self, RunError> {
        let at = Position(self.tip.position.0 + self.first.len() as u64 + 1);
        let mut begin = Begin {
            run,
            epoch: self.epoch,
            parent: None,
            persistence: Persistence::PerCall,
            shared: false,
            input: Changes::default(),
            frontier: None,
            schema: None,
            graph: graph.id(),
            takeovers: self.takeovers,
            tags,
        };
        let (mut answers, mut edited) = (Vec::new(), None);
        match turn_input {
            TurnInput::New(input) => {
                // What was due and pending is over; the state stays, and so do those of subgraphs that outlive a call.
                let RunState { mut state, unknown, schema, .. } = self.progress;
                let initial = &*graph.initial;
                begin.input = match self.is_new {
                    true => first_values(initial)?,
                    false => forget(initial, &mut state)?,
                };
                begin.input.fill(&unknown);
                begin.schema = self.is_new.then(|| schema.clone());
                self.progress = RunState::beginning(state, unknown, schema);
                let (runs, root) = (self.runs.clone(), Namespace::root());
                self.runs.retain(|path, _| outlives(&runs, path, &root));
                let of = &self.own(thread);
                let place = InputPlace { namespace: &root, of, turn: at, now: self.now };
                let input = apply_input(graph, &place, &mut self.progress, input)?;
                begin.input = with_input(begin.input, input);
                begin.frontier = Some(self.progress.frontier.clone());
                self.began = Some(at);
                (self.identity, self.is_new) = (None, false);
            }
            TurnInput::Continue { answers: given, edit } => {
                (answers, edited) = (given, edit);
            }
        }
        let same = |labels: &&Labels| labels.graph.as_ref() == Some(&graph.name);
        let is_done = self.labels.stored.as_ref().filter(same).is_some_and(Labels::is_done);
        self.labels.next = (!is_done).then(|| Labels::running(graph.name.clone()));
        self.first.push((Namespace::root(), Body::Begin(begin)));
        answers.into_iter().for_each(|answer| self.answer(answer));
        if let Some(edit) = edited {
            self.edit(thread, edit)?;
        }
        if self.began.is_none() {
            self.progress.at = Position(self.tip.position.0 + self.first.len() as u64);
        }
        Ok(self)
    }

    /// Adds an edit of the state of the thread's own graph. What is due stays due.
    fn edit(
        &mut self,
        thread: &ThreadKey,
        StateEdit { update, by }: StateEdit<S::Update>,
    ) -> Result<(), RunError> {
        let root = Namespace::root();
        let at = Position(self.tip.position.0 + self.first.len() as u64);
        let of = &self.own(thread);
        let place = EditPlace { of, path: &root, at };
        let changes = merge_edit(&mut self.progress, &place, &EDIT.into(), update)?;
        self.first.push((root, Body::Edit(Edit { changes, by, ..Edit::default() })));
        Ok(())
    }

    /// Adds an answer for the graph that asked.
    fn answer(&mut self, answer: answer::CheckedAnswer) {
        let answer::CheckedAnswer { path, answer } = answer;
        let below = self.runs.get_mut(&path).map(|run| &mut run.records);
        below.unwrap_or(&mut self.progress.records).answer(&answer.id, &answer.value);
        self.first.push((path, Body::Answer(answer)));
    }
}
