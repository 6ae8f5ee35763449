//! Events of a run, as its observers see them.

use std::{fmt, sync::Arc, time::Duration};

use hanok_checkpoint::{Body, Edit, Life, Question, RunEnd, StepRecords};
use hanok_core::{
    Answerer, CallInfo, Namespace, Position, RequestId, RunId, Spent, Stored, TaskId, Timestamp,
    Token,
};
use hanok_state::Message;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    observe::{
        any::{AnyState, AnyUpdate, ReadsStored},
        graph_watch::GraphCause,
        tool_event::ToolEvent,
    },
    outcome::Pending,
};

/// One event of a run.
///
/// A *recorded* event tells of an entry of the log and has an [id](EventId); it can be read again at any time. A *live*
/// one is seen only while the run is under way.
///
/// ```
/// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// let mut events = thread.modes([Mode::Tasks]).stream(Input::New(Count::update()), ());
/// while let Some(event) = events.next().await {
///     if let (Some(node), EventKind::TaskStarted { .. }) = (&event.node, &event.kind) {
///         assert_eq!((&**node, event.step, event.attempt), ("add", 0, 1));
///         assert!(event.id.is_none());
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Event {
    /// The graph: the thread's own (the root), or a subgraph.
    pub path: Namespace,
    /// The super-step, counted from 0 in its turn.
    pub step: u32,
    /// The node, if the event is of one node.
    pub node: Option<Arc<str>>,
    /// The task, if the event is of one task.
    pub task: Option<TaskId>,
    /// The number of the task's attempt, counted from 1; 0 for an event that is of no task. Live events of an earlier
    /// attempt are void once a later attempt has one.
    pub attempt: u32,
    /// The call of a model or a tool, if the event is of one: [`EventKind::Token`], [`EventKind::Tool`], and an item that a tool
    /// sent with [`Call::custom`](hanok_core::Call::custom).
    pub call: Option<Arc<CallInfo>>,
    /// The run of the thread's own graph that the event is of. A change between runs is of none.
    pub run: Option<RunId>,
    /// The time of the event: for a recorded one that of its log entry.
    pub time: Timestamp,
    /// The id of a recorded event. A live event, which is never replayed, has none.
    pub id: Option<EventId>,
    /// The place of the event among all events of its thread, recorded and live. `None` in a run that stores nothing.
    pub place: Option<EventPlace>,
    /// The kind of the event, with its data.
    pub kind: EventKind,
}

/// The id of a recorded event: the life of its thread, the position of its entry in the log, and its index among the
/// events of that entry. Ids grow along a life, so a reader has to remember the last one alone.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// thread.invoke(Count::update(), ()).await?;
/// let events = thread.events(None).await?;
/// assert!(events.is_sorted_by_key(|event| event.id));
/// // Reads on after the first one.
/// let first = events[0].id;
/// assert_eq!(thread.events(first).await?.len(), events.len() - 1);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The thread's life.
    pub life: Life,
    /// The position in the log.
    pub position: Position,
    /// The index among the events of the position.
    pub index: u8,
}

