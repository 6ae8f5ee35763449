//! What runs when a node has failed for good.

use std::{
    marker::{PhantomData, Send as Sendable},
    sync::Arc,
};

use hanok_checkpoint::Failed;
use hanok_core::{BoxError, BoxFuture};
use hanok_state::{State, View};

use crate::{
    error::NodeError,
    node::{
        command::{Command, IntoCommand},
        context::Context,
        snapshot::Snapshot,
    },
};

/// Why a node failed for the last time. It is stored before its handler runs, so it is words and not the error itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The node.
    pub node: String,
    /// What kind of failure it was.
    pub kind: FailureKind,
    /// The error and what caused it.
    pub message: String,
    /// How often the node was run.
    pub attempts: u32,
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The node returned an error.
    Error,
    /// It panicked.
    Panic,
    /// It took too long.
    TimedOut,
    /// It was silent for too long.
    Idle,
    /// Anything else: a route that was not declared, or a write that cannot be stored or merged.
    Other,
}

impl FailureKind {
    pub(crate) fn of(error: &NodeError) -> Self {
        match error {
            NodeError::Failed(_) => Self::Error,
            NodeError::Panicked(_) => Self::Panic,
            NodeError::TimedOut { .. } => Self::TimedOut,
            NodeError::Idle { .. } => Self::Idle,
            _ => Self::Other,
        }
    }

    /// The word by which it is stored.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Panic => "panic",
            Self::TimedOut => "timed_out",
            Self::Idle => "idle",
            Self::Other => "other",
        }
    }

    fn read(word: &str) -> Self {
        [Self::Error, Self::Panic, Self::TimedOut, Self::Idle]
            .into_iter()
            .find(|kind| kind.word() == word)
            .unwrap_or(Self::Other)
    }
}

impl Failure {
    pub(crate) fn of(failed: &Failed) -> Self {
        Self {
            node: failed.node.clone(),
            kind: FailureKind::read(&failed.kind),
            message: failed.message.clone(),
            attempts: failed.attempts,
        }
    }
}

/// An error handler: an `async fn(Snapshot<S>, Failure, Context<C>) -> Result<impl IntoCommand<S>, E>`. What it returns
/// stands for what the node would have returned.
#[diagnostic::on_unimplemented(
    message = "this is not an error handler of a graph with the state `{S}` and the services `{C}`",
    note = "a handler is an `async fn(Snapshot<{S}>, Failure, Context<{C}>) -> Result<U, E>` that returns what a node returns"
)]
pub trait Handler<S: State, C, M>: Sendable + Sync + 'static {
    /// Runs the handler once.
    fn run(
        &self,
        state: &Arc<S>,
        failure: Failure,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>>;
}

impl<S, V, C, M, F, Fut, O, E> Handler<S, C, (V, M, O, E)> for F
where
    S: State,
    V: View<S>,
    C: 'static,
    M: 'static,
    F: Fn(Snapshot<V>, Failure, Context<C>) -> Fut + Sendable + Sync + 'static,
    Fut: Future<Output = Result<O, E>> + Sendable + 'static,
    O: IntoCommand<S, M> + 'static,
    E: Into<BoxError> + 'static,
{
    fn run(
        &self,
        state: &Arc<S>,
        failure: Failure,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        let future = self(Snapshot::shared(V::of(state)), failure, context);
        Box::pin(async move { Ok(future.await.map_err(Into::into)?.into_command()?) })
    }
}

/// A handler of any kind, as a graph keeps it.
pub(crate) trait ErasedHandler<S: State, C>: Sendable + Sync {
    fn run(
        &self,
        state: &Arc<S>,
        failure: Failure,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>>;
}

/// A handler with what was inferred about it.
pub(crate) struct TypedHandler<H, M>(pub(crate) H, pub(crate) PhantomData<fn() -> M>);

impl<S: State, C, M, H: Handler<S, C, M>> ErasedHandler<S, C> for TypedHandler<H, M> {
    fn run(
        &self,
        state: &Arc<S>,
        failure: Failure,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        self.0.run(state, failure, context)
    }
}
