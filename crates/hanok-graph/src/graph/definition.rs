//! A graph, built and checked.

use hanok_core::{BoxError, Budget, ThreadKey};
use hanok_state::{FieldSchema, State};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};
use tracing::Span;

use crate::{
    graph::{draw::DrawInside, migration::Migration},
    node::{
        async_router::ErasedRouter,
        cache::Results,
        command::{Kind, Target},
        function::ErasedNode,
        settings::NodeSettings,
    },
    node_set::Breakpoints,
    runtime::Runtime,
    slots::Slots,
};
use hanok_checkpoint::{Due, GraphId};

/// The default limit of the super-steps of a turn.
pub(crate) const RECURSION_LIMIT: u32 = 100;

/// The default limit of the tasks of a super-step.
pub(crate) const FAN_OUT: usize = 1_024;

/// The default limit of the retries of a run.
pub(crate) const RETRIES: u32 = 100;

/// A graph of nodes over the state `S`, whose nodes share the services `C`. It is built once, checked whole, and never
/// changes. A clone costs a pointer.
///
/// [`checkpointer`](Graph::checkpointer) makes an [`App`](crate::App) of it, whose threads are stored;
/// [`invoke`](Graph::invoke) runs it without a store.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 1);
/// # Ok(()) }
/// ```
pub struct Graph<S: State, C = ()>(pub(crate) Arc<Definition<S, C>>);

pub(crate) struct Definition<S: State, C> {
    pub(crate) name: Arc<str>,
    /// The state that a thread begins with.
    pub(crate) initial: Arc<S>,
    /// True if some fields of the state last for one super-step only.
    pub(crate) has_ephemeral: bool,
    /// True if an outcome shows every field.
    pub(crate) shows_all: bool,
    pub(crate) nodes: BTreeMap<Arc<str>, Vertex<S, C>>,
    /// The edges from [`START`](crate::START).
    pub(crate) start: Ways<S>,
    pub(crate) joins: Vec<Join>,
    pub(crate) former: Migration<S, C>,
    pub(crate) deferred: BTreeSet<Arc<str>>,
    pub(crate) breakpoints: Breakpoints,
    /// The fields that an input may write; `None` for all. `output` has those that an outcome shows.
    pub(crate) input: Option<Vec<Arc<str>>>,
    pub(crate) output: Option<Vec<Arc<str>>>,
    pub(crate) results: Results<S>,
    pub(crate) fail_fast: bool,
    /// True if the spans of its runs are those of an agent.
    pub(crate) agent: bool,
    pub(crate) slots: Option<Slots>,
    pub(crate) fan_out: usize,
    pub(crate) budget: Budget,
    pub(crate) retry_budget: u32,
    pub(crate) recursion_limit: u32,
    pub(crate) fingerprint: u64,
    /// The names that it had in earlier builds.
    pub(crate) formerly: Vec<Arc<str>>,
    pub(crate) runtime: Runtime,
}

/// A node with its edges and settings.
pub(crate) struct Vertex<S: State, C> {
    pub(crate) node: Arc<dyn ErasedNode<S, C>>,
    /// The type of input, for a node that runs for `SendTo`s alone.
    pub(crate) kind: Option<Kind>,
    pub(crate) inside: Option<DrawInside>,
    pub(crate) ways: Ways<S>,
    /// The routers that wait. Their targets are among those of the node's commands.
    pub(crate) routers: Vec<AsyncBranch<S, C>>,
    pub(crate) settings: NodeSettings<S, C>,
}

/// A branch whose router waits.
pub(crate) struct AsyncBranch<S: State, C> {
    pub(crate) router: Arc<dyn ErasedRouter<S, C>>,
    pub(crate) declared: Vec<Arc<str>>,
}

