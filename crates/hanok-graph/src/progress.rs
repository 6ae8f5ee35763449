//! How far a run of one graph has come.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hanok_checkpoint::{Failed, Frontier, Goto, Intent, Question, RunFold, TaskWrite};
use hanok_core::{
    Changes, Field, Fields, Namespace, Position, RequestId, Spent, Stored, StoredError,
    StoredSchema, TaskId, Timestamp,
};
use hanok_state::{State, StateUpdate};

use crate::{
    NodeError, Pending, RunError,
    graph::Inner,
    outcome::Doubted,
    plan::{self, Said},
    task,
};

/// How far a run has come.
pub(crate) struct Progress<S: State> {
    pub(crate) state: Arc<S>,
    /// Fields that this build does not know, within nested states too; they ride along.
    pub(crate) unknown: Fields,
    /// The schema that the state is stored in: this build's, and the fields that it does not know.
    pub(crate) schema: Arc<StoredSchema>,
    /// Ephemeral fields that the last super-step wrote.
    pub(crate) fresh: BTreeSet<String>,
    pub(crate) frontier: Frontier,
    /// When it was scheduled.
    pub(crate) since: Timestamp,
    /// Where the turn begins: the ids of tasks derive from it.
    pub(crate) turn: Position,
    /// The last commit, or where the run began.
    pub(crate) at: Position,
    /// The nodes of the last super-step.
    pub(crate) last: Vec<Arc<str>>,
    pub(crate) pending: BTreeMap<Position, TaskWrite>,
    pub(crate) memos: BTreeMap<(TaskId, String), Stored>,
    pub(crate) intents: BTreeMap<(TaskId, String), Intent>,
    pub(crate) settled: BTreeMap<String, Stored>,
    pub(crate) failures: BTreeMap<TaskId, Failed>,
    pub(crate) questions: Vec<Question>,
    pub(crate) answers: BTreeMap<String, Stored>,
    /// Whether the breakpoint here was come to before, and is passed.
    pub(crate) passed: bool,
    /// What a subgraph that shares its caller's state has added to it.
    pub(crate) added: Option<S::Update>,
    pub(crate) spent: Spent,
}

impl<S: State> Progress<S> {
    /// Where a log says that a run stands.
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
            pending: run.pending,
            memos: run.memos,
            intents: run.intents,
            settled: run.settled,
            failures: run.failures,
            passed: run.paused,
            questions: run.questions,
            answers: run.answers,
            spent: run.spent,
        })
    }

    /// The state as it is stored, with the fields that this build does not know.
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
            pending: BTreeMap::new(),
            memos: BTreeMap::new(),
            intents: BTreeMap::new(),
            settled: BTreeMap::new(),
            failures: BTreeMap::new(),
            passed: false,
            questions: Vec::new(),
            answers: BTreeMap::new(),
            spent: Spent::default(),
        }
    }

    /// Whether the tasks that are due begin afresh: nothing of them is in the log.
    pub(crate) fn is_fresh(&self) -> bool {
        self.pending.is_empty()
            && self.memos.is_empty()
            && self.intents.is_empty()
            && self.settled.is_empty()
            && self.failures.is_empty()
            && self.questions.is_empty()
            && self.answers.is_empty()
    }

    /// New tasks are due; what belonged to the old ones is over.
    pub(crate) fn scheduled(&mut self, frontier: Frontier, since: Timestamp, last: Vec<Arc<str>>) {
        self.frontier = frontier;
        self.since = since;
        self.last = last;
        self.pending.clear();
        self.memos.clear();
        self.intents.clear();
        self.settled.clear();
        self.failures.clear();
        self.questions.clear();
        self.answers.clear();
        self.passed = false;
    }
}

/// The ephemeral fields that hold something else than at first.
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

/// What a subgraph has added to its caller's state, as one update.
fn added<S: State>(state: &S, written: &[Changes]) -> Result<S::Update, RunError> {
    let failed = |error: hanok_state::ReduceError| RunError::State(error.into());
    written.iter().try_fold(S::update(), |all, changes| {
        let mut update = S::Update::from_changes(changes).map_err(state_error)?;
        state.bind(&"subgraph".into(), &mut update).map_err(failed)?;
        all.then(update).map_err(failed)
    })
}

impl<S: State, C> Inner<S, C> {
    /// What is due first, from a state that holds the input.
    pub(crate) fn first(&self, state: &S) -> Result<Frontier, NodeError> {
        let edges = self.start.edges.iter().map(|node| Goto::Node(node.clone()));
        let routed = task::branches(&self.start, state)?.into_iter();
        let routed = routed.map(|target| self.stored(target));
        let goto: Vec<_> = edges.map(Ok).chain(routed).collect::<Result<_, _>>()?;
        let said = std::iter::once(Said { node: crate::START, goto: &goto });
        let begun = plan::next(&Frontier::default(), said, self.rules());
        Ok(Frontier { step: 0, ..begun })
    }
}

/// A state as it is stored, with the fields that this build does not know.
pub(crate) fn fields<S: State>(state: &S, unknown: &Fields) -> Result<Fields, StoredError> {
    let mut fields = state.to_fields()?;
    fields.fill(unknown);
    Ok(fields)
}

/// The questions that wait for an answer at `now`. One whose time is over does not, once its task has been told: it is
/// done, or waits for something else.
pub(crate) fn open_questions<'a>(
    questions: &'a [Question],
    answers: &BTreeMap<String, Stored>,
    is_done: impl Fn(TaskId) -> bool,
    now: Timestamp,
) -> Vec<&'a Question> {
    let open = questions.iter().filter(|question| !answers.contains_key(&question.id));
    let open: Vec<_> = open.filter(|question| !is_done(question.task)).collect();
    let is_over = |question: &Question| question.deadline.is_some_and(|deadline| deadline <= now);
    let others = |of: &Question| open.iter().any(|other| other.task == of.task && !is_over(other));
    open.iter().copied().filter(|question| !(is_over(question) && others(question))).collect()
}

/// A question, as it is handed out.
pub(crate) fn pending(question: &Question, path: &Namespace) -> Pending {
    Pending {
        id: RequestId(question.id.as_str().into()),
        node: question.node.clone(),
        payload: question.payload.clone(),
        schema: question.schema.as_deref().map(Into::into),
        deadline: question.deadline,
        path: path.clone(),
        doubt: None,
    }
}

/// A call in doubt, as a question.
pub(crate) fn in_doubt(intent: &Intent, path: &Namespace) -> Pending {
    Pending {
        id: RequestId(intent.id.as_str().into()),
        node: intent.node.clone(),
        payload: Stored::encode(&intent.arguments).unwrap_or_else(|_| Stored::nil()),
        schema: None,
        deadline: None,
        path: path.clone(),
        doubt: Some(Doubted::of(intent)),
    }
}

pub(crate) fn state_error(error: StoredError) -> RunError {
    RunError::State(error.into())
}
