//! What an observer of a run sees.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use hanok_checkpoint::{Life, Question, RunEnd};
use hanok_core::{Changes, Fields, Namespace, Position, Spent, Stored, StoredError, TaskId, Token};
use hanok_state::{State, StateUpdate};

use crate::outcome::Pending;

/// One thing that happened in a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Event {
    /// Whose it is: the thread's own graph's (the root), or a subgraph's.
    pub path: Namespace,
    /// The super-step, counted from 0 in its turn.
    pub step: u32,
    /// The node, where it is one node's.
    pub node: Option<Arc<str>>,
    /// The task, where it is one task's.
    pub task: Option<TaskId>,
    /// Which attempt of the task it is, counted from 1; 0 where it is no task's. What an earlier attempt sent live is void
    /// once a later one's is there.
    pub attempt: u32,
    /// The event's number in its run, counted from 0: a gap shows what was dropped. A replayed event has none.
    pub sequence: Option<u64>,
    /// Names a recorded event; nothing for a live one, which is never replayed.
    pub id: Option<EventId>,
    /// What happened.
    pub kind: EventKind,
}

/// Names a recorded event: the life of its thread, the entry of the log that it tells of, and which of that entry's events it
/// is. Ids grow along a life, so the last one seen is all that a reader has to remember.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The thread's life.
    pub life: Life,
    /// The position in the log.
    pub position: Position,
    /// Which of the position's events.
    pub index: u8,
}

impl EventId {
    /// The id of the last event that the entry at `position` can have: to go on after a state that was read there.
    pub fn last_of(life: Life, position: Position) -> Self {
        Self { life, position, index: u8::MAX }
    }
}

/// `LIFE.POSITION.INDEX`, the life in hexadecimal digits.
impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.life, self.position.0, self.index)
    }
}

/// What happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EventKind {
    /// The state after the input, or after a super-step that changed what the graph shows. Recorded.
    Values(AnyState),
    /// What a task wrote. Messages in it are whole. Recorded.
    Updates(AnyUpdate),
    /// A super-step was committed. Recorded.
    Checkpoint,
    /// A person is asked. Recorded, but for a doubt about a call, which is told live.
    Request(Pending),
    /// An answer does not count: it does not fit its question, which is open again, or its task asks something else now. Live.
    AnswerVoided {
        /// The question.
        request: Pending,
        /// Why the answer does not count.
        reason: String,
    },
    /// The run ended. Recorded, but for a run whose store failed.
    Ended {
        /// How.
        outcome: RunEnd,
        /// What went wrong, if something did.
        error: Option<String>,
        /// What the turn has spent.
        spent: Spent,
    },
    /// A task starts. Live.
    TaskStarted {
        /// What a `SendTo` gave it.
        input: Option<Stored>,
    },
    /// A task is done. Live: what it wrote is recorded as its `Updates`.
    TaskFinished {
        /// Whether a kept result was used and the node did not run.
        cached: bool,
    },
    /// A task asks a person and is suspended. Live.
    TaskInterrupted,
    /// An attempt failed, and another follows. Live.
    TaskRetried {
        /// Why it failed.
        error: String,
        /// How long it waits.
        delay: Duration,
    },
    /// A task failed for the last time. Live.
    TaskFailed {
        /// Why.
        error: String,
        /// Whether its error handler runs now.
        handled: bool,
    },
    /// What a node sent with [`Context::custom`](crate::Context::custom). Live.
    Custom(Stored),
    /// A piece of what a model writes. Live.
    Token(Token),
    /// The state holds fields that this build does not know, although it has the version that wrote them. They ride along.
    /// A field that was renamed without an alias looks like this. Live, once per run and graph.
    UnknownFields {
        /// The fields, with those around them: `memories.mood`.
        fields: Vec<String>,
    },
    /// So many events were dropped because nobody read them. Recorded ones follow, from the log. Live.
    Lagged(u64),
    /// Recorded events that were dropped cannot be read from the log now. It is the last event of its stream, though the run goes
    /// on: read on from the last id that was seen. Live.
    Cut {
        /// Why they cannot be read.
        error: String,
    },
}

