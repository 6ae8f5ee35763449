//! A graph, built and checked.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hanok_checkpoint::{Checkpointer, SharedCheckpointer};
use hanok_core::BoxError;
use hanok_state::State;

use crate::{App, GraphBuilder, Outcome, RunError, Runtime, Target, node::ErasedNode};

/// Where every run begins.
pub const START: &str = "__start__";

/// Where a path ends.
pub const END: &str = "__end__";

/// How many super-steps a turn may take if nothing else is said.
pub(crate) const RECURSION_LIMIT: u32 = 100;

/// A graph of nodes over the state `S`, whose nodes are given the services `C`. A clone costs a pointer.
pub struct Graph<S: State, C = ()>(pub(crate) Arc<Inner<S, C>>);

pub(crate) struct Inner<S: State, C> {
    pub(crate) name: String,
    pub(crate) nodes: BTreeMap<Arc<str>, Vertex<S, C>>,
    /// Where a run begins.
    pub(crate) start: Ways<S>,
    pub(crate) joins: Vec<Join>,
    pub(crate) recursion_limit: u32,
    pub(crate) fingerprint: u64,
    pub(crate) runtime: Runtime,
}

/// A node and its ways out.
pub(crate) struct Vertex<S: State, C> {
    pub(crate) node: Arc<dyn ErasedNode<S, C>>,
    pub(crate) ways: Ways<S>,
}

/// The ways out of a node.
pub(crate) struct Ways<S> {
    pub(crate) edges: Vec<Arc<str>>,
    pub(crate) branches: Vec<Branch<S>>,
    /// Where its commands may go.
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
    /// Begins a graph. The name is for people: drawings and errors.
    pub fn builder(name: &str) -> GraphBuilder<S, C> {
        GraphBuilder::new(name)
    }

    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The graph with threads that `store` keeps.
    pub fn checkpointer(&self, store: impl Checkpointer) -> App<S, C> {
        App::new(self.clone(), SharedCheckpointer::new(store))
    }

    /// Runs the graph once on `update`, from a default state, and keeps nothing.
    ///
    /// # Errors
    ///
    /// [`RunError`] when the run could not go on.
    pub async fn invoke(&self, update: S::Update, services: C) -> Result<Outcome<S>, RunError> {
        crate::begin::once(self, update, services).await
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
