//! A graph, built and checked.

use hanok_core::{BoxError, Budget, ThreadKey};
use hanok_state::State;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};
use tracing::Span;

use crate::{
    graph::{draw::DrawInside, migration::Migration},
    node::{
        cache::Results,
        command::{Kind, Target},
        function::ErasedNode,
        settings::NodeSettings,
    },
    runtime::Runtime,
    slots::Slots,
};
use hanok_checkpoint::Due;

/// How many super-steps a turn may take if nothing else is said.
pub(crate) const RECURSION_LIMIT: u32 = 100;

/// How many tasks a super-step may have if nothing else is said.
pub(crate) const FAN_OUT: usize = 1_024;

/// How many retries a run may make if nothing else is said.
pub(crate) const RETRIES: u32 = 100;

/// A graph of nodes over the state `S`, whose nodes are given the services `C`. A clone costs a pointer.
pub struct Graph<S: State, C = ()>(pub(crate) Arc<Definition<S, C>>);

pub(crate) struct Definition<S: State, C> {
    pub(crate) name: String,
    /// What a thread begins with.
    pub(crate) initial: Arc<S>,
    /// Whether fields of the state are there for one super-step only.
    pub(crate) has_ephemeral: bool,
    /// Whether an outcome shows every field.
    pub(crate) shows_all: bool,
    pub(crate) nodes: BTreeMap<Arc<str>, Vertex<S, C>>,
    /// Where a run begins.
    pub(crate) start: Ways<S>,
    pub(crate) joins: Vec<Join>,
    pub(crate) former: Migration<S, C>,
    pub(crate) deferred: BTreeSet<Arc<str>>,
    /// Breakpoints.
    pub(crate) before: BTreeSet<Arc<str>>,
    pub(crate) after: BTreeSet<Arc<str>>,
    /// The fields that an input may write, and that an outcome shows; `None` for all.
    pub(crate) input: Option<Vec<Arc<str>>>,
    pub(crate) output: Option<Vec<Arc<str>>>,
    pub(crate) results: Results<S>,
    pub(crate) fail_fast: bool,
    /// Whether its runs are an agent's, to whoever watches.
    pub(crate) agent: bool,
    pub(crate) slots: Option<Slots>,
    pub(crate) fan_out: usize,
    pub(crate) budget: Budget,
    pub(crate) retry_budget: u32,
    pub(crate) recursion_limit: u32,
    pub(crate) fingerprint: u64,
    pub(crate) runtime: Runtime,
}

/// A node, its ways out, and what was said about it.
pub(crate) struct Vertex<S: State, C> {
    pub(crate) node: Arc<dyn ErasedNode<S, C>>,
    /// The type of input that it takes from `SendTo`s alone.
    pub(crate) kind: Option<Kind>,
    pub(crate) inside: Option<DrawInside>,
    pub(crate) ways: Ways<S>,
    pub(crate) settings: NodeSettings<S, C>,
}

impl<S: State, C> Definition<S, C> {
    /// A run of the graph, to whoever watches.
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

    /// What a plan needs to know.
    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules { joins: &self.joins, deferred: &self.deferred, renamed: &self.former.renamed }
    }

    /// Whether `field` is part of an outcome.
    pub(crate) fn shows(&self, field: &str) -> bool {
        match &self.output {
            Some(output) => output.iter().any(|name| name.as_ref() == field),
            None => !self.initial.schema().fields.iter().any(|f| f.private && f.name == field),
        }
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

/// What a graph says of its nodes that a plan needs.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) joins: &'a [Join],
    pub(crate) deferred: &'a BTreeSet<Arc<str>>,
    /// What nodes are called now that had other names in earlier builds.
    pub(crate) renamed: &'a BTreeMap<Arc<str>, Arc<str>>,
}

impl Rules<'_> {
    pub(crate) fn current_name(&self, node: &Arc<str>) -> Arc<str> {
        self.renamed.get(node).unwrap_or(node).clone()
    }

    /// The task, of the node as it is called now.
    pub(crate) fn task(&self, due: &Due) -> Due {
        Due { node: self.current_name(&due.node), ..due.clone() }
    }
}
