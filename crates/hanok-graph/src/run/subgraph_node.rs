//! Graphs as nodes of other graphs.

use std::{fmt, sync::Arc, time::Duration};

use hanok_state::State;

use crate::{
    error::Lint,
    graph::{
        builder::{GraphBuilder, NamedNode},
        definition::Graph,
        draw::DrawInside,
    },
    node::{
        cache::Cache, command::Command, context::Context, function::ErasedNode, handler::Handler,
        retry::Retry, settings::NodeSettings,
    },
    run::subgraph::{Persistence, SubgraphCall},
};
use hanok_core::{BoxError, BoxFuture};

/// A graph as a node of another over the state `S`, with the same services: [`GraphBuilder::subgraph`].
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
    /// A graph with a state of its own: `input` says what it is given, `output` what its final state writes here. A
    /// subgraph that reaches its own limit of super-steps fails the node.
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
                let services = context.shared_services().clone();
                let call = SubgraphCall { graph, services, persistence, base: None };
                let (outcome, _) = call.boxed(&context, input(&state)).await?;
                Ok(Command::new().update(output(&outcome.done()?)))
            })
        });
        Self::of(run, inside)
    }

    /// A graph that shares this one's state: it begins with it, and what its nodes write is what the node writes, no more.
    /// It lives as long as the call.
    pub fn shared(graph: Graph<S, C>) -> Self {
        let inside = inside(&graph);
        let run: RunNode<S, C> = Arc::new(move |persistence, state, context| {
            let graph = graph.clone();
            Box::pin(async move {
                let services = context.shared_services().clone();
                let persistence = match persistence {
                    Persistence::None => Persistence::None,
                    Persistence::PerCall | Persistence::PerThread => Persistence::PerCall,
                };
                let base = Some(state);
                let call = SubgraphCall { graph: &graph, services, persistence, base };
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

    /// How long its state lives. Default: [`Persistence::PerCall`].
    pub fn persistence(self, persistence: Persistence) -> Self {
        Self { persistence, ..self }
    }

    /// Runs the subgraph again when it fails, as `retry` says; of several policies the first that applies to the error counts.
    /// Default: those of [`retry_all`](crate::GraphBuilder::retry_all).
    pub fn retry(self, retry: Retry) -> Self {
        Self { settings: self.settings.retry(retry), ..self }
    }

    /// Bounds the time of one attempt. Default: none.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { settings: self.settings.timeout(timeout), ..self }
    }

    /// Bounds the time without a sign of life: a token, a custom item, a memoised step, a call, anything of a subgraph, or
    /// [`Context::heartbeat`](crate::Context::heartbeat). Default: none.
    pub fn idle_timeout(self, idle: Duration) -> Self {
        Self { settings: self.settings.idle_timeout(idle), ..self }
    }

    /// Runs `handler` when the subgraph has failed for the last time. Its result stands for the subgraph's, and its commands may go to
    /// `targets`; a command that goes somewhere goes there alone.
    ///
    /// The failure is stored first: after a crash only the handler runs. A handler's own failure fails the run.
    pub fn on_error<H: 'static>(
        self,
        handler: impl Handler<S, C, H>,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        Self { settings: self.settings.on_error(handler, targets), ..self }
    }

    /// Keeps results for a while: an equal task does not run the subgraph. Default: it runs each time.
    pub fn cache(self, cache: Cache<S, C>) -> Self {
        Self { settings: self.settings.cache(cache), ..self }
    }

    /// Bounds the tasks of the subgraph that run at once, in all runs of the graph in this process. Default: any number.
    pub fn concurrency(self, tasks: usize) -> Self {
        Self { settings: self.settings.concurrency(tasks), ..self }
    }

    /// Declares the subgraphs to which commands of the subgraph may go.
    pub fn goto(self, targets: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { settings: self.settings.goto(targets), ..self }
    }

    /// Defers the subgraph: whatever leads to it, it runs once, when nothing else is left to run.
    pub fn defer(self) -> Self {
        Self { settings: self.settings.defer(), ..self }
    }

    /// Accepts a fault that is usually a mistake.
    pub fn allow(self, lint: Lint) -> Self {
        Self { settings: self.settings.allow(lint), ..self }
    }
}

impl<S: State, C: Send + Sync + 'static> GraphBuilder<S, C> {
    /// Adds a node that is a graph.
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
