//! Outcomes: the ends of a run that is no error.

use std::{collections::BTreeMap, ops::Deref, sync::Arc};

use hanok_checkpoint::{Intent, NOT_MADE, Question, RunEnd};
pub use hanok_core::Limit;
use hanok_core::{Audience, Namespace, RequestId, Stored, StoredError, TaskId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::Value;
use thiserror::Error;

use crate::ids::Digest;

/// The end of a run. Only `Done` ends the turn; every other outcome can be resumed.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, hanok_core::AskError> {
/// #     Ok(Count::update().n(cx.interrupt("how many?").await?))
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// match thread.invoke(Count::update(), ()).await? {
///     Outcome::Done(state) => println!("{}", state.n),
///     Outcome::Interrupted(requests) => assert_eq!(requests[0].payload::<String>()?, "how many?"),
///     other => println!("resume later: {other:?}"),
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome<S> {
    /// The turn is done: no node is due.
    Done(S),
    /// A person is asked. An [answer](crate::Thread::answer) resumes the run.
    Interrupted(Waiting<S>),
    /// The run stopped at a breakpoint. Look at the state, [edit](crate::Thread::edit) it if need be, and resume.
    Breakpoint(Breakpoint<S>),
    /// A lost run left calls in doubt that must not be made twice: it was about to make them, and nobody knows whether it
    /// did. A person settles each with a [`Resolution`]. Other requests of the super-step are listed too.
    InDoubt(Waiting<S>),
    /// The turn reached a limit. Resume with a higher limit, or begin a new turn.
    LimitReached {
        /// The limit.
        which: Limit,
        /// The state of the last commit.
        state: S,
    },
    /// Too many runs in a row were lost with the same tasks under way. Nothing was run; resume with a higher
    /// [`takeover_limit`](crate::Thread::takeover_limit).
    Poisoned(Poisoned),
    /// The run was cancelled, in this state of the last commit. Committed super-steps stay.
    Cancelled(S),
    /// The run was drained: it stopped after the super-step under way, in this state.
    Drained(S),
}

/// The requests that a run waits for, and the state so far. It reads as the list of its requests.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Bill { cents: u32, paid: bool }
/// async fn price(_: Snapshot<Bill>, _: Context) -> Result<BillUpdate, BoxError> {
///     Ok(Bill::update().cents(250))
/// }
/// async fn pay(bill: Snapshot<Bill>, context: Context) -> Result<BillUpdate, BoxError> {
///     Ok(Bill::update().paid(context.interrupt(&format!("pay {}?", bill.cents)).await?))
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Bill>::builder("bill").node("price", price).node("pay", pay).edge(START, "price").edge("price", "pay").edge("pay", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
/// let Outcome::Interrupted(waiting) = thread.invoke(Bill::update(), ()).await? else { panic!() };
/// assert_eq!(waiting.state.cents, 250);
/// assert_eq!((waiting.len(), waiting[0].payload::<String>()?), (1, "pay 250?".to_owned()));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Waiting<S> {
    /// The requests, at least one.
    pub requests: Vec<Pending>,
    /// The state of the last commit of the thread's own graph.
    pub state: S,
    /// The answered requests that are not asked any more: their tasks ask something else now, so those answers count for
    /// nothing.
    pub voided: Vec<Pending>,
}

impl<S> Waiting<S> {
    pub(crate) fn new(requests: Vec<Pending>, state: S) -> Self {
        Self { requests, state, voided: Vec::new() }
    }

    /// The requests.
    pub fn as_slice(&self) -> &[Pending] {
        &self.requests
    }

    fn map<T>(self, change: impl FnOnce(S) -> T) -> Waiting<T> {
        let Self { requests, state, voided } = self;
        Waiting { requests, state: change(state), voided }
    }
}

impl<S> Deref for Waiting<S> {
    type Target = [Pending];

    fn deref(&self) -> &[Pending] {
        &self.requests
    }
}

impl<S> IntoIterator for Waiting<S> {
    type Item = Pending;
    type IntoIter = std::vec::IntoIter<Pending>;

    fn into_iter(self) -> Self::IntoIter {
        self.requests.into_iter()
    }
}

impl<'a, S> IntoIterator for &'a Waiting<S> {
    type Item = &'a Pending;
    type IntoIter = std::slice::Iter<'a, Pending>;

    fn into_iter(self) -> Self::IntoIter {
        self.requests.iter()
    }
}

/// A breakpoint at which a run stopped.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
/// # let graph = graph.interrupt_before(["add"]).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// if let Outcome::Breakpoint(at) = thread.invoke(Count::update(), ()).await? {
///     assert_eq!((at.nodes, at.next), (vec!["add".to_owned()], vec!["add".to_owned()]));
/// }
/// assert_eq!(thread.resume(()).await?.done()?.n, 1);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Breakpoint<S> {
    /// The graph of the nodes: the thread's own (the root), or a subgraph.
    pub path: Namespace,
    /// The nodes that have a breakpoint here.
    pub nodes: Vec<String>,
    /// The nodes that are due next.
    pub next: Vec<String>,
    /// The state of the thread's own graph, for a breakpoint of a subgraph too.
    pub state: S,
}

