//! The faults of a graph that cannot be built.

use std::fmt;

use thiserror::Error;

use crate::names::{instead, reserved, written};

/// The faults of a graph, all at once.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", "print");
/// let error = graph.interrupt_before(["ad"]).build().unwrap_err();
/// assert_eq!(error.faults.len(), 2);
/// assert!(error.to_string().contains("no node `print`; there are `add`"));
/// ```
#[derive(Debug, Error)]
pub struct BuildError {
    /// The graph's name.
    pub graph: String,
    /// The faults, in the order in which the parts were added.
    pub faults: Vec<Fault>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph `{}` cannot be built", self.graph)?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))
    }
}

/// One fault of a graph. A [`BuildError`] lists all of them, and a [`Lint`] allows some.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The graph has no node.
    #[error("it has no node: add `.node(\"…\", …)`, and edges from START to END by way of it")]
    NoNode,
    /// No edge or branch leads from [`START`](crate::START).
    #[error("nothing says where to begin: add `.edge(START, \"…\")`")]
    NoStart,
    /// An edge, branch, `goto` or join names an unknown node.
    #[error(
        "{kind} {} -> {}: no node {}; there are {}",
        written(from),
        written(to),
        written(node),
        instead(node, nodes)
    )]
    UnknownNode {
        /// `edge`, `branch`, `goto` or `join`.
        kind: &'static str,
        /// The source.
        from: String,
        /// The target.
        to: String,
        /// The unknown name.
        node: String,
        /// The nodes of the graph.
        nodes: Vec<String>,
    },
    /// Two nodes have one name.
    #[error("two nodes are named `{node}`: give one of them another name")]
    TwiceNamed {
        /// The name.
        node: String,
    },
    /// A node's name is START's or END's, empty, too long, or holds a control character.
    #[error("a node cannot be named {node:?}{}", why(reserved(node)))]
    BadName {
        /// The name.
        node: String,
    },
    /// The program aborts when something panics.
    #[error(
        "this program aborts on a panic, so a node that panics would end it: build it with `panic = \"unwind\"`, or say `.allow_abort()`"
    )]
    Aborts,
    /// A declaration names an unknown node.
    #[error("{what}: no node {}; there are {}", written(node), instead(node, nodes))]
    NoSuchNode {
        /// The declaration: `retry`, `timeout`, `breakpoint`, …
        what: &'static str,
        /// The unknown name.
        node: String,
        /// The nodes of the graph.
        nodes: Vec<String>,
    },
    /// A node that is declared as renamed or removed is still in the graph.
    #[error("{what}: the graph has a node `{node}`")]
    StillThere {
        /// The declaration: `renamed` or `removed`.
        what: &'static str,
        /// The node.
        node: String,
    },
    /// The input or output of the graph names an unknown field of the state.
    #[error("{what}: the state has no field `{field}`; there are {}", instead(field, fields))]
    NoSuchField {
        /// The declaration: `input` or `output`.
        what: &'static str,
        /// The unknown name.
        field: String,
        /// The fields of the state.
        fields: Vec<String>,
    },
    /// An async router stands behind START, where no node runs whose part it could be.
    #[error(
        "`.route(START, …)`: only a node has an async router; put it behind a node that does nothing"
    )]
    RouterOfStart,
    /// An async router reads a private field that its node does not read.
    #[error("`.route(\"{node}\", …)` reads the private field `{field}`, and `{node}` does not")]
    RouterReads {
        /// The node.
        node: String,
        /// The field.
        field: String,
    },
    /// A node that runs for [`SendTo`](crate::SendTo)s alone is the target of an edge or join, which carries no input.
    #[error(
        "{kind} {} -> `{to}`: `{to}` takes an input of its own, so only a `SendTo` can lead there",
        written(from)
    )]
    NeedsSend {
        /// `edge` or `join`.
        kind: &'static str,
        /// The source.
        from: String,
        /// The target.
        to: String,
    },
    /// Branches of different length meet in a node that is not joined. [`Lint::UnequalFanIn`] allows it.
    #[error(
        "`{node}` would run once for each branch from `{fork}`, which are of different length: `{short}` comes first, `{long}` later; join them with `.join([\"{short}\", \"{long}\"], \"{node}\")`, or compose `.defer()` or `.allow(Lint::UnequalFanIn)` on `{node}`"
    )]
    UnequalFanIn {
        /// The node where they meet.
        node: String,
        /// The node where they part.
        fork: String,
        /// The last node before it on the shorter branch.
        short: String,
        /// The last node before it on the longer branch.
        long: String,
    },
    /// No path leads to a node. [`Lint::Unreachable`] allows it.
    #[error(
        "no path leads to `{node}`: add `.edge(\"…\", \"{node}\")`, or name it among the targets of a branch or of `.goto(…)`"
    )]
    Unreachable {
        /// The node.
        node: String,
    },
    /// Nodes lead to each other by edges alone and no way leads out, so a turn there ends by its limits alone, or waits for an
    /// answer. [`Lint::DeadEnd`] on one of them allows it.
    #[error(
        "no way leads out of the circle of `{}`: add an edge or a branch from one of them, or compose `.allow(Lint::DeadEnd)` on it",
        nodes.join("`, `")
    )]
    NoWayOut {
        /// The nodes of the circle, sorted.
        nodes: Vec<String>,
    },
    /// No edge, branch or command leads out of a node. [`Lint::DeadEnd`] allows it.
    #[error(
        "no way leads out of `{node}`: add `.edge(\"{node}\", END)`, a branch, or compose `.goto(…)` on it for its commands"
    )]
    DeadEnd {
        /// The node.
        node: String,
    },
}

/// A fault that a graph may be allowed to have: [`NodeExt::allow`](crate::NodeExt::allow).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Lint {
    /// Allows [`Fault::Unreachable`].
    Unreachable,
    /// Allows [`Fault::DeadEnd`] and [`Fault::NoWayOut`].
    DeadEnd,
    /// Allows [`Fault::UnequalFanIn`].
    UnequalFanIn,
}

fn why(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}
