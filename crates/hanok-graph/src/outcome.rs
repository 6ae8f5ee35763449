//! How a run ends when nothing went wrong.

use std::{collections::BTreeMap, sync::Arc};

use hanok_checkpoint::{Intent, NOT_MADE, Question, RunEnd};
pub use hanok_core::Limit;
use hanok_core::{Namespace, RequestId, Stored, StoredError, TaskId, Timestamp};
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

/// How a run ended. Only `Done` is an end; the others can be resumed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome<S> {
    /// Nothing is left to do.
    Done(S),
    /// A person is asked; the run goes on with the answer.
    Interrupted(Vec<Pending>),
    /// The run came to a breakpoint: look, edit the state if need be, and resume.
    Breakpoint(Breakpoint<S>),
    /// Calls that must not be made twice were about to be made when a run was lost, and nobody knows whether they were.
    /// A person says so, as a [`Resolution`]; other requests of the super-step are listed too.
    InDoubt(Vec<Pending>),
    /// A limit of the turn was reached. The state is what was committed; resume with a higher limit, or say something new.
    LimitReached {
        /// Which limit.
        which: Limit,
        /// The state so far.
        state: S,
    },
    /// The same tasks were under way each time a run was lost, too often. Nothing was run; resume with a higher
    /// [`takeover_limit`](crate::Thread::takeover_limit).
    Poisoned(Poisoned),
    /// It was asked to stop. What was committed stays.
    Cancelled,
    /// It was asked to stop after the super-step that was under way, and did. Resume goes on.
    Drained,
}

/// Where a run came to a breakpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakpoint<S> {
    /// Whose nodes they are: the thread's own graph's (the root), or a subgraph's.
    pub path: Namespace,
    /// The nodes that have a breakpoint here.
    pub nodes: Vec<String>,
    /// What is due next.
    pub next: Vec<String>,
    /// The state; of a subgraph's breakpoint, the state of the thread's own graph.
    pub state: S,
}

/// Tasks that runs were lost with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Poisoned {
    /// The nodes of the tasks that were under way.
    pub tasks: Vec<String>,
    /// How many runs in a row were lost since the last commit.
    pub takeovers: u32,
}

/// What a person says of a call that is in doubt: [`Thread::settle`](crate::Thread::settle). As JSON it is
/// `{"made": result}`, `"not_made"` or `"give_up"`.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution {
    /// It was made, and gave this.
    Made(Stored),
    /// It was not made: it is made now.
    NotMade,
    /// It is given up: the node is told.
    GiveUp,
}

const MADE: &str = "made";
const GIVE_UP: &str = "give_up";

impl Resolution {
    /// It was made, and gave `result`.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the result cannot be stored.
    pub fn made(result: &(impl Serialize + ?Sized)) -> Result<Self, StoredError> {
        Stored::encode(result).map(Self::Made)
    }

    /// As it is stored.
    pub(crate) fn to_stored(&self) -> Result<Stored, StoredError> {
        match self {
            Self::Made(result) => {
                let key = Stored::encode(MADE)?;
                Ok(Stored::map([(&key, result)].into_iter()))
            }
            Self::NotMade => Stored::encode(NOT_MADE),
            Self::GiveUp => Stored::encode(GIVE_UP),
        }
    }

    /// Reads what [`Resolution::to_stored`] wrote; `None` for anything else.
    pub(crate) fn read(stored: &Stored) -> Option<Self> {
        match stored.as_str() {
            Ok(NOT_MADE) => return Some(Self::NotMade),
            Ok(GIVE_UP) => return Some(Self::GiveUp),
            _ => {}
        }
        match stored.to_entries().ok()?.as_slice() {
            [(key, result)] if matches!(key.as_str(), Ok(MADE)) => Some(Self::Made(result.clone())),
            _ => None,
        }
    }
}

/// A request that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Names it, for the answer.
    pub id: RequestId,
    /// The node that asks.
    pub node: String,
    /// What it shows.
    pub payload: Stored,
    /// The JSON Schema that an answer has to fit, as JSON text, if there is one.
    pub schema: Option<Arc<str>>,
    /// Until when an answer counts.
    pub deadline: Option<Timestamp>,
    /// Whose question it is: the thread's own graph's (the root), or a subgraph's.
    pub path: Namespace,
    /// The call that is in doubt, if that is the question; the answer is a [`Resolution`].
    pub doubt: Option<Doubted>,
}

/// A call that may or may not have been made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubted {
    /// The tool.
    pub tool: String,
    /// The call's idempotency key.
    pub key: String,
    /// What the tool was given, as JSON text.
    pub arguments: String,
}

