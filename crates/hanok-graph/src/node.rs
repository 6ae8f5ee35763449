//! What a node is.

use hanok_core::{BoxError, BoxFuture};
use hanok_state::State;

use crate::{Command, Context, IntoCommand, Snapshot};

/// A node: an `async fn(Snapshot<S>, Context<C>) -> Result<impl IntoCommand<S>, E>`. `M` is inferred.
#[diagnostic::on_unimplemented(
    message = "this is not a node of a graph with the state `{S}` and the services `{C}`",
    label = "not an `async fn(Snapshot<{S}>, Context<{C}>) -> Result<_, _>`",
    note = "a node is an `async fn(Snapshot<{S}>, Context<{C}>) -> Result<U, E>` whose future is `Send`, where `U` is an update of the state, a `Command<{S}>` or `()`, and `E` is an error"
)]
pub trait Node<S: State, C, M>: std::marker::Send + Sync + 'static {
    /// Runs the node once.
    fn run(
        &self,
        state: Snapshot<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>>;
}

impl<S, C, M, F, Fut, O, E> Node<S, C, (M, O, E)> for F
where
    S: State,
    C: 'static,
    M: 'static,
    F: Fn(Snapshot<S>, Context<C>) -> Fut + std::marker::Send + Sync + 'static,
    Fut: Future<Output = Result<O, E>> + std::marker::Send + 'static,
    O: IntoCommand<S, M> + 'static,
    E: Into<BoxError> + 'static,
{
    fn run(
        &self,
        state: Snapshot<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        let future = self(state, context);
        Box::pin(async move { future.await.map(IntoCommand::into_command).map_err(Into::into) })
    }
}

/// A node of any kind, as a graph keeps it.
pub(crate) trait ErasedNode<S: State, C>: std::marker::Send + Sync {
    fn run(
        &self,
        state: Snapshot<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>>;
}

/// A node with what was inferred about it.
pub(crate) struct Typed<N, M>(pub(crate) N, pub(crate) std::marker::PhantomData<fn() -> M>);

impl<S: State, C, M, N: Node<S, C, M>> ErasedNode<S, C> for Typed<N, M> {
    fn run(
        &self,
        state: Snapshot<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        self.0.run(state, context)
    }
}