/// A kind of events to observe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Mode {
    /// [`EventKind::Values`].
    Values,
    /// [`EventKind::Updates`].
    Updates,
    /// [`EventKind::Token`]: messages while they are written. Whole ones come with their update.
    Messages,
    /// [`EventKind::Custom`].
    Custom,
    /// The events of tasks: started, finished, interrupted, retried, failed.
    Tasks,
    /// [`EventKind::Checkpoint`].
    Checkpoints,
    /// [`EventKind::Request`] and [`EventKind::AnswerVoided`].
    Interrupts,
}

/// A set of modes. An end, unknown fields and a lag belong to every one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modes(u8);

impl Modes {
    pub(crate) const ALL: Self = Self(u8::MAX);

    pub(crate) fn of(modes: impl IntoIterator<Item = Mode>) -> Self {
        Self(modes.into_iter().fold(0, |set, mode| set | mode.bit()))
    }

    pub(crate) fn has(self, mode: Mode) -> bool {
        self.0 & mode.bit() != 0
    }

    pub(crate) fn take(self, kind: &EventKind) -> bool {
        kind.mode().is_none_or(|mode| self.has(mode))
    }
}

impl Mode {
    fn bit(self) -> u8 {
        match self {
            Self::Values => 1,
            Self::Updates => 2,
            Self::Messages => 4,
            Self::Custom => 8,
            Self::Tasks => 16,
            Self::Checkpoints => 32,
            Self::Interrupts => 64,
        }
    }
}

impl EventKind {
    fn mode(&self) -> Option<Mode> {
        Some(match self {
            Self::Values(_) => Mode::Values,
            Self::Updates(_) => Mode::Updates,
            Self::Checkpoint => Mode::Checkpoints,
            Self::Request(_) | Self::AnswerVoided { .. } => Mode::Interrupts,
            Self::TaskStarted { .. }
            | Self::TaskFinished { .. }
            | Self::TaskInterrupted
            | Self::TaskRetried { .. }
            | Self::TaskFailed { .. } => Mode::Tasks,
            Self::Custom(_) => Mode::Custom,
            Self::Token(_) => Mode::Messages,
            Self::Ended { .. }
            | Self::UnknownFields { .. }
            | Self::Lagged(_)
            | Self::Cut { .. } => return None,
        })
    }

    /// Which of its entry's events a recorded one is, in the order in which they are told.
    pub(crate) fn index(&self) -> u8 {
        match self {
            Self::Updates(_) => 0,
            Self::Checkpoint => 1,
            Self::Values(_) => 2,
            Self::Request(_) => 3,
            Self::Ended { .. } => 4,
            _ => u8::MAX,
        }
    }
}

/// A state of any type: as it is, or as it was stored.
#[derive(Clone)]
pub struct AnyState(Arc<dyn ErasedState>);

trait ErasedState: Any + Send + Sync {
    fn fields(&self) -> Result<Fields, StoredError>;
    fn any(&self) -> &(dyn Any + Send + Sync);
}

struct Shared<S>(Arc<S>);

