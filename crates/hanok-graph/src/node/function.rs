//! Nodes: functions that read a snapshot and return a command.

use std::{marker::PhantomData, sync::Arc};

use hanok_core::{BoxError, BoxFuture};
use hanok_state::{State, View};
use serde::de::DeserializeOwned;

use crate::{
    error::NodeError,
    node::{
        command::{Command, IntoCommand, Kind, Sent},
        context::Context,
        settings::NodeSettings,
        snapshot::Snapshot,
    },
};

/// A node: an `async fn(Snapshot<S>, Context<C>) -> Result<impl IntoCommand<S>, E>`. `M` is inferred.
///
/// The snapshot may be of a [`View`] of the state instead: the node then reads the view's fields alone. A node that runs
/// for [`SendTo`](crate::SendTo)s alone takes their input as a parameter between the two: `async fn(Snapshot<S>, Sent<T>,
/// Context<C>)`.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Default)] struct Count { n: u32 }
/// /// Adds the number that the run's services hold.
/// async fn add(state: Snapshot<Count>, cx: Context<u32>) -> Result<CountUpdate, std::io::Error> {
///     Ok(Count::update().n(state.n + cx.services()))
/// }
///
/// let graph = Graph::<Count, u32>::builder("count").node("add", add);
/// # graph.edge(START, "add").edge("add", END).build()?; Ok::<(), BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this is not a node of a graph with the state `{S}` and the services `{C}`",
    label = "not an `async fn(Snapshot<{S}>, Context<{C}>) -> Result<_, _>`",
    note = "a node is an `async fn(Snapshot<{S}>, Context<{C}>) -> Result<U, E>` whose future is `Send`, where `U` is an update of the state, a `Command<{S}>`, a `Vec` of one of them or `()`, and `E` is an error",
    note = "the usual causes: it is no `async fn`; it takes `&{S}` instead of `Snapshot<{S}>`; `Ok` holds the state instead of an update (`{S}::update()`); `Err` holds what is no `Error`; an `Rc`, a `RefCell` borrow or a lock's guard is held across an `.await`; the graph has other services than the node's `Context` (`Graph::<{S}, {C}>`)",
    note = "put `#[debug_node]` on the function; the compiler then says which part is wrong; a closure ends in `Ok::<_, BoxError>(…)` instead"
)]
pub trait Node<S: State, C, M>: Send + Sync + 'static {
    /// Runs the node once.
    fn run(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>>;

    /// The type of input, for a node that runs for `SendTo`s alone.
    #[doc(hidden)]
    fn kind(&self) -> Option<SentKind> {
        None
    }

    /// True if the node reads the private field `field`.
    #[doc(hidden)]
    fn reads_private(&self, field: &str) -> bool {
        let _ = field;
        true
    }

    /// The settings that are composed on the node.
    #[doc(hidden)]
    fn take_settings(&mut self) -> NodeSettings<S, C> {
        NodeSettings::default()
    }
}

/// The type of input that a node takes.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct SentKind(pub(crate) Kind);

#[diagnostic::do_not_recommend]
impl<S, V, C, M, F, Fut, O, E> Node<S, C, (V, M, O, E)> for F
where
    S: State,
    V: View<S>,
    C: 'static,
    M: 'static,
    F: Fn(Snapshot<V>, Context<C>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, E>> + Send + 'static,
    O: IntoCommand<S, M> + 'static,
    E: Into<BoxError> + 'static,
{
    fn run(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        let future = self(Snapshot::shared(V::of(state)), context);
        Box::pin(async move { Ok(future.await.map_err(Into::into)?.into_command()?) })
    }

    fn reads_private(&self, field: &str) -> bool {
        V::FIELDS.is_some_and(|fields| fields.contains(&field))
    }
}

#[diagnostic::do_not_recommend]
impl<S, V, T, C, M, F, Fut, O, E> Node<S, C, (V, Sent<T>, M, O, E)> for F
where
    S: State,
    V: View<S>,
    T: DeserializeOwned + Send + 'static,
    C: Send + Sync + 'static,
    M: 'static,
    F: Fn(Snapshot<V>, Sent<T>, Context<C>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, E>> + Send + 'static,
    O: IntoCommand<S, M> + 'static,
    E: Into<BoxError> + 'static,
{
    fn run(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        let input = match context.input::<T>() {
            Ok(Some(input)) => Sent(input),
            Ok(None) => {
                let error = NodeError::NoInput { node: context.node().to_owned() };
                return Box::pin(std::future::ready(Err(error.into())));
            }
            Err(error) => return Box::pin(std::future::ready(Err(error.into()))),
        };
        let future = self(Snapshot::shared(V::of(state)), input, context);
        Box::pin(async move { Ok(future.await.map_err(Into::into)?.into_command()?) })
    }

    fn kind(&self) -> Option<SentKind> {
        Some(SentKind(Kind::of::<T>()))
    }

    fn reads_private(&self, field: &str) -> bool {
        V::FIELDS.is_some_and(|fields| fields.contains(&field))
    }
}

/// A node of any type, as a graph stores it.
pub(crate) trait ErasedNode<S: State, C>: Send + Sync {
    fn run(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>>;

    fn kind(&self) -> Option<Kind> {
        None
    }

    /// True if the node reads the private field `field`.
    fn reads_private(&self, _field: &str) -> bool {
        true
    }
}

/// A node with its inferred parameters.
pub(crate) struct Typed<N, M>(pub(crate) N, pub(crate) PhantomData<fn() -> M>);

impl<S: State, C, M, N: Node<S, C, M>> ErasedNode<S, C> for Typed<N, M> {
    fn run(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        self.0.run(state, context)
    }

    fn kind(&self) -> Option<Kind> {
        self.0.kind().map(|kind| kind.0)
    }

    fn reads_private(&self, field: &str) -> bool {
        self.0.reads_private(field)
    }
}
