//! Commands: the updates of a node, and its targets.

use std::{any::TypeId, fmt, sync::Arc, time::Duration};

use hanok_checkpoint::SendLimits;
use hanok_core::{BoxError, Changes, Stored};
use hanok_state::{ReduceError, State, StateUpdate};
use serde::{Deserialize, Deserializer, Serialize};

use crate::names::END;

/// The target of a router or a command.
///
/// ```
/// # use hanok_graph::*;
/// assert!(matches!(Target::from("search"), Target::Node(name) if &*name == "search"));
/// assert!(matches!(Target::from(SendTo::new("search", &"hanok")), Target::Send(_)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A node, or [`END`].
    Node(Arc<str>),
    /// A node with an input of its own.
    Send(SendTo),
}

/// A task of a node with an input of its own. Several `SendTo`s to one node are several tasks.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_state::List};
/// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
/// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// async fn read(_: Snapshot<Log>, path: Sent<String>, _: Context) -> Result<LogUpdate, std::io::Error> {
///     Ok(Log::update().push_lines(format!("read {}", *path)))
/// }
///
/// let graph = Graph::<Log>::builder("files").node("read", read).edge("read", END);
/// let files = |_: &Log| ["a.txt", "b.txt"].map(|path| SendTo::new("read", &path.to_owned())).to_vec();
/// let graph = graph.branch(START, files, ["read"]).build()?;
/// let state = graph.invoke(Log::update(), ()).await?.done()?;
/// assert_eq!(state.lines.iter().collect::<Vec<_>>(), ["read a.txt", "read b.txt"]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SendTo {
    pub(crate) node: Arc<str>,
    pub(crate) input: Result<Stored, String>,
    /// The type of the input, until it is checked.
    pub(crate) kind: Option<Kind>,
    pub(crate) limits: SendLimits,
}

/// A type and its name for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

impl Kind {
    pub(crate) fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>() }
    }
}

impl SendTo {
    /// A task of `node` with `input`, which the node reads as its [`Sent<T>`](Sent) or by
    /// [`Context::input`](crate::Context::input).
    ///
    /// A node that takes a `Sent` of another type refuses the input, and the sending task fails.
    pub fn new<T: Serialize + 'static>(node: &str, input: &T) -> Self {
        let kind = Some(Kind::of::<T>());
        let input = Stored::encode(input).map_err(|error| error.to_string());
        Self { node: node.into(), input, kind, limits: SendLimits::default() }
    }
}

impl SendTo {
    /// Limits the time of an attempt of this task, in place of the node's [`timeout`](crate::NodeExt::timeout). Default: the
    /// node's.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*};
    /// // A large page may take longer than the others.
    /// let sends: Vec<_> = [("small", 1), ("large", 60)]
    ///     .map(|(page, seconds)| SendTo::new("load", &page).timeout(Duration::from_secs(seconds)))
    ///     .into();
    /// ```
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        let limits = SendLimits { timeout: Some(millis(timeout)), ..self.limits };
        Self { limits, ..self }
    }

    /// Limits the silence of an attempt of this task, in place of the node's [`idle_timeout`](crate::NodeExt::idle_timeout).
    /// Default: the node's.
    #[must_use]
    pub fn idle_timeout(self, idle: Duration) -> Self {
        let limits = SendLimits { idle_timeout: Some(millis(idle)), ..self.limits };
        Self { limits, ..self }
    }

    /// A task of `node` with a stored input, whose type was checked when it was sent.
    pub(crate) fn stored(node: &str, input: Stored) -> Self {
        Self { node: node.into(), input: Ok(input), kind: None, limits: SendLimits::default() }
    }
}

/// The input of a [`SendTo`]: the second parameter of a node that runs for `SendTo`s alone.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Default)] struct Count { n: u32 }
/// async fn grade(_: Snapshot<Count>, Sent(page): Sent<String>, _: Context) -> Result<(), BoxError> {
///     println!("grading {page}");
///     Ok(())
/// }
/// let graph = Graph::<Count>::builder("grades").node("grade", grade).edge("grade", END);
/// let graph = graph.branch(START, |_: &Count| SendTo::new("grade", &"a page".to_owned()), ["grade"]).build()?;
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent<T>(pub T);

impl<T> std::ops::Deref for Sent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A time-out as it is stored: whole milliseconds, and at least one.
fn millis(timeout: Duration) -> u64 {
    u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).max(1)
}

impl From<&str> for Target {
    fn from(node: &str) -> Self {
        Self::Node(node.into())
    }
}

impl From<String> for Target {
    fn from(node: String) -> Self {
        Self::Node(node.into())
    }
}

impl From<SendTo> for Target {
    fn from(send: SendTo) -> Self {
        Self::Send(send)
    }
}

/// A client writes the name of a node, or an object of `node` and `input`.
impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "a target is the name of a node, or an object of `node` and `input`"
        )]
        enum Written {
            Node(String),
            Send { node: String, input: Stored },
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Node(node) => Self::Node(node.into()),
            Written::Send { node, input } => Self::Send(SendTo::stored(&node, input)),
        })
    }
}