impl EventId {
    /// The last id that an event of the entry at `position` can have, for reading on after a state that was read there.
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

hanok_core::text_form! {
    /// Reads what `Display` writes: what a client sends as `Last-Event-ID`.
    ///
    /// ```
    /// # use hanok_graph::EventId;
    /// # use {hanok_checkpoint::Life, hanok_core::Position};
    /// let id = EventId { life: Life::new(7), position: Position(12), index: 2 };
    /// assert_eq!(id.to_string().parse::<EventId>()?, id);
    /// assert_eq!("7".parse::<EventId>().unwrap_err().to_string(), "`7` is no id of an event: it is LIFE.POSITION.INDEX");
    /// # Ok::<(), hanok_graph::InvalidEventId>(())
    /// ```
    EventId: |text| {
        let parsed = || {
            let mut parts = text.split('.');
            let life = parts.next()?.parse().ok()?;
            let (position, index) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let id = Self { life, position: Position(position), index };
            parts.next().is_none().then_some(id)
        };
        parsed().ok_or_else(|| InvalidEventId(text.chars().take(80).collect()))
    } => InvalidEventId;
}

/// A text that is no [`EventId`] and no [`EventPlace`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no id of an event: it is LIFE.POSITION.INDEX")]
pub struct InvalidEventId(String);

/// The place of an event in its thread: that of a recorded event is its id, that of a live one the id of the recorded event before
/// it and the number of live events of the run since the run began. Places grow along a life, so a reader remembers the
/// last one and [follows](crate::Thread::follow) the thread from there.
///
/// ```
/// # use hanok_graph::{EventId, EventPlace};
/// # use {hanok_checkpoint::Life, hanok_core::Position};
/// let id = EventId { life: Life::new(7), position: Position(12), index: 2 };
/// let token = EventPlace { live: 4, ..EventPlace::from(id) };
/// assert!(EventPlace::from(id) < token);
/// assert_eq!(token.to_string(), format!("{id}-4"));
/// assert_eq!(token.to_string().parse::<EventPlace>()?, token);
/// assert_eq!(id.to_string().parse::<EventPlace>()?, id.into());
/// # Ok::<(), hanok_graph::InvalidEventId>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventPlace {
    /// The id of the recorded event: this one, or the last one before a live event.
    pub after: EventId,
    /// 0 for a recorded event; for a live one its number among those of its run, counted from 1.
    pub live: u64,
}

impl From<EventId> for EventPlace {
    fn from(after: EventId) -> Self {
        Self { after, live: 0 }
    }
}

/// `LIFE.POSITION.INDEX` for a recorded event, `LIFE.POSITION.INDEX-NUMBER` for a live one.
impl fmt::Display for EventPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.live {
            0 => self.after.fmt(f),
            live => write!(f, "{}-{live}", self.after),
        }
    }
}

hanok_core::text_form! {
    /// Reads what `Display` writes: what a client sends as `Last-Event-ID`.
    EventPlace: |text| {
        let Some((id, live)) = text.split_once('-') else {
            return text.parse().map(EventId::into);
        };
        let live = live.parse().ok().filter(|live| *live > 0);
        let live = live.ok_or_else(|| InvalidEventId(text.chars().take(80).collect()))?;
        Ok(Self { after: id.parse()?, live })
    } => InvalidEventId;
}

