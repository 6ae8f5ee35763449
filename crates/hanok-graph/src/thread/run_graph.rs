//! Graphs that a call runs: those of tools.

use std::{pin::pin, sync::Arc};

use futures_util::FutureExt;
use hanok_core::{BoxFuture, Call};
use hanok_state::State;

use crate::{
    graph::definition::Graph,
    node::{attempt::TaskAttempt, context::Context},
    observe::sink::Sink,
    outcome::Outcome,
    run::{subgraph::SubgraphCall, subgraph_place::Called},
    subgraph_error::SubgraphError,
    thread::invoke::once,
};

/// Runs graphs within a call, so that a tool is a graph without knowing the node that calls it.
///
/// The graph is a part of the task that makes the call, as one that a node [runs](Context::run_named) is: its entries stand in
/// the log of the thread, its events are those of the turn, and it counts in the turn's budget. A task that runs again after a
/// crash or with an answer enters the tool again, which goes on with the graph where it was; another try of the call within one
/// attempt begins another graph. Beyond the run's own it heeds the deadline and the request to stop of the call.
///
/// A graph that the call's time or its stop cuts off is over when the node goes on: so is a doubt about a call in it that must
/// not be repeated. Give a tool whose graph makes such calls the time that it needs.
///
/// A call outside of a graph, [`Call::detached`], runs it by itself and stores nothing.
///
/// ```
/// use hanok_core::Call;
/// use hanok_graph::{BoxError, Context, END, Graph, RunGraph, START, Snapshot};
/// use hanok_state::State;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Order {
///     number: u32,
///     shipped: bool,
/// }
///
/// async fn look(order: Snapshot<Order>, _: Context) -> Result<OrderUpdate, BoxError> {
///     Ok(Order::update().shipped(order.number == 17))
/// }
///
/// /// What a tool does with the call that it gets.
/// async fn shipped(number: u32, call: &Call) -> Result<bool, BoxError> {
///     let graph = Graph::<Order>::builder("order").node("look", look).edge(START, "look").edge("look", END).build()?;
///     Ok(call.run(&graph, Order::update().number(number), ()).await?.done()?.shipped)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BoxError> {
/// assert!(shipped(17, &Call::detached()).await?);
/// # Ok(()) }
/// ```
pub trait RunGraph {
    /// Runs `graph` on `input`, from its initial state, with `services`.
    ///
    /// # Errors
    ///
    /// As those of [`Context::run`], and [`SubgraphError::Cancelled`] or [`SubgraphError::TimedOut`] when the call is over first.
    /// Hand them on: where one [suspends](SubgraphError::suspends), the run ends and enters the call again when it goes on.
    fn run<S: State, D: Send + Sync + 'static>(
        &self,
        graph: &Graph<S, D>,
        input: S::Update,
        services: impl Into<Arc<D>> + Send,
    ) -> impl Future<Output = Result<Outcome<S>, SubgraphError>> + Send;
}

impl RunGraph for Call {
    async fn run<S: State, D: Send + Sync + 'static>(
        &self,
        graph: &Graph<S, D>,
        input: S::Update,
        services: impl Into<Arc<D>> + Send,
    ) -> Result<Outcome<S>, SubgraphError> {
        let services = services.into();
        let run: BoxFuture<'_, Result<Outcome<S>, SubgraphError>> = match self.provided() {
            Some(scope) => Box::pin(within(self, scope, graph, input, services)),
            None => Box::pin(async move {
                let name = graph.name().to_owned();
                let failed = |source| SubgraphError::Run { graph: name, source: Box::new(source) };
                once(graph, input, services, Sink::default()).await.map_err(failed)
            }),
        };
        heeding(self, graph.name(), run).await
    }
}

/// Runs `graph` as a part of the task at `scope`, by the key of the call and the number of the graphs that it ran before.
async fn within<S: State, D: Send + Sync + 'static>(
    call: &Call,
    scope: Arc<TaskAttempt>,
    graph: &Graph<S, D>,
    input: S::Update,
    services: Arc<D>,
) -> Result<Outcome<S>, SubgraphError> {
    let name = {
        let mut log = scope.log();
        let count = log.within_calls.entry(call.key().clone()).or_default();
        *count += 1;
        format!("{}.{}", call.key(), *count - 1)
    };
    let named = Called { name: Some(name.into()), call: Some(call.key().clone()) };
    let ran = SubgraphCall { named, ..SubgraphCall::new(graph, services) };
    let (outcome, _) = ran.boxed(&Context::new(Arc::new(()), scope), input).await?;
    Ok(outcome)
}

/// What `run` ends with, unless the call is asked to stop or its time is over first.
async fn heeding<T>(
    call: &Call,
    graph: &str,
    run: BoxFuture<'_, Result<T, SubgraphError>>,
) -> Result<T, SubgraphError> {
    let time = call.time_left();
    let late = async {
        match time {
            Some(time) => call.clock().sleep(time).await,
            None => std::future::pending().await,
        }
    };
    let graph = || graph.to_owned();
    futures_util::select_biased! {
        ended = run.fuse() => ended,
        () = call.stop().cancelled().fuse() => Err(SubgraphError::Cancelled { graph: graph() }),
        () = pin!(late.fuse()) => {
            let after = call.limit().or(time).unwrap_or_default();
            Err(SubgraphError::TimedOut { graph: graph(), after })
        }
    }
}
