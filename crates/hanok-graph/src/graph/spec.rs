//! Graphs as data.

mod entries;
mod error;
mod kinds;
mod route;

use std::{collections::BTreeMap, sync::Arc};

use hanok_core::{BoxError, BoxFuture};
use hanok_state::{DynamicSchema, DynamicState};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    graph::{
        builder::{GraphBuilder, NamedNode},
        definition::Graph,
        validate::Wiring,
    },
    names::{END, START},
    node::{command::Command, context::Context, function::ErasedNode},
};

pub use error::{SpecError, SpecFault};
pub use kinds::NodeKinds;

/// A graph as data: the fields of its state, its nodes by their kinds, and its edges. The code of a kind is
/// registered by name in [`NodeKinds`], and a spec runs no other code.
///
/// As JSON, `START` and `END` are the ends of a graph. A key that is not one of these is refused:
///
/// | key | what it holds |
/// | --- | --- |
/// | `name` | the graph's name, for people |
/// | `state` | the fields of its state: [`DynamicSchema`] |
/// | `nodes` | for each node its kind under `use`, and the settings of the kind under `with` |
/// | `edges` | pairs of names |
/// | `branches` | the target after `from`: the case in `cases` for the value of `field`, else `otherwise` |
/// | `joins` | `to` is due once when all of `from` are done |
/// | `recursion_limit` | [`GraphBuilder::recursion_limit`] |
///
/// ```
/// use hanok_graph::{Context, GraphSpec, NodeKinds, Snapshot};
/// use hanok_state::{DynamicState, DynamicUpdate, State};
/// use serde_json::json;
///
/// let spec: GraphSpec = serde_json::from_value(json!({
///     "name": "count",
///     "state": {"n": {"reduce": "sum"}, "done": {"reduce": "last"}},
///     "nodes": {"add": {"use": "add", "with": 2}},
///     "edges": [["START", "add"]],
///     "branches": [{"from": "add", "field": "done", "cases": {"true": "END"}, "otherwise": "add"}],
/// }))?;
/// let kinds = NodeKinds::new().kind("add", |by: u32| {
///     Ok::<_, std::convert::Infallible>(move |state: Snapshot<DynamicState>, _: Context| async move {
///         let n = state.get("n").and_then(|n| n.as_u64()).unwrap_or_default();
///         Ok::<_, std::convert::Infallible>(DynamicUpdate::new().set("n", by).set("done", n >= 4))
///     })
/// });
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let graph = spec.build(&kinds)?;
/// let state = graph.invoke(DynamicUpdate::new(), ()).await?.done()?;
/// assert_eq!(state.to_json()?, json!({"n": 6, "done": true}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSpec {
    /// The graph's name, for people: drawings and errors.
    pub name: String,
    /// The fields of its state.
    pub state: DynamicSchema,
    /// Its nodes, by name.
    #[serde(with = "entries")]
    pub nodes: Vec<(String, NodeSpec)>,
    /// Its edges, each from a node or `START` to a node or `END`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<(String, String)>,
    /// Its branches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<BranchSpec>,
    /// Its joins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<JoinSpec>,
    /// The limit of the super-steps of a turn; `None` for the default of [`GraphBuilder::recursion_limit`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursion_limit: Option<u32>,
}

/// A node of a [`GraphSpec`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Its kind, by the name under which [`NodeKinds`] has it.
    #[serde(rename = "use")]
    pub kind: String,
    /// The settings from which the kind makes the node.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub with: Value,
}

/// A branch of a [`GraphSpec`]: the value of one field chooses the target after `from`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchSpec {
    /// The node, or `START`.
    pub from: String,
    /// The field.
    pub field: String,
    /// The target of each value. A value that is no text counts as its JSON: `true`, `3`, `null`.
    pub cases: BTreeMap<String, String>,
    /// The target of every other value. With `None` such a value fails the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<String>,
}

/// A join of a [`GraphSpec`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JoinSpec {
    /// The nodes that all have to be done.
    pub from: Vec<String>,
    /// The node that is due then.
    pub to: String,
}