/// The tasks that were under way when runs were lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poisoned {
    /// The nodes of the tasks.
    pub tasks: Vec<String>,
    /// The number of runs in a row that were lost since the last commit.
    pub takeovers: u32,
}

/// A person's resolution of a call in doubt: [`Thread::settle`](crate::Thread::settle). As JSON it is `{"made": result}`,
/// `"not_made"` or `"give_up"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// The call was made, and this is its result.
    Made(Stored),
    /// The call was not made, so it is made now.
    NotMade,
    /// The call is given up, and the node receives [`StepError::GivenUp`](crate::StepError::GivenUp).
    GiveUp,
}

const MADE: &str = "made";
const GIVE_UP: &str = "give_up";

impl Resolution {
    /// Resolves that the call was made, with its `result`.
    ///
    /// ```
    /// # use hanok_graph::*;
    /// let receipt = Resolution::made(&serde_json::json!({"receipt": 4711}))?;
    /// assert!(matches!(receipt, Resolution::Made(_)));
    /// # Ok::<(), hanok_core::StoredError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the result cannot be stored.
    pub fn made(result: &(impl Serialize + ?Sized)) -> Result<Self, StoredError> {
        Stored::encode(result).map(Self::Made)
    }

    /// The stored form.
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

    /// Reads the form that [`Resolution::to_stored`] writes; `None` for anything else.
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

/// A request that waits for an answer. As JSON, in an event too, it is an object of its fields, with the schema as JSON and not as a
/// text.
///
/// A request that was read from JSON has the payload that JSON holds: bytes have become a text, for example. Its
/// [`digest`](Pending::digest) may differ from that of the request, so a service sends the digest to its clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// The id by which [`Thread::answer`](crate::Thread::answer) names the request.
    pub id: RequestId,
    /// The node that asks.
    pub node: String,
    /// The payload that is shown to the person.
    pub payload: Stored,
    /// The JSON Schema that an answer has to fit, as JSON text, if there is one.
    #[serde(default, serialize_with = "write_schema", deserialize_with = "read_schema")]
    pub schema: Option<Arc<str>>,
    /// The time after which an answer is refused.
    pub deadline: Option<Timestamp>,
    /// The people who may answer.
    #[serde(default)]
    pub audience: Audience,
    /// The graph of the node: the thread's own (the root), or a subgraph.
    #[serde(default)]
    pub path: Namespace,
    /// The call in doubt, if the request is about one. Its answer is a [`Resolution`].
    pub doubt: Option<Doubted>,
}

/// Writes the JSON that a schema's text holds. A text that holds none is written as it is.
fn write_schema<S: Serializer>(schema: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
    let json =
        |text: &Arc<str>| serde_json::from_str(text).unwrap_or_else(|_| Value::from(&**text));
    schema.as_ref().map(json).serialize(to)
}

fn read_schema<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<str>>, D::Error> {
    let text = |json| match json {
        // A text that holds no JSON was written as it is.
        Value::String(text) if serde_json::from_str::<Value>(&text).is_err() => text,
        json => json.to_string(),
    };
    Ok(Option::deserialize(from)?.map(|json| text(json).into()))
}

/// A call that may or may not have been made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubted {
    /// The tool.
    pub tool: String,
    /// The call's idempotency key.
    pub key: String,
    /// The arguments of the tool, as JSON text.
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
    /// The request of a question.
    pub(crate) fn of_question(question: &Question, path: &Namespace) -> Self {
        Self {
            id: RequestId(question.id.as_str().into()),
            node: question.node.clone(),
            payload: question.payload.clone(),
            schema: question.schema.as_deref().map(Into::into),
            deadline: question.deadline,
            audience: question.audience.clone().unwrap_or_default(),
            path: path.clone(),
            doubt: None,
        }
    }

    /// The request of a call in doubt.
    pub(crate) fn of_intent(intent: &Intent, path: &Namespace) -> Self {
        Self {
            id: RequestId(intent.id.as_str().into()),
            node: intent.node.clone(),
            payload: Stored::encode(&intent.arguments).unwrap_or_else(|_| Stored::nil()),
            schema: None,
            deadline: None,
            audience: Audience::everybody(),
            path: path.clone(),
            doubt: Some(Doubted::of(intent)),
        }
    }

    /// The digest of what is asked: of the payload and the schema. An [answer](crate::NewAnswer::shown) that names it counts for
    /// exactly what its giver saw.
    pub fn digest(&self) -> String {
        Digest::new("shown")
            .part(self.payload.as_bytes())
            .part(self.schema.as_deref().unwrap_or_default().as_bytes())
            .hex()
    }

    /// The payload as a `T`.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it has another shape.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, StoredError> {
        self.payload.decode()
    }
}

