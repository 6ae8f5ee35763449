//! Graphs as nodes of other graphs.

use std::{fmt, sync::Arc};

use hanok_state::State;

use crate::{
    graph::{
        builder::{GraphBuilder, NamedNode},
        definition::Graph,
        draw::DrawInside,
    },
    node::{
        command::Command,
        context::Context,
        function::ErasedNode,
        settings::{NodeSettings, composes_settings},
    },
    run::subgraph::{Persistence, SubgraphCall},
};
use hanok_core::{BoxError, BoxFuture};

/// A graph as a node of another over the state `S`, with the same services: [`GraphBuilder::subgraph`].
///
/// Settings are composed on it as on any node, such as `subgraph.retry(…)`.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END).build()?;
/// let outer = Graph::<Count>::builder("outer").subgraph("call", Subgraph::shared(inner));
/// let outer = outer.edge(START, "call").edge("call", END).build()?;
/// assert_eq!(outer.invoke(Count::update(), ()).await?.done()?.n, 1);
/// # Ok(()) }
/// ```
///
/// [`GraphBuilder::subgraph`]: crate::GraphBuilder::subgraph
#[must_use]
pub struct Subgraph<S: State, C = ()> {
    run: RunNode<S, C>,
    inside: DrawInside,
    persistence: Persistence,
    settings: NodeSettings<S, C>,
}

type RunNode<S, C> = Arc<
    dyn Fn(Persistence, Arc<S>, Context<C>) -> BoxFuture<'static, Result<Command<S>, BoxError>>
        + Send
        + Sync,
>;

impl<S: State, C: Send + Sync + 'static> Subgraph<S, C> {
    /// A graph with a state of its own. `input` makes its input of this graph's state, and `output` makes this graph's
    /// update of its final state. A subgraph that reaches its own limit of super-steps fails the node.
    ///
    /// ```
    /// # use {hanok_state::List, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let call = Subgraph::new(
    ///     inner,
    ///     |log: &Log| Count::update().n(log.lines.len() as u32),
    ///     |count: &Count| Log::update().push_lines(format!("counted to {}", count.n)),
    /// );
    /// let outer = Graph::<Log>::builder("outer").subgraph("call", call).edge(START, "call").edge("call", END).build()?;
    /// let state = outer.invoke(Log::update(), ()).await?.done()?;
    /// assert_eq!(state.lines.iter().collect::<Vec<_>>(), ["counted to 1"]);
    /// # Ok(()) }
    /// ```
    pub fn new<T: State>(
        graph: Graph<T, C>,
        input: impl Fn(&S) -> T::Update + Send + Sync + 'static,
        output: impl Fn(&T) -> S::Update + Send + Sync + 'static,
    ) -> Self {
        let inside = inside(&graph);
        let parts = Arc::new((graph, input, output));
        let run: RunNode<S, C> = Arc::new(move |persistence, state, context| {
            let parts = parts.clone();
            Box::pin(async move {
                let (graph, input, output) = &*parts;
                let services = context.shared_services();
                let call = SubgraphCall { persistence, ..SubgraphCall::new(graph, services) };
                let (outcome, _) = call.boxed(&context, input(&state)).await?;
                Ok(Command::new().update(output(&outcome.done()?)))
            })
        });
        Self::of(run, inside)
    }

    /// A graph that shares this one's state. It begins with that state, and the updates of its nodes are the update of
    /// this node. It lives as long as the call.
    pub fn shared(graph: Graph<S, C>) -> Self {
        let inside = inside(&graph);
        let run: RunNode<S, C> = Arc::new(move |persistence, state, context| {
            let graph = graph.clone();
            Box::pin(async move {
                let services = context.shared_services();
                let persistence = match persistence {
                    Persistence::None => Persistence::None,
                    Persistence::PerCall | Persistence::PerThread => Persistence::PerCall,
                };
                let base = Some(state);
                let call = SubgraphCall::new(&graph, services);
                let call = SubgraphCall { persistence, base, ..call };
                let (outcome, added) = call.boxed(&context, S::update()).await?;
                outcome.done()?;
                Ok(Command::new().update(added.unwrap_or_default()))
            })
        });
        Self::of(run, inside)
    }

    fn of(run: RunNode<S, C>, inside: DrawInside) -> Self {
        let persistence = Persistence::default();
        Self { run, inside, persistence, settings: NodeSettings::new() }
    }

    /// Sets the lifetime of its state. Default: [`Persistence::PerCall`].
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let call = Subgraph::new(inner, |_: &Count| Count::update(), |inner: &Count| Count::update().n(inner.n));
    /// // The second turn of a thread counts on from where the first one ended.
    /// let call = call.persistence(Persistence::PerThread);
    /// # Graph::<Count>::builder("outer").subgraph("call", call).edge(START, "call").edge("call", END).build()?; Ok::<(), BuildError>(())
    /// ```
    pub fn persistence(self, persistence: Persistence) -> Self {
        Self { persistence, ..self }
    }

    composes_settings!();
}

impl<S: State, C: Send + Sync + 'static> GraphBuilder<S, C> {
    /// Adds a node that is a graph: [`Subgraph`].
    pub fn subgraph(mut self, name: &str, mut subgraph: Subgraph<S, C>) -> Self {
        let settings = std::mem::take(&mut subgraph.settings);
        let inside = Some(subgraph.inside.clone());
        self.nodes.push(NamedNode { name: name.into(), node: Arc::new(subgraph), inside });
        self.apply(name, settings)
    }
}

impl<S: State, C> ErasedNode<S, C> for Subgraph<S, C> {
    fn run(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        (self.run)(self.persistence, state.clone(), context)
    }
}

fn inside<T: State, C: Send + Sync + 'static>(graph: &Graph<T, C>) -> DrawInside {
    let graph = graph.clone();
    Arc::new(move |depth| graph.drawing_to(depth))
}

impl<S: State, C> fmt::Debug for Subgraph<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subgraph").field("persistence", &self.persistence).finish_non_exhaustive()
    }
}