impl Target {
    /// The name of the node.
    pub(crate) fn node(&self) -> &Arc<str> {
        match self {
            Self::Node(node) | Self::Send(SendTo { node, .. }) => node,
        }
    }

    pub(crate) fn is_end(&self) -> bool {
        self.node().as_ref() == END
    }
}

/// The return of a router: a target, several, or an error.
#[diagnostic::on_unimplemented(
    message = "a router does not return `{Self}`",
    note = "a router is a `Fn(&S) -> …` that returns a node's name, `END`, a `SendTo`, a `Target`, a `Vec` of one of them, or a `Result` of that"
)]
pub trait IntoTargets {
    /// Converts into the targets.
    ///
    /// # Errors
    ///
    /// The error of the router.
    fn into_targets(self) -> Result<Vec<Target>, BoxError>;
}

macro_rules! one_target {
    ($($kind:ty),*) => {
        $(impl IntoTargets for $kind {
            fn into_targets(self) -> Result<Vec<Target>, BoxError> {
                Ok(vec![self.into()])
            }
        })*
    };
}

one_target!(&str, String, SendTo, Target);

impl<T: Into<Target>> IntoTargets for Vec<T> {
    fn into_targets(self) -> Result<Vec<Target>, BoxError> {
        Ok(self.into_iter().map(Into::into).collect())
    }
}

impl<T: IntoTargets, E: Into<BoxError>> IntoTargets for Result<T, E> {
    fn into_targets(self) -> Result<Vec<Target>, BoxError> {
        self.map_err(Into::into)?.into_targets()
    }
}

/// An update and targets: the return of a node that chooses where the run continues.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Default)] struct Count { n: u32 }
/// async fn count(state: Snapshot<Count>, _: Context) -> Result<Command<Count>, std::io::Error> {
///     let target = if state.n < 2 { "count" } else { END };
///     Ok(Command::new().update(Count::update().n(state.n + 1)).goto(target))
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = Graph::<Count>::builder("count").node("count", count.goto(["count", END]));
/// let graph = graph.edge(START, "count").build()?;
/// assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 3);
/// # Ok(()) }
/// ```
#[must_use]
pub struct Command<S: State> {
    /// The update, boxed: it has room for a write to every field, and moves from one part of the engine to the next.
    pub(crate) update: Box<S::Update>,
    pub(crate) goto: Vec<Target>,
    /// True if the node's own edges do not fire.
    pub(crate) only: bool,
    /// The command to the calling graph.
    pub(crate) parent: Option<Box<ToParent>>,
}

/// A command to the calling graph as data, since the caller may have any state.
#[derive(Debug, Clone)]
pub(crate) struct ToParent {
    pub(crate) changes: Result<Changes, String>,
    pub(crate) goto: Vec<Target>,
    pub(crate) only: bool,
    /// The command of that graph to its own caller.
    pub(crate) parent: Option<Box<ToParent>>,
}

impl ToParent {
    /// The same command, after `changes`.
    pub(crate) fn after(self, changes: Changes) -> Self {
        let both = |own: Changes| Changes(changes.0.into_iter().chain(own.0).collect());
        Self { changes: self.changes.map(both), ..self }
    }

    /// Joins two commands, one after the other.
    pub(crate) fn then(self, after: Self) -> Self {
        let changes = match (self.changes, after.changes) {
            (Ok(first), Ok(then)) => Ok(Changes(first.0.into_iter().chain(then.0).collect())),
            (Err(reason), _) | (_, Err(reason)) => Err(reason),
        };
        Self {
            changes,
            goto: self.goto.into_iter().chain(after.goto).collect(),
            only: self.only || after.only,
            parent: both(self.parent, after.parent),
        }
    }
}

fn both(first: Option<Box<ToParent>>, then: Option<Box<ToParent>>) -> Option<Box<ToParent>> {
    match (first, then) {
        (Some(first), Some(then)) => Some(Box::new(first.then(*then))),
        (first, then) => first.or(then),
    }
}

impl<S: State> Command<S> {
    /// The update alone: the targets are left out.
    #[must_use]
    pub fn into_update(self) -> S::Update {
        *self.update
    }

    /// A command that writes nothing and follows the node's own edges.
    pub fn new() -> Self {
        Self::of(S::update())
    }

    fn of(update: S::Update) -> Self {
        Self { update: Box::new(update), goto: Vec::new(), only: false, parent: None }
    }

    /// Sets the update.
    pub fn update(mut self, update: S::Update) -> Self {
        *self.update = update;
        self
    }

    /// Adds `target` to the targets. The node's own edges fire as well, unless the command is [`only`](Command::only).
    /// The node declares the target with [`NodeExt::goto`](crate::NodeExt::goto).
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Count { n: u32 }
    /// // Two tasks of `search`, each with an input, and one of `answer`.
    /// let command = Command::<Count>::new()
    ///     .goto(SendTo::new("search", &"seoul"))
    ///     .goto(SendTo::new("search", &"busan"))
    ///     .goto("answer");
    /// # drop(command);
    /// ```
    pub fn goto(mut self, target: impl Into<Target>) -> Self {
        self.goto.push(target.into());
        self
    }