impl<S: State, C> Definition<S, C> {
    /// The span of a run of the graph.
    pub(crate) fn span(&self, thread: Option<&ThreadKey>) -> Span {
        let thread = thread.map(ThreadKey::thread);
        if !self.agent {
            return hanok_telemetry::workflow(&self.name, thread);
        }
        let span = hanok_telemetry::agent(&self.name);
        if let Some(thread) = thread {
            hanok_telemetry::record_conversation(&span, thread);
        }
        span
    }

    /// The graph as logs name it.
    pub(crate) fn id(&self) -> GraphId {
        GraphId { name: Some(self.name.clone()), fingerprint: self.fingerprint }
    }

    /// The rules by which a plan is made.
    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules { joins: &self.joins, deferred: &self.deferred, renamed: &self.former.renamed }
    }

    /// True if `field` is part of an outcome.
    pub(crate) fn shows(&self, field: &str) -> bool {
        match &self.output {
            Some(output) => output.iter().any(|name| name.as_ref() == field),
            None => !self.initial.schema().fields.iter().any(|f| f.private && f.name == field),
        }
    }

    /// The state as the routers behind `node` see it: without the private fields that the node does not read. Those of START see
    /// none.
    pub(crate) fn seen_by_routers<'a>(
        &self,
        node: Option<&Vertex<S, C>>,
        state: &'a S,
    ) -> Cow<'a, S> {
        let hidden = |field: &FieldSchema| {
            field.private && !node.is_some_and(|vertex| vertex.node.reads_private(&field.name))
        };
        let fields = &state.schema().fields;
        if !fields.iter().any(hidden) {
            return Cow::Borrowed(state);
        }
        let mut seen = S::clone(state);
        let shown = |name: &str| !fields.iter().any(|field| field.name == name && hidden(field));
        seen.retain(&shown, &self.initial);
        Cow::Owned(seen)
    }

    /// A state as an outcome shows it.
    pub(crate) fn shown(&self, state: &Arc<S>) -> Arc<S> {
        if self.shows_all {
            return state.clone();
        }
        let mut shown = S::clone(state);
        shown.retain(&|field| self.shows(field), &self.initial);
        Arc::new(shown)
    }
}

/// The edges, branches and commands that lead out of a node.
pub(crate) struct Ways<S> {
    pub(crate) edges: Vec<Arc<str>>,
    pub(crate) branches: Vec<Branch<S>>,
    /// The targets of its commands.
    pub(crate) goto: Vec<Arc<str>>,
}

pub(crate) type Router<S> = Arc<dyn Fn(&S) -> Result<Vec<Target>, BoxError> + Send + Sync>;

pub(crate) struct Branch<S> {
    pub(crate) router: Router<S>,
    pub(crate) declared: Vec<Arc<str>>,
}

/// Several nodes that all have to be done before one more runs.
#[derive(Debug, Clone)]
pub(crate) struct Join {
    pub(crate) name: String,
    pub(crate) sources: Vec<Arc<str>>,
    pub(crate) target: Arc<str>,
}

impl<S> Default for Ways<S> {
    fn default() -> Self {
        Self { edges: Vec::new(), branches: Vec::new(), goto: Vec::new() }
    }
}

impl<S: State, C: Send + Sync + 'static> Graph<S, C> {
    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl<S: State, C> Clone for Graph<S, C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: State, C> fmt::Debug for Graph<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("name", &self.0.name)
            .field("nodes", &self.0.nodes.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The parts of a graph that a plan needs.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) joins: &'a [Join],
    pub(crate) deferred: &'a BTreeSet<Arc<str>>,
    /// The current names of nodes, by their former names.
    pub(crate) renamed: &'a BTreeMap<Arc<str>, Arc<str>>,
}

impl Rules<'_> {
    pub(crate) fn current_name(&self, node: &Arc<str>) -> Arc<str> {
        self.renamed.get(node).unwrap_or(node).clone()
    }

    /// The task, under the node's current name.
    pub(crate) fn task(&self, due: &Due) -> Due {
        Due { node: self.current_name(&due.node), ..due.clone() }
    }
}