/// The kind of an event, with its data.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// thread.invoke(Count::update(), ()).await?;
/// for event in thread.events(None).await? {
///     match event.kind {
///         EventKind::Updates(update) => println!("{:?}", update.to_changes()?),
///         EventKind::Values(state) => println!("{}", state.get::<Count>()?.n),
///         EventKind::Ended { outcome, .. } => println!("{outcome:?}"),
///         _ => {}
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EventKind {
    /// The state after the input, or after a super-step that changed what the graph shows. Recorded.
    Values(AnyState),
    /// The update of a task. Its messages are whole. Recorded.
    Updates(AnyUpdate),
    /// A super-step was committed. Recorded.
    Checkpoint,
    /// A person is asked. Recorded, except for a call in doubt, which is live.
    Request(Pending),
    /// An answer is void: it does not fit its question, which is open again, or its task asks something else now. Live.
    AnswerVoided {
        /// The question.
        request: Pending,
        /// The reason why the answer is void.
        reason: String,
    },
    /// A question was answered. Recorded. Of a call in doubt that was settled nothing is told.
    Answered {
        /// The question's id.
        request: RequestId,
        /// The answer.
        answer: Stored,
        /// Who answered, if that is known.
        by: Option<Answerer>,
    },
    /// The state was edited. Recorded; the state after it follows as `Values`.
    Edited {
        /// The node in whose place the update was written, if it was written in the place of one.
        node: Option<String>,
        /// The update.
        update: AnyUpdate,
        /// Who edited it, if that is known.
        by: Option<Answerer>,
    },
    /// The thread went back: what was recorded after `to` is not part of it any more. Recorded; the state there follows as
    /// `Values`.
    Rewound {
        /// The position that the thread is at again.
        to: Position,
        /// Who went back, if that is known.
        by: Option<Answerer>,
    },
    /// The run ended, or the input was refused. The last event of every [`Events`](crate::Events). Recorded, except for an input
    /// that was refused and for a run whose store failed.
    Ended {
        /// The name of the outcome.
        outcome: RunEnd,
        /// The error, if there was one.
        error: Option<String>,
        /// The error's [code](crate::RunError::code).
        code: Option<Arc<str>>,
        /// The spending of the turn.
        spent: Spent,
        /// Who cancelled the run, if somebody did who is known.
        by: Option<Answerer>,
    },
    /// A task starts. Live.
    TaskStarted {
        /// The input from a `SendTo`.
        input: Option<Stored>,
    },
    /// A task is done. Live; its update is recorded as `Updates`.
    TaskFinished {
        /// True if a cached result was used and the node did not run.
        cached: bool,
    },
    /// A task asks a person and is suspended. Live.
    TaskInterrupted,
    /// An attempt failed, and another follows. Live.
    TaskRetried {
        /// The error.
        error: String,
        /// The delay before the next attempt.
        delay: Duration,
    },
    /// A task failed for the last time. Live.
    TaskFailed {
        /// The error.
        error: String,
        /// True if its error handler runs now.
        handled: bool,
    },
    /// A subgraph begins, or goes on where an earlier run left it: the graph at the event's path. Live.
    GraphStarted {
        /// The graph's name.
        graph: Arc<str>,
        /// What runs it.
        cause: GraphCause,
    },
    /// A subgraph ended, or stopped for now. Live.
    GraphEnded {
        /// The graph's name.
        graph: Arc<str>,
        /// The name of the outcome; [`RunEnd::Cancelled`] also where nobody waits for the graph any more.
        outcome: RunEnd,
        /// The error, if there was one.
        error: Option<String>,
    },
    /// An item that a node sent with [`Context::custom`](crate::Context::custom), or a tool with
    /// [`Call::custom`](hanok_core::Call::custom). Live.
    Custom(Stored),
    /// A piece of a model's output. Live.
    Token(Token),
    /// A message that a task has written as a whole: one that no model has written token by token. Each message once, by its id,
    /// with the end of its task. Live.
    Message(Message),
    /// What is told of a tool while it runs. Live.
    Tool(ToolEvent),
    /// The state holds fields that are unknown to this build, although its version is the one that wrote them. They stay
    /// as they are. A field that was renamed without an alias looks like this. Live, once per run and graph.
    UnknownFields {
        /// The fields, with those around them: `memories.mood`.
        fields: Vec<String>,
    },
    /// A number of events were dropped because the reader was slow. Recorded ones follow, from the log. Live.
    Lagged(u64),
    /// Dropped events that are recorded cannot be read from the log now. This is the last event of its stream, though the
    /// run continues: read on from the last id that was seen. Live.
    Cut {
        /// The error of the log.
        error: String,
    },
}

/// A kind of events that a stream shows: [`Thread::modes`](crate::Thread::modes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// States: [`EventKind::Values`].
    Values,
    /// Updates of tasks and of people: [`EventKind::Updates`] and [`EventKind::Edited`].
    Updates,
    /// Messages while they are written, [`EventKind::Token`], and those that are written as a whole, [`EventKind::Message`].
    /// All of them are part of their update.
    Messages,
    /// Items of nodes: [`EventKind::Custom`].
    Custom,
    /// The events of tasks: started, finished, interrupted, retried, failed.
    Tasks,
    /// Commits: [`EventKind::Checkpoint`].
    Checkpoints,
    /// Questions: [`EventKind::Request`], [`EventKind::Answered`] and [`EventKind::AnswerVoided`].
    Interrupts,
    /// Subgraphs: [`EventKind::GraphStarted`] and [`EventKind::GraphEnded`].
    Graphs,
    /// Calls of tools: [`EventKind::Tool`].
    Tools,
}

/// A set of modes. `Ended`, `Rewound`, `UnknownFields`, `Lagged` and `Cut` belong to every set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modes(u16);

impl Modes {
    pub(crate) const ALL: Self = Self(u16::MAX);