    /// Follows the targets of this command alone: the node's own edges, branches and joins do not fire. Without a `goto`
    /// the path ends.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn stop(_: Snapshot<Log>, _: Context) -> Result<Command<Log>, std::io::Error> {
    ///     Ok(Command::new().only())
    /// }
    /// let graph = Graph::<Log>::builder("stop").node("stop", stop).node("next", work);
    /// let graph = graph.edge(START, "stop").edge("stop", "next").edge("next", END).build()?;
    /// assert!(graph.invoke(Log::update(), ()).await?.done()?.lines.is_empty());
    /// # Ok(()) }
    /// ```
    pub fn only(self) -> Self {
        Self { only: true, ..self }
    }

    /// Ends this graph after the super-step, and makes the calling node return `command`. That command may have a parent
    /// command in turn. The updates of this graph to a state that it shares with its caller are written before it.
    ///
    /// In the thread's own graph, which has no caller, the task fails.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn hand_off(_: Snapshot<Log>, _: Context) -> Result<Command<Log>, std::io::Error> {
    ///     Ok(Command::new().parent(Command::<Log>::new().goto("human")))
    /// }
    /// let agent = Graph::<Log>::builder("agent").node("hand_off", hand_off);
    /// let agent = agent.edge(START, "hand_off").edge("hand_off", END).build()?;
    /// let graph = Graph::<Log>::builder("desk").subgraph("agent", Subgraph::shared(agent).goto(["human"]));
    /// let graph = graph.node("human", work).edge(START, "agent").edge("human", END).build()?;
    /// let state = graph.invoke(Log::update(), ()).await?.done()?;
    /// assert_eq!(state.lines.iter().collect::<Vec<_>>(), ["human"]);
    /// # Ok(()) }
    /// ```
    pub fn parent<P: State>(self, command: Command<P>) -> Self {
        let changes = command.update.to_changes().map_err(|error| error.to_string());
        let Command { goto, only, parent, .. } = command;
        let parent = ToParent { changes, goto, only, parent };
        Self { parent: Some(Box::new(parent)), ..self }
    }

    /// Joins two commands, one after the other.
    fn then(self, after: Self) -> Result<Self, ReduceError> {
        Ok(Self {
            update: Box::new(self.update.then(*after.update)?),
            goto: self.goto.into_iter().chain(after.goto).collect(),
            only: self.only || after.only,
            parent: both(self.parent, after.parent),
        })
    }
}

impl<S: State> Default for Command<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: State> Clone for Command<S> {
    fn clone(&self) -> Self {
        Self {
            update: self.update.clone(),
            goto: self.goto.clone(),
            only: self.only,
            parent: self.parent.clone(),
        }
    }
}

impl<S: State> fmt::Debug for Command<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("update", &self.update)
            .field("goto", &self.goto)
            .field("only", &self.only)
            .field("parent", &self.parent)
            .finish()
    }
}

/// The return of a node: an update, a [`Command`], several of one kind, which count one after the other, or `()` for
/// none. `M` is inferred.
#[diagnostic::on_unimplemented(
    message = "a node of a graph with the state `{S}` does not return `{Self}`",
    note = "a node returns `Result<U, E>` where `U` is the state's update (`{S}::update()`), a `Command<{S}>`, a `Vec` of one of them, or `()`"
)]
pub trait IntoCommand<S: State, M> {
    /// Converts into the command.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when several cannot be joined.
    fn into_command(self) -> Result<Command<S>, ReduceError>;
}

/// Marks the return of an update.
#[derive(Debug)]
pub enum AsUpdate {}

/// Marks the return of a command.
#[derive(Debug)]
pub enum AsCommand {}

/// Marks the return of several commands or updates.
#[derive(Debug)]
pub struct AsList<M>(std::marker::PhantomData<M>);

/// Marks the return of nothing.
#[derive(Debug)]
pub enum AsNothing {}

#[diagnostic::do_not_recommend]
impl<U: StateUpdate> IntoCommand<U::State, AsUpdate> for U {
    fn into_command(self) -> Result<Command<U::State>, ReduceError> {
        Ok(Command::of(self))
    }
}

impl<S: State> IntoCommand<S, AsCommand> for Command<S> {
    fn into_command(self) -> Result<Command<S>, ReduceError> {
        Ok(self)
    }
}

impl<S: State, M, I: IntoCommand<S, M>> IntoCommand<S, AsList<M>> for Vec<I> {
    fn into_command(self) -> Result<Command<S>, ReduceError> {
        self.into_iter().try_fold(Command::new(), |all, next| all.then(next.into_command()?))
    }
}

impl<S: State> IntoCommand<S, AsNothing> for () {
    fn into_command(self) -> Result<Command<S>, ReduceError> {
        Ok(Command::new())
    }
}
