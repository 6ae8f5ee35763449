//! Sets of nodes, by name or all of them.

use std::{collections::BTreeSet, sync::Arc};

/// Nodes by their names, or all nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeSet {
    pub(crate) names: BTreeSet<Arc<str>>,
    /// True for all nodes.
    pub(crate) all: bool,
}

impl NodeSet {
    pub(crate) fn contains(&self, node: &str) -> bool {
        self.all || self.names.contains(node)
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.names.is_empty()
    }
}

/// The breakpoints of a graph or of a run: the nodes before and after which it stops.
#[derive(Debug, Clone, Default)]
pub(crate) struct Breakpoints {
    pub(crate) before: NodeSet,
    pub(crate) after: NodeSet,
}

impl Breakpoints {
    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// The nodes that are named.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.before.names.iter().chain(&self.after.names)
    }
}
