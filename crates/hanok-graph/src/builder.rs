//! Building a graph.

use std::{fmt, marker::PhantomData, sync::Arc};

use hanok_state::State;

use crate::{
    BuildError, Graph, IntoTargets, Node, Runtime,
    graph::{Branch, Inner, Join, RECURSION_LIMIT, Router, Vertex},
    node::{ErasedNode, Typed},
    validate,
};

type NamedNode<S, C> = (Arc<str>, Arc<dyn ErasedNode<S, C>>);

/// Where it begins, how it chooses, and what it may choose.
type NamedBranch<S> = (Arc<str>, Router<S>, Vec<Arc<str>>);

/// Builds a [`Graph`]. Nothing is checked before [`build`](GraphBuilder::build), which reports every fault at once.
#[must_use]
pub struct GraphBuilder<S: State, C = ()> {
    pub(crate) name: String,
    pub(crate) nodes: Vec<NamedNode<S, C>>,
    pub(crate) edges: Vec<(Arc<str>, Arc<str>)>,
    pub(crate) branches: Vec<NamedBranch<S>>,
    pub(crate) gotos: Vec<(Arc<str>, Vec<Arc<str>>)>,
    pub(crate) joins: Vec<Join>,
    pub(crate) allow_abort: bool,
    recursion_limit: u32,
    runtime: Runtime,
}

impl<S: State, C: Send + Sync + 'static> GraphBuilder<S, C> {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            nodes: Vec::new(),
            edges: Vec::new(),
            branches: Vec::new(),
            gotos: Vec::new(),
            joins: Vec::new(),
            allow_abort: false,
            recursion_limit: RECURSION_LIMIT,
            runtime: Runtime::default(),
        }
    }

    /// Adds a node: an `async fn(Snapshot<S>, Context<C>) -> Result<impl IntoCommand<S>, E>`.
    pub fn node<M: 'static>(mut self, name: &str, node: impl Node<S, C, M>) -> Self {
        self.nodes.push((name.into(), Arc::new(Typed(node, PhantomData))));
        self
    }

    /// Adds an edge: when `from` is done, `to` is due.
    pub fn edge(mut self, from: &str, to: &str) -> Self {
        self.edges.push((from.into(), to.into()));
        self
    }

    /// Adds a branch: when `from` is done, `router` says where to go on, among `targets`.
    ///
    /// The router sees the state with what `from` wrote, and not what its siblings wrote. It belongs to the node: if it
    /// fails, the node's task has failed.
    pub fn branch<R: IntoTargets>(
        mut self,
        from: &str,
        router: impl Fn(&S) -> R + Send + Sync + 'static,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let declared = targets.into_iter().map(|target| target.as_ref().into()).collect();
        let router: Router<S> = Arc::new(move |state| router(state).into_targets());
        self.branches.push((from.into(), router, declared));
        self
    }

    /// Declares where the commands of `from` may go.
    pub fn goto(mut self, from: &str, targets: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let targets = targets.into_iter().map(|target| target.as_ref().into()).collect();
        self.gotos.push((from.into(), targets));
        self
    }

    /// Adds a join: `to` is due once when all of `from` are done, in whichever super-steps; then it waits for all anew.
    pub fn join(mut self, from: impl IntoIterator<Item = impl AsRef<str>>, to: &str) -> Self {
        let sources: Vec<Arc<str>> = from.into_iter().map(|from| from.as_ref().into()).collect();
        let name = format!("{}->{to}", sources.join("+"));
        self.joins.push(Join { name, sources, target: to.into() });
        self
    }

    /// How many super-steps a turn may take. Default: 100.
    pub fn recursion_limit(self, recursion_limit: u32) -> Self {
        Self { recursion_limit, ..self }
    }

    /// Accepts a program that was built with `panic = "abort"`, where a panic of a node ends the program and not its run
    /// alone. Default: such a graph is refused.
    pub fn allow_abort(self) -> Self {
        Self { allow_abort: true, ..self }
    }

    /// Where time, ids, randomness and tasks come from. Default: the system's, and tokio's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// The graph, checked.
    ///
    /// # Errors
    ///
    /// [`BuildError`] with every fault there is.
    pub fn build(self) -> Result<Graph<S, C>, BuildError> {
        let faults = validate::faults(&self);
        if !faults.is_empty() {
            return Err(BuildError { graph: self.name, faults });
        }
        let fingerprint = validate::fingerprint(&self);
        let mut inner = Inner {
            name: self.name,
            nodes: std::collections::BTreeMap::new(),
            start: Default::default(),
            joins: self.joins,
            recursion_limit: self.recursion_limit,
            fingerprint,
            runtime: self.runtime,
        };
        for (name, node) in self.nodes {
            inner.nodes.insert(name, Vertex { node, ways: Default::default() });
        }
        for (from, to) in self.edges {
            if let Some(ways) = inner.ways_mut(&from) {
                ways.edges.push(to);
            }
        }
        for (from, router, declared) in self.branches {
            if let Some(ways) = inner.ways_mut(&from) {
                ways.branches.push(Branch { router, declared });
            }
        }
        for (from, targets) in self.gotos {
            if let Some(ways) = inner.ways_mut(&from) {
                ways.goto.extend(targets);
            }
        }
        Ok(Graph(Arc::new(inner)))
    }
}

impl<S: State, C> fmt::Debug for GraphBuilder<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<S: State, C> Inner<S, C> {
    fn ways_mut(&mut self, node: &str) -> Option<&mut crate::graph::Ways<S>> {
        if node == crate::START {
            return Some(&mut self.start);
        }
        self.nodes.get_mut(node).map(|vertex| &mut vertex.ways)
    }
}
