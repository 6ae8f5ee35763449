//! What a node returns: what it writes, and where it goes on.

use std::{any::TypeId, fmt, sync::Arc};

use hanok_core::{BoxError, Changes, Stored};
use hanok_state::{ReduceError, State, StateUpdate};
use serde::Serialize;

use crate::names::END;

/// Where a task goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// To a node, or to [`END`].
    Node(Arc<str>),
    /// To a node, with an input of its own.
    Send(SendTo),
}

/// A task of a node with an input of its own: several `SendTo`s to one node are several tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct SendTo {
    pub(crate) node: Arc<str>,
    pub(crate) input: Result<Stored, String>,
    /// The type of the input, if it is still to be checked.
    pub(crate) kind: Option<Kind>,
}

/// A type, as errors name it.
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
    /// A task of `node` that is given `input`: as its [`Sent<T>`](Sent), or by [`Context::input`](crate::Context::input).
    ///
    /// A node that takes a `Sent` of another type refuses it, and the task that sends it fails.
    pub fn new<T: Serialize + 'static>(node: &str, input: &T) -> Self {
        let kind = Some(Kind::of::<T>());
        let input = Stored::encode(input).map_err(|error| error.to_string());
        Self { node: node.into(), input, kind }
    }
}

impl SendTo {
    /// A task of `node` with an input that is stored already: its type was checked when it was sent.
    pub(crate) fn stored(node: &str, input: Stored) -> Self {
        Self { node: node.into(), input: Ok(input), kind: None }
    }
}

/// What a [`SendTo`] gave a node: its second parameter, for a node that runs for `SendTo`s alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent<T>(pub T);

impl<T> std::ops::Deref for Sent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
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

impl Target {
    /// The node it names.
    pub(crate) fn node(&self) -> &Arc<str> {
        match self {
            Self::Node(node) | Self::Send(SendTo { node, .. }) => node,
        }
    }

    pub(crate) fn is_end(&self) -> bool {
        self.node().as_ref() == END
    }
}

/// What a router returns: a target, several, or an error.
#[diagnostic::on_unimplemented(
    message = "a router does not return `{Self}`",
    note = "a router is a `Fn(&S) -> …` that returns a node's name, `END`, a `SendTo`, a `Target`, a `Vec` of one of them, or a `Result` of that"
)]
pub trait IntoTargets {
    /// The targets.
    ///
    /// # Errors
    ///
    /// Whatever the router returned as an error.
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

/// An update, and where to go on besides the node's own edges.
#[must_use]
pub struct Command<S: State> {
    /// Boxed: an update has room for a write to every field, and is handed on from one part of the engine to the next.
    pub(crate) update: Box<S::Update>,
    pub(crate) goto: Vec<Target>,
    /// Whether the node's own edges do not fire.
    pub(crate) only: bool,
    /// What the graph that called this one is told.
    pub(crate) parent: Option<Box<ToParent>>,
}

/// A command to the graph that called this one, as data: the caller may have any state.
#[derive(Debug, Clone)]
pub(crate) struct ToParent {
    pub(crate) changes: Result<Changes, String>,
    pub(crate) goto: Vec<Target>,
    pub(crate) only: bool,
    /// What that graph tells the one that called it in turn.
    pub(crate) parent: Option<Box<ToParent>>,
}

impl ToParent {
    /// The same command, after `changes`.
    pub(crate) fn after(self, changes: Changes) -> Self {
        let both = |own: Changes| Changes(changes.0.into_iter().chain(own.0).collect());
        Self { changes: self.changes.map(both), ..self }
    }

    /// Both, one after the other, as one.
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
    /// A command that writes nothing and goes on along the node's own edges.
    pub fn new() -> Self {
        Self::of(S::update())
    }

    fn of(update: S::Update) -> Self {
        Self { update: Box::new(update), goto: Vec::new(), only: false, parent: None }
    }

    /// Writes `update`.
    pub fn update(mut self, update: S::Update) -> Self {
        *self.update = update;
        self
    }

    /// Goes on to `target` too. The node's own edges fire as well, unless the command says [`only`](Command::only). A
    /// node that does this declares it with [`NodeExt::goto`](crate::NodeExt::goto).
    pub fn goto(mut self, target: impl Into<Target>) -> Self {
        self.goto.push(target.into());
        self
    }

    /// Goes on where this command says and nowhere else: the node's own edges, branches and joins do not fire. With no
    /// `goto` the path ends.
    pub fn only(self) -> Self {
        Self { only: true, ..self }
    }

    /// Ends this graph after the super-step, and has the node of the graph that called it return `command`. Further up,
    /// that command may do the same. What this graph's nodes wrote to a state that it shares with its caller is written
    /// before it.
    ///
    /// In the thread's own graph, which nobody called, the task fails.
    pub fn parent<P: State>(self, command: Command<P>) -> Self {
        let changes = command.update.to_changes().map_err(|error| error.to_string());
        let Command { goto, only, parent, .. } = command;
        let parent = ToParent { changes, goto, only, parent };
        Self { parent: Some(Box::new(parent)), ..self }
    }

    /// Both, one after the other, as one.
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

/// What a node may return: an update, a [`Command`], several of one kind that count one after the other, or `()` for
/// nothing. `M` tells them apart.
#[diagnostic::on_unimplemented(
    message = "a node of a graph with the state `{S}` does not return `{Self}`",
    note = "a node returns `Result<U, E>` where `U` is the state's update (`{S}::update()`), a `Command<{S}>`, a `Vec` of one of them, or `()`"
)]
pub trait IntoCommand<S: State, M> {
    /// The command.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when several cannot be one.
    fn into_command(self) -> Result<Command<S>, ReduceError>;
}

/// Marks the return of an update.
#[derive(Debug)]
pub enum AsUpdate {}

/// Marks the return of a command.
#[derive(Debug)]
pub enum AsCommand {}

/// Marks the return of several.
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
