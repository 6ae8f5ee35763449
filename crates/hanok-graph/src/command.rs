//! What a node returns: what it writes, and where it goes on.

use std::{fmt, sync::Arc};

use hanok_core::{BoxError, Stored};
use hanok_state::{State, StateUpdate};
use serde::Serialize;

use crate::graph::END;

/// Where a task goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// To a node, or to [`END`].
    Node(Arc<str>),
    /// To a node, with an input of its own.
    Send(Send),
}

/// A task of a node with an input of its own: several `Send`s to one node are several tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Send {
    pub(crate) node: Arc<str>,
    pub(crate) input: Result<Stored, String>,
}

impl Send {
    /// A task of `node` that reads `input` with [`Context::input`](crate::Context::input).
    pub fn new<T: Serialize>(node: &str, input: &T) -> Self {
        let input = Stored::encode(input).map_err(|error| error.to_string());
        Self { node: node.into(), input }
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

impl From<Send> for Target {
    fn from(send: Send) -> Self {
        Self::Send(send)
    }
}

impl Target {
    /// The node it names.
    pub(crate) fn node(&self) -> &Arc<str> {
        match self {
            Self::Node(node) | Self::Send(Send { node, .. }) => node,
        }
    }

    pub(crate) fn is_end(&self) -> bool {
        self.node().as_ref() == END
    }
}

/// What a router returns: a target, several, or an error.
#[diagnostic::on_unimplemented(
    message = "a router does not return `{Self}`",
    note = "a router is a `Fn(&S) -> …` that returns a node's name, `END`, a `Send`, a `Target`, a `Vec` of one of them, or a `Result` of that"
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

one_target!(&str, String, Send, Target);

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
    pub(crate) update: S::Update,
    pub(crate) goto: Vec<Target>,
}

impl<S: State> Command<S> {
    /// A command that writes nothing and goes on along the node's own edges.
    pub fn new() -> Self {
        Self { update: S::update(), goto: Vec::new() }
    }

    /// Writes `update`.
    pub fn update(self, update: S::Update) -> Self {
        Self { update, ..self }
    }

    /// Goes on to `target` too. The node's own edges fire as well. A node that does this declares it with
    /// [`GraphBuilder::goto`](crate::GraphBuilder::goto).
    pub fn goto(mut self, target: impl Into<Target>) -> Self {
        self.goto.push(target.into());
        self
    }
}

impl<S: State> Default for Command<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: State> Clone for Command<S> {
    fn clone(&self) -> Self {
        Self { update: self.update.clone(), goto: self.goto.clone() }
    }
}

impl<S: State> fmt::Debug for Command<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command").field("update", &self.update).field("goto", &self.goto).finish()
    }
}

/// What a node may return: an update, a [`Command`], or `()` for nothing. `M` tells the three apart.
#[diagnostic::on_unimplemented(
    message = "a node of a graph with the state `{S}` does not return `{Self}`",
    note = "a node returns `Result<U, E>` where `U` is the state's update (`{S}::update()`), a `Command<{S}>`, or `()`"
)]
pub trait IntoCommand<S: State, M> {
    /// The command.
    fn into_command(self) -> Command<S>;
}

/// Marks the return of an update.
#[derive(Debug)]
pub enum AsUpdate {}

/// Marks the return of a command.
#[derive(Debug)]
pub enum AsCommand {}

/// Marks the return of nothing.
#[derive(Debug)]
pub enum AsNothing {}

impl<U: StateUpdate> IntoCommand<U::State, AsUpdate> for U {
    fn into_command(self) -> Command<U::State> {
        Command::new().update(self)
    }
}

impl<S: State> IntoCommand<S, AsCommand> for Command<S> {
    fn into_command(self) -> Command<S> {
        self
    }
}

impl<S: State> IntoCommand<S, AsNothing> for () {
    fn into_command(self) -> Command<S> {
        Command::new()
    }
}