impl Doubted {
    pub(crate) fn of(intent: &Intent) -> Self {
        Self {
            tool: intent.tool.clone(),
            key: intent.key.clone(),
            arguments: intent.arguments.clone(),
        }
    }
}

impl Pending {
    /// The request that a question is.
    pub(crate) fn of_question(question: &Question, path: &Namespace) -> Self {
        Self {
            id: RequestId(question.id.as_str().into()),
            node: question.node.clone(),
            payload: question.payload.clone(),
            schema: question.schema.as_deref().map(Into::into),
            deadline: question.deadline,
            path: path.clone(),
            doubt: None,
        }
    }

    /// The request that a call in doubt is.
    pub(crate) fn of_intent(intent: &Intent, path: &Namespace) -> Self {
        Self {
            id: RequestId(intent.id.as_str().into()),
            node: intent.node.clone(),
            payload: Stored::encode(&intent.arguments).unwrap_or_else(|_| Stored::nil()),
            schema: None,
            deadline: None,
            path: path.clone(),
            doubt: Some(Doubted::of(intent)),
        }
    }

    /// What the request shows, as a `T`.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it has another shape.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, StoredError> {
        self.payload.decode()
    }
}

/// A run that ended otherwise than done, for callers that expect nothing else.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// A person is asked.
    #[error("the run waits for {} answers", .0.len())]
    Interrupted(Vec<Pending>),
    /// It came to a breakpoint.
    #[error("the run stopped at a breakpoint of {}", .0.join(", "))]
    Breakpoint(Vec<String>),
    /// Nobody knows whether a call was made.
    #[error("nobody knows whether {} calls were made", .0.iter().filter(|p| p.doubt.is_some()).count())]
    InDoubt(Vec<Pending>),
    /// A limit was reached.
    #[error("the turn reached its limit of {0}")]
    LimitReached(Limit),
    /// Runs were lost with the same tasks too often.
    #[error("{} runs in a row were lost with {}", .0.takeovers, .0.tasks.join(", "))]
    Poisoned(Poisoned),
    /// It was asked to stop.
    #[error("the run was cancelled")]
    Cancelled,
    /// It was asked to stop after a super-step.
    #[error("the run was drained")]
    Drained,
}

impl<S> Outcome<S> {
    /// The final state.
    ///
    /// # Errors
    ///
    /// [`Unfinished`] when the run ended otherwise.
    pub fn done(self) -> Result<S, Unfinished> {
        match self {
            Self::Done(state) => Ok(state),
            Self::Interrupted(requests) => Err(Unfinished::Interrupted(requests)),
            Self::Breakpoint(at) => Err(Unfinished::Breakpoint(at.nodes)),
            Self::InDoubt(requests) => Err(Unfinished::InDoubt(requests)),
            Self::LimitReached { which, .. } => Err(Unfinished::LimitReached(which)),
            Self::Poisoned(poisoned) => Err(Unfinished::Poisoned(poisoned)),
            Self::Cancelled => Err(Unfinished::Cancelled),
            Self::Drained => Err(Unfinished::Drained),
        }
    }

    /// The same outcome with each state turned into something else, such as a view of it.
    pub fn map<T>(self, change: impl FnOnce(S) -> T) -> Outcome<T> {
        match self {
            Self::Done(state) => Outcome::Done(change(state)),
            Self::Interrupted(requests) => Outcome::Interrupted(requests),
            Self::Breakpoint(Breakpoint { path, nodes, next, state }) => {
                Outcome::Breakpoint(Breakpoint { path, nodes, next, state: change(state) })
            }
            Self::InDoubt(requests) => Outcome::InDoubt(requests),
            Self::LimitReached { which, state } => {
                Outcome::LimitReached { which, state: change(state) }
            }
            Self::Poisoned(poisoned) => Outcome::Poisoned(poisoned),
            Self::Cancelled => Outcome::Cancelled,
            Self::Drained => Outcome::Drained,
        }
    }

    /// The outcome's name as a log says it.
    pub(crate) fn name(&self) -> RunEnd {
        match self {
            Self::Done(_) => RunEnd::Done,
            Self::Interrupted(_) => RunEnd::Interrupted,
            Self::Breakpoint(_) => RunEnd::Breakpoint,
            Self::InDoubt(_) => RunEnd::InDoubt,
            Self::LimitReached { .. } => RunEnd::Limit,
            Self::Poisoned(_) => RunEnd::Poisoned,
            Self::Cancelled => RunEnd::Cancelled,
            Self::Drained => RunEnd::Drained,
        }
    }
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
