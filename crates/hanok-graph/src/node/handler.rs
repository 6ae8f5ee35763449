//! Error handlers, which run when a node has failed for the last time.

use std::{marker::PhantomData, sync::Arc};

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

/// The last failure of a node. It is stored before the handler runs, so it holds text and not the error itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The node.
    pub node: String,
    /// The kind of the failure.
    pub kind: FailureKind,
    /// The error and its causes, as text.
    pub message: String,
    /// The number of attempts.
    pub attempts: u32,
}

/// The kind of a [`Failure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The node returned an error.
    Error,
    /// The node panicked.
    Panic,
    /// An attempt exceeded its time limit.
    TimedOut,
    /// An attempt exceeded its idle time-out.
    Idle,
    /// Any other failure: an undeclared target, or an update that cannot be stored or merged.
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

    /// The word that is stored.
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

/// An error handler: an `async fn(Snapshot<S>, Failure, Context<C>) -> Result<impl IntoCommand<S>, E>`. Its result stands
/// for the node's. [`NodeExt::on_error`](crate::NodeExt::on_error) adds it to one node, and
/// [`GraphBuilder::on_any_error`](crate::GraphBuilder::on_any_error) to all.
#[diagnostic::on_unimplemented(
    message = "this is not an error handler of a graph with the state `{S}` and the services `{C}`",
    note = "a handler is an `async fn(Snapshot<{S}>, Failure, Context<{C}>) -> Result<U, E>` that returns what a node returns"
)]
pub trait Handler<S: State, C, M>: Send + Sync + 'static {
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
    F: Fn(Snapshot<V>, Failure, Context<C>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, E>> + Send + 'static,
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

/// A handler of any type, as a graph stores it.
pub(crate) trait ErasedHandler<S: State, C>: Send + Sync {
    fn run(
        &self,
        state: &Arc<S>,
        failure: Failure,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>>;
}

/// A handler with its inferred parameters.
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
