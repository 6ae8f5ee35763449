//! The progress of one graph's run.

use std::{collections::BTreeSet, sync::Arc};

use hanok_checkpoint::{Frontier, Goto, RunFold, StepRecords};
use hanok_core::{Changes, Field, Fields, Position, Spent, StoredError, StoredSchema, Timestamp};
use hanok_state::{State, StateUpdate};

use crate::{
    error::{NodeError, RunError, state_error},
    graph::definition::Definition,
    node::command::Target,
    run::plan::{TaskExit, next_frontier},
};

/// The progress of a run.
pub(crate) struct RunState<S: State> {
    pub(crate) state: Arc<S>,
    /// Fields that are unknown to this build, within nested states too. They stay as they are.
    pub(crate) unknown: Fields,
    /// The schema in which the state is stored: this build's, with the unknown fields.
    pub(crate) schema: Arc<StoredSchema>,
    /// Ephemeral fields that the last super-step wrote.
    pub(crate) fresh: BTreeSet<String>,
    pub(crate) frontier: Frontier,
    /// The time at which it was scheduled.
    pub(crate) since: Timestamp,
    /// The position at which the turn begins, from which the ids of tasks derive.
    pub(crate) turn: Position,
    /// The position of the last commit, or of the run's beginning.
    pub(crate) at: Position,
    /// The nodes of the last super-step.
    pub(crate) last: Vec<Arc<str>>,
    /// The records of the tasks that are due.
    pub(crate) records: StepRecords,
    /// True if an earlier run stopped at the breakpoint here, so that this one passes it.
    pub(crate) passed: bool,
    /// The update of a subgraph to the state that it shares with its caller.
    pub(crate) added: Option<S::Update>,
    pub(crate) spent: Spent,
}

impl<S: State> RunState<S> {
    /// The progress of a run, as the log has it.
    pub(crate) fn of(initial: &S, mut run: RunFold) -> Result<Self, RunError> {
        let fresh = fresh(initial, &run.fields).map_err(state_error)?;
        let unknown = initial.schema().unknown(&run.fields);
        let state = initial.load(&mut run.fields).map_err(state_error)?;
        let added = run.shared.then(|| added(&state, &run.added)).transpose()?;
        Ok(Self {
            state: Arc::new(state),
            fresh,
            added,
            unknown,
            schema: run.schema,
            frontier: run.frontier,
            since: run.since,
            turn: run.turn,
            at: Position::START,
            last: run.last,
            records: run.records,
            passed: run.paused,
            spent: run.spent,
        })
    }

    /// The stored form of the state, with the fields that are unknown to this build.
    pub(crate) fn fields(&self) -> Result<Fields, StoredError> {
        fields(&*self.state, &self.unknown)
    }

    /// A run that begins with `state`.
    pub(crate) fn beginning(state: Arc<S>, unknown: Fields, schema: Arc<StoredSchema>) -> Self {
        Self {
            state,
            unknown,
            schema,
            fresh: BTreeSet::new(),
            added: None,
            frontier: Frontier::default(),
            since: Timestamp::default(),
            turn: Position::START,
            at: Position::START,
            last: Vec::new(),
            records: StepRecords::default(),
            passed: false,
            spent: Spent::default(),
        }
    }

    /// Schedules new tasks, and clears the records of the old ones.
    pub(crate) fn scheduled(&mut self, frontier: Frontier, since: Timestamp, last: Vec<Arc<str>>) {
        self.frontier = frontier;
        self.since = since;
        self.last = last;
        self.records.clear();
        self.passed = false;
    }
}

/// The ephemeral fields that differ from their initial value.
fn fresh<S: State>(initial: &S, fields: &Fields) -> Result<BTreeSet<String>, StoredError> {
    let ephemeral = initial.schema().fields.iter().filter(|field| field.ephemeral);
    let ephemeral: Vec<_> = ephemeral.map(|field| field.name.as_ref()).collect();
    if ephemeral.is_empty() {
        return Ok(BTreeSet::new());
    }
    let initial = initial.to_fields()?;
    let value = |fields: &Fields, name: &str| fields.get(name).map(Field::to_stored);
    let held = ephemeral.into_iter().filter(|name| fields.get(name).is_some());
    let fresh = held.filter(|name| value(fields, name) != value(&initial, name));
    Ok(fresh.map(str::to_owned).collect())
}

/// The changes of a subgraph to its caller's state, as one update.
fn added<S: State>(state: &S, written: &[Changes]) -> Result<S::Update, RunError> {
    let failed = |error: hanok_state::ReduceError| RunError::State(error.into());
    written.iter().try_fold(S::update(), |all, changes| {
        let mut update = S::Update::from_changes(changes).map_err(state_error)?;
        state.bind(&"subgraph".into(), &mut update).map_err(failed)?;
        all.then(update).map_err(failed)
    })
}

impl<S: State, C> Definition<S, C> {
    /// The first frontier, from a state with the input.
    pub(crate) fn first(&self, state: &S) -> Result<Frontier, NodeError> {
        let goto = self.targets(&self.start, None, state)?;
        Ok(self.frontier_of(&goto))
    }

    /// The first frontier of a turn that begins at `targets`.
    pub(crate) fn first_of(&self, targets: Vec<Target>) -> Result<Frontier, NodeError> {
        let goto = targets.into_iter().map(|target| self.stored(target));
        Ok(self.frontier_of(&goto.collect::<Result<Vec<_>, _>>()?))
    }

    fn frontier_of(&self, goto: &[Goto]) -> Frontier {
        let exits = std::iter::once(TaskExit { node: crate::names::START, goto });
        let first = next_frontier(&Frontier::default(), exits, self.rules());
        Frontier { step: 0, ..first }
    }
}

/// The stored form of a state, with the fields that are unknown to this build.
pub(crate) fn fields<S: State>(state: &S, unknown: &Fields) -> Result<Fields, StoredError> {
    let mut fields = state.to_fields()?;
    fields.fill(unknown);
    Ok(fields)
}