/// The outcome of a run that is not done, as the error of [`Outcome::done`].
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// The run waits for answers.
    #[error("the run waits for {}: answer with `Thread::reply` or `Thread::answer`", answers(.0.len()))]
    Interrupted(Vec<Pending>),
    /// The run stopped at breakpoints of these nodes.
    #[error("the run stopped at a breakpoint of {}", .0.join(", "))]
    Breakpoint(Vec<String>),
    /// Calls are in doubt.
    #[error("nobody knows whether {} calls were made", .0.iter().filter(|p| p.doubt.is_some()).count())]
    InDoubt(Vec<Pending>),
    /// The turn reached a limit.
    #[error("the turn reached its limit of {}{}", .0, raised(.0))]
    LimitReached(Limit),
    /// Too many runs in a row were lost with the same tasks.
    #[error("{} runs in a row were lost with {}", .0.takeovers, .0.tasks.join(", "))]
    Poisoned(Poisoned),
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// The run was drained.
    #[error("the run was drained")]
    Drained,
}

/// What to do about a limit.
fn raised(limit: &Limit) -> &'static str {
    match limit {
        Limit::Steps(_) => {
            ", over all its runs: if that is no endless loop, raise `recursion_limit` of the graph or of the \
             thread, and `resume` it"
        }
        _ => ": give the turn a larger `budget` and `resume` it",
    }
}

fn answers(count: usize) -> String {
    if count == 1 { "an answer".to_owned() } else { format!("{count} answers") }
}

impl<S> Outcome<S> {
    /// The final state.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let state = graph.invoke(Count::update().n(2), ()).await?.done()?;
    /// assert_eq!(state.n, 3);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unfinished`] when the run ended otherwise.
    pub fn done(self) -> Result<S, Unfinished> {
        match self {
            Self::Done(state) => Ok(state),
            Self::Interrupted(waiting) => Err(Unfinished::Interrupted(waiting.requests)),
            Self::Breakpoint(at) => Err(Unfinished::Breakpoint(at.nodes)),
            Self::InDoubt(waiting) => Err(Unfinished::InDoubt(waiting.requests)),
            Self::LimitReached { which, .. } => Err(Unfinished::LimitReached(which)),
            Self::Poisoned(poisoned) => Err(Unfinished::Poisoned(poisoned)),
            Self::Cancelled(_) => Err(Unfinished::Cancelled),
            Self::Drained(_) => Err(Unfinished::Drained),
        }
    }

    /// Turns each state of the outcome into something else, such as a view of it.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let outcome = graph.invoke(Count::update(), ()).await?.map(|state| state.n);
    /// assert_eq!(outcome.done()?, 1);
    /// # Ok(()) }
    /// ```
    pub fn map<T>(self, change: impl FnOnce(S) -> T) -> Outcome<T> {
        match self {
            Self::Done(state) => Outcome::Done(change(state)),
            Self::Interrupted(waiting) => Outcome::Interrupted(waiting.map(change)),
            Self::Breakpoint(Breakpoint { path, nodes, next, state }) => {
                Outcome::Breakpoint(Breakpoint { path, nodes, next, state: change(state) })
            }
            Self::InDoubt(waiting) => Outcome::InDoubt(waiting.map(change)),
            Self::LimitReached { which, state } => {
                Outcome::LimitReached { which, state: change(state) }
            }
            Self::Poisoned(poisoned) => Outcome::Poisoned(poisoned),
            Self::Cancelled(state) => Outcome::Cancelled(change(state)),
            Self::Drained(state) => Outcome::Drained(change(state)),
        }
    }

    /// The state, as far as the run went; `None` for a poisoned thread, of which nothing was run.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Cancellation, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let stop = Cancellation::default();
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?).drain(stop.clone());
    /// stop.cancel();
    /// let outcome = thread.invoke(Count::update().n(7), ()).await?;
    /// assert!(matches!(outcome, Outcome::Drained(_)));
    /// assert_eq!(outcome.state().map(|state| state.n), Some(7));
    /// # Ok(()) }
    /// ```
    pub fn state(&self) -> Option<&S> {
        match self {
            Self::Done(state) | Self::Cancelled(state) | Self::Drained(state) => Some(state),
            Self::Interrupted(waiting) | Self::InDoubt(waiting) => Some(&waiting.state),
            Self::Breakpoint(at) => Some(&at.state),
            Self::LimitReached { state, .. } => Some(state),
            Self::Poisoned(_) => None,
        }
    }

    /// The outcome's name in the log.
    pub(crate) fn name(&self) -> RunEnd {
        match self {
            Self::Done(_) => RunEnd::Done,
            Self::Interrupted(_) => RunEnd::Interrupted,
            Self::Breakpoint(_) => RunEnd::Breakpoint,
            Self::InDoubt(_) => RunEnd::InDoubt,
            Self::LimitReached { .. } => RunEnd::Limit,
            Self::Poisoned(_) => RunEnd::Poisoned,
            Self::Cancelled(_) => RunEnd::Cancelled,
            Self::Drained(_) => RunEnd::Drained,
        }
    }
}

/// The questions that wait for an answer at `now`. An expired question does not wait once its task has received the
/// expiry: the task is done, or waits for another question.
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