impl GraphSpec {
    /// Builds the graph with the nodes that `kinds` make, and checks it.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with every fault of the spec and of the graph that it describes.
    pub fn build<C: Send + Sync + 'static>(
        &self,
        kinds: &NodeKinds<C>,
    ) -> Result<Graph<DynamicState, C>, SpecError> {
        let (builder, mut faults) = self.assembled(kinds);
        faults.extend(Wiring::of(&builder).faults().into_iter().map(SpecFault::Graph));
        self.refuse(faults)?;
        let built = builder.build();
        built.map_err(|error| {
            let faults = error.faults.into_iter().map(SpecFault::Graph).collect();
            SpecError { graph: self.name.clone(), faults }
        })
    }

    /// The builder of the graph, for settings that are not data: its runtime, and nodes that are of no kind.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::{DynamicState, DynamicUpdate}, serde_json::json};
    /// # async fn add(state: Snapshot<DynamicState>, _: Context) -> Result<DynamicUpdate, std::io::Error> { Ok(DynamicUpdate::new()) }
    /// let spec: GraphSpec = serde_json::from_value(json!({"name": "g", "state": {"n": {"reduce": "sum"}}, "nodes": {}}))?;
    /// let builder = spec.builder(&NodeKinds::new())?;
    /// let graph = builder.node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SpecError`] with every fault of the spec. [`GraphBuilder::build`] reports those of the graph.
    pub fn builder<C: Send + Sync + 'static>(
        &self,
        kinds: &NodeKinds<C>,
    ) -> Result<GraphBuilder<DynamicState, C>, SpecError> {
        let (builder, faults) = self.assembled(kinds);
        self.refuse(faults)?;
        Ok(builder)
    }

    fn refuse(&self, faults: Vec<SpecFault>) -> Result<(), SpecError> {
        if faults.is_empty() {
            return Ok(());
        }
        Err(SpecError { graph: self.name.clone(), faults })
    }

    /// The builder with all parts that can be put together, and the faults of the others. A node that cannot be made
    /// keeps its place, so that the edges to it are no faults of their own.
    fn assembled<C: Send + Sync + 'static>(
        &self,
        kinds: &NodeKinds<C>,
    ) -> (GraphBuilder<DynamicState, C>, Vec<SpecFault>) {
        let mut faults = Vec::new();
        let mut builder = Graph::builder(&self.name);
        match self.state.clone().named(&self.name).state() {
            Ok(initial) => builder = builder.initial(initial),
            Err(error) => faults.push(SpecFault::State(error)),
        }
        for (name, node) in &self.nodes {
            let made = kinds.make(name, node).unwrap_or_else(|fault| {
                faults.push(fault);
                Arc::new(Unmade) as Arc<dyn ErasedNode<DynamicState, C>>
            });
            builder.nodes.push(NamedNode { name: place(name).into(), node: made, inside: None });
        }
        for (from, to) in &self.edges {
            builder = builder.edge(place(from), place(to));
        }
        for branch in &self.branches {
            if !self.state.fields().any(|(name, _)| name == branch.field) {
                faults.push(SpecFault::UnknownField {
                    from: branch.from.clone(),
                    field: branch.field.clone(),
                    fields: self.state.fields().map(|(name, _)| name.to_owned()).collect(),
                });
            }
            let targets: Vec<_> = branch.targets().map(place).collect();
            let from = place(&branch.from);
            let branch = branch.clone();
            builder = builder.branch(from, move |state| branch.route(state), targets);
        }
        for join in &self.joins {
            builder = builder.join(join.from.iter().map(|from| place(from)), place(&join.to));
        }
        if let Some(limit) = self.recursion_limit {
            builder = builder.recursion_limit(limit);
        }
        (builder, faults)
    }
}

/// A name of a spec as a graph has it.
fn place(name: &str) -> &str {
    match name {
        "START" => START,
        "END" => END,
        name => name,
    }
}

/// A stand-in for a node that cannot be made, in a graph that is never built.
struct Unmade;

impl<C: Send + Sync + 'static> ErasedNode<DynamicState, C> for Unmade {
    fn run(
        &self,
        _state: &Arc<DynamicState>,
        _context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<DynamicState>, BoxError>> {
        Box::pin(async { Err("the node could not be made".into()) })
    }
}