impl ErasedState for Fields {
    fn fields(&self) -> Result<Fields, StoredError> {
        Ok(self.clone())
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

impl<S: State> ErasedState for Shared<S> {
    fn fields(&self) -> Result<Fields, StoredError> {
        self.0.to_fields()
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        &*self.0
    }
}

impl AnyState {
    pub(crate) fn new<S: State>(state: &Arc<S>) -> Self {
        Self(Arc::new(Shared(state.clone())))
    }

    /// A state as it was stored.
    pub(crate) fn stored(fields: Fields) -> Self {
        Self(Arc::new(fields))
    }

    /// How many bytes the state has, if it is as it was stored.
    pub(crate) fn size(&self) -> usize {
        self.0.any().downcast_ref().map_or(0, Fields::size)
    }

    /// The state, if it is an `S` and not only the stored form of one.
    pub fn downcast_ref<S: State>(&self) -> Option<&S> {
        self.0.any().downcast_ref()
    }

    /// The state as an `S`, which it is or was stored as.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    pub fn get<S: State>(&self) -> Result<S, StoredError> {
        match self.downcast_ref::<S>() {
            Some(state) => Ok(state.clone()),
            None => S::default().load(&mut self.to_fields()?),
        }
    }

    /// The state as it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field's `Serialize` fails.
    pub fn to_fields(&self) -> Result<Fields, StoredError> {
        self.0.fields()
    }
}

impl fmt::Debug for AnyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_fields() {
            Ok(fields) => write!(f, "{fields}"),
            Err(error) => write!(f, "({error})"),
        }
    }
}

/// An update of any type.
#[derive(Clone)]
pub struct AnyUpdate(Arc<dyn ErasedUpdate>);

trait ErasedUpdate: Any + Send + Sync {
    fn changes(&self) -> Result<Changes, StoredError>;
    fn any(&self) -> &(dyn Any + Send + Sync);
}

struct Update<U>(U);

impl ErasedUpdate for Changes {
    fn changes(&self) -> Result<Changes, StoredError> {
        Ok(self.clone())
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

impl<U: StateUpdate> ErasedUpdate for Update<U> {
    fn changes(&self) -> Result<Changes, StoredError> {
        self.0.to_changes()
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        &self.0
    }
}

impl AnyUpdate {
    pub(crate) fn new<U: StateUpdate>(update: U) -> Self {
        Self(Arc::new(Update(update)))
    }

    /// An update as it was stored.
    pub(crate) fn stored(changes: Changes) -> Self {
        Self(Arc::new(changes))
    }

    /// The update, if it is a `U` and not only the stored form of one.
    pub fn downcast_ref<U: StateUpdate>(&self) -> Option<&U> {
        self.0.any().downcast_ref()
    }

    /// The update as a `U`, which it is or was stored as.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    pub fn get<U: StateUpdate>(&self) -> Result<U, StoredError> {
        match self.downcast_ref::<U>() {
            Some(update) => Ok(update.clone()),
            None => U::from_changes(&self.to_changes()?),
        }
    }

    /// The update as it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a value's `Serialize` fails.
    pub fn to_changes(&self) -> Result<Changes, StoredError> {
        self.0.changes()
    }
}

impl fmt::Debug for AnyUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_changes() {
            Ok(changes) => f.debug_tuple("AnyUpdate").field(&changes).finish(),
            Err(error) => write!(f, "({error})"),
        }
    }
}

/// The task of an event, and its attempt.
#[derive(Clone)]
pub(crate) struct EventTask {
    pub(crate) node: Arc<str>,
    pub(crate) id: TaskId,
    pub(crate) attempt: u32,
}

impl EventTask {
    /// The task of a question.
    pub(crate) fn of_question(question: &Question) -> Self {
        Self { node: question.node.as_str().into(), id: question.task, attempt: 1 }
    }
}

impl Event {
    /// An event of the graph at `path`; with a position it is recorded. Whoever emits it fills in the thread's life.
    pub(crate) fn new(
        path: &Namespace,
        step: u32,
        task: Option<EventTask>,
        position: Option<Position>,
        kind: EventKind,
    ) -> Self {
        let (node, task, attempt) = match task {
            Some(EventTask { node, id, attempt }) => (Some(node), Some(id), attempt),
            None => (None, None, 0),
        };
        let id = position.map(|position| EventId {
            life: Life::default(),
            position,
            index: kind.index(),
        });
        Self { path: path.clone(), step, node, task, attempt, sequence: None, id, kind }
    }
}
