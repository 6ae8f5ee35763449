//! Routers that wait, and use the services of the run.

use std::{marker::PhantomData, sync::Arc};

use hanok_core::{BoxError, BoxFuture};
use hanok_state::{State, View};

use crate::node::{
    command::{IntoTargets, Target},
    context::Context,
    snapshot::Snapshot,
};

/// A router that waits and sees the services: an `async fn(Snapshot<S>, Context<C>) -> Result<impl IntoTargets, E>`, for
/// [`GraphBuilder::route`](crate::GraphBuilder::route). `M` is inferred.
///
/// The snapshot may be of a [`View`] of the state instead. Of the private fields it may show those that its node shows.
#[diagnostic::on_unimplemented(
    message = "this is not an async router of a graph with the state `{S}` and the services `{C}`",
    label = "not an `async fn(Snapshot<{S}>, Context<{C}>) -> Result<_, _>`",
    note = "it returns what any router returns, in a `Result`: a node's name, `END`, a `SendTo`, a `Target`, or a `Vec` of one of them",
    note = "a router that neither waits nor needs services is a `Fn(&{S}) -> _`, for `branch`"
)]
pub trait AsyncRouter<S: State, C, M>: Send + Sync + 'static {
    /// Chooses the targets.
    fn route(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Vec<Target>, BoxError>>;

    /// The fields that the router reads; `None` for all that are not private.
    #[doc(hidden)]
    fn fields(&self) -> Option<&'static [&'static str]>;
}

#[diagnostic::do_not_recommend]
impl<S, V, C, F, Fut, R, E> AsyncRouter<S, C, (V, R, E)> for F
where
    S: State,
    V: View<S>,
    C: 'static,
    F: Fn(Snapshot<V>, Context<C>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, E>> + Send + 'static,
    R: IntoTargets + 'static,
    E: Into<BoxError> + 'static,
{
    fn route(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Vec<Target>, BoxError>> {
        let future = self(Snapshot::shared(V::of(state)), context);
        Box::pin(async move { future.await.map_err(Into::into)?.into_targets() })
    }

    fn fields(&self) -> Option<&'static [&'static str]> {
        V::FIELDS
    }
}

/// An async router of any type, as a graph stores it.
pub(crate) trait ErasedRouter<S: State, C>: Send + Sync {
    fn route(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Vec<Target>, BoxError>>;

    fn fields(&self) -> Option<&'static [&'static str]>;
}

/// An async router with its inferred parameters.
pub(crate) struct TypedRouter<R, M>(pub(crate) R, pub(crate) PhantomData<fn() -> M>);

impl<S: State, C, M, R: AsyncRouter<S, C, M>> ErasedRouter<S, C> for TypedRouter<R, M> {
    fn route(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Vec<Target>, BoxError>> {
        self.0.route(state, context)
    }

    fn fields(&self) -> Option<&'static [&'static str]> {
        self.0.fields()
    }
}