    pub(crate) fn of(modes: impl IntoIterator<Item = Mode>) -> Self {
        Self(modes.into_iter().fold(0, |set, mode| set | mode.bit()))
    }

    /// The modes of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn bits(self) -> u16 {
        self.0
    }

    pub(crate) fn of_bits(bits: u16) -> Self {
        Self(bits)
    }

    pub(crate) fn has(self, mode: Mode) -> bool {
        self.0 & mode.bit() != 0
    }

    pub(crate) fn take(self, kind: &EventKind) -> bool {
        kind.mode().is_none_or(|mode| self.has(mode))
    }
}

impl Mode {
    fn bit(self) -> u16 {
        match self {
            Self::Values => 1,
            Self::Updates => 2,
            Self::Messages => 4,
            Self::Custom => 8,
            Self::Tasks => 16,
            Self::Checkpoints => 32,
            Self::Interrupts => 64,
            Self::Graphs => 128,
            Self::Tools => 256,
        }
    }
}

impl EventKind {
    /// The mode that shows the kind; `None` for one that is always shown.
    pub(crate) fn mode(&self) -> Option<Mode> {
        Some(match self {
            Self::Values(_) => Mode::Values,
            Self::Updates(_) | Self::Edited { .. } => Mode::Updates,
            Self::Checkpoint => Mode::Checkpoints,
            Self::Request(_) | Self::Answered { .. } | Self::AnswerVoided { .. } => {
                Mode::Interrupts
            }
            Self::TaskStarted { .. }
            | Self::TaskFinished { .. }
            | Self::TaskInterrupted
            | Self::TaskRetried { .. }
            | Self::TaskFailed { .. } => Mode::Tasks,
            Self::GraphStarted { .. } | Self::GraphEnded { .. } => Mode::Graphs,
            Self::Custom(_) => Mode::Custom,
            Self::Token(_) | Self::Message(_) => Mode::Messages,
            Self::Tool(_) => Mode::Tools,
            Self::Ended { .. }
            | Self::Rewound { .. }
            | Self::UnknownFields { .. }
            | Self::Lagged(_)
            | Self::Cut { .. } => return None,
        })
    }

    /// What the entry `body` of a graph with these records, whose state is as `of` knows, says that a person has done: to answer a
    /// question of a task, or to edit. An answer to no question settles a call, and no person need have given it.
    pub(crate) fn by_person(
        body: &Body,
        records: &StepRecords,
        of: Option<Arc<dyn ReadsStored>>,
    ) -> Option<(Option<EventTask>, Self)> {
        match body {
            Body::Answer(answer) => {
                let asked = records.questions.iter().find(|asked| asked.id == answer.id)?;
                let kind = Self::Answered {
                    request: RequestId(answer.id.as_str().into()),
                    answer: answer.value.clone(),
                    by: answer.by.clone(),
                };
                Some((Some(EventTask::of_question(asked)), kind))
            }
            // What only takes a thread from its owner edits nothing.
            Body::Edit(edit) if *edit != Edit::default() => {
                let update = AnyUpdate::stored(edit.changes.clone(), of);
                let (node, by) = (edit.node.clone(), edit.by.clone());
                Some((None, Self::Edited { node, update, by }))
            }
            _ => None,
        }
    }

    /// True for what the log has of every run that stores its work.
    pub(crate) fn is_stored_with_work(&self) -> bool {
        matches!(self, Self::Values(_) | Self::Updates(_) | Self::Checkpoint)
    }

    /// The index of a recorded event among those of its entry, in their order.
    pub(crate) fn index(&self) -> u8 {
        match self {
            Self::Updates(_)
            | Self::Answered { .. }
            | Self::Edited { .. }
            | Self::Rewound { .. } => 0,
            Self::Checkpoint => 1,
            Self::Values(_) => 2,
            Self::Request(_) => 3,
            Self::Ended { .. } => 4,
            _ => u8::MAX,
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
    /// An event of the graph at `path`, recorded if it has a position. The sink sets life, run, time and place.
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
        let (path, call, run, time) = (path.clone(), None, None, Timestamp::default());
        Self { path, step, node, task, attempt, call, run, time, id, place: None, kind }
    }
}
