//! Where a graph leads: reachability and circles, by petgraph.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::{
    algo::kosaraju_scc,
    graph::{DiGraph, NodeIndex},
    visit::Dfs,
};

use crate::names::{END, START};

/// The nodes of a graph, START and END among them, and what leads from one to another.
pub(super) struct Paths<'a> {
    graph: DiGraph<&'a str, ()>,
    indices: BTreeMap<&'a str, NodeIndex>,
}

/// Nodes that no way leads out of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trap<'a> {
    /// A node without any way.
    Node(&'a str),
    /// Nodes that lead to each other and nowhere else, sorted.
    Circle(Vec<&'a str>),
}

impl<'a> Paths<'a> {
    /// Of these ways, each from a node to a node.
    pub(super) fn new(
        nodes: impl IntoIterator<Item = &'a str>,
        ways: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut paths = Self { graph: DiGraph::new(), indices: BTreeMap::new() };
        for node in nodes {
            paths.index(node);
        }
        for (from, to) in ways {
            let (from, to) = (paths.index(from), paths.index(to));
            paths.graph.add_edge(from, to, ());
        }
        paths
    }

    fn index(&mut self, node: &'a str) -> NodeIndex {
        *self.indices.entry(node).or_insert_with(|| self.graph.add_node(node))
    }

    fn name(&self, node: NodeIndex) -> Option<&'a str> {
        self.graph.node_weight(node).copied()
    }

    /// The nodes that paths lead to from START, which is one of them.
    pub(super) fn reached(&self) -> BTreeSet<&'a str> {
        let Some(start) = self.indices.get(START) else { return BTreeSet::new() };
        let mut search = Dfs::new(&self.graph, *start);
        let nodes = std::iter::from_fn(|| search.next(&self.graph));
        nodes.filter_map(|node| self.name(node)).collect()
    }

    /// Where a run could not go on to END: the nodes without a way first, then the circles, both sorted.
    pub(super) fn traps(&self) -> Vec<Trap<'a>> {
        let (mut nodes, mut circles) = (BTreeSet::new(), BTreeSet::new());
        // Tarjan's is recursive there: a long graph would overflow the stack.
        for component in kosaraju_scc(&self.graph) {
            let inside: BTreeSet<_> = component.iter().copied().collect();
            let targets = || component.iter().flat_map(|node| self.graph.neighbors(*node));
            if targets().any(|to| !inside.contains(&to)) {
                continue;
            }
            let mut names: Vec<_> = component.iter().filter_map(|node| self.name(*node)).collect();
            names.sort_unstable();
            match *names {
                [END] => {}
                [name] if targets().next().is_none() => drop(nodes.insert(name)),
                _ => drop(circles.insert(names)),
            }
        }
        nodes.into_iter().map(Trap::Node).chain(circles.into_iter().map(Trap::Circle)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_a_trap_when_nothing_leads_out_of_it() {
        let traps = |ways: &[(&'static str, &'static str)]| {
            Paths::new(["a", "b", "c"], ways.iter().copied()).traps()
        };
        let circle = |names: &[&'static str]| Trap::Circle(names.to_vec());
        let through = [(START, "a"), ("a", "b"), ("b", "c"), ("c", END)];
        assert_eq!(traps(&through), []);
        assert_eq!(traps(&[&through[..], &[("c", "a"), ("b", "b")]].concat()), []);
        assert_eq!(traps(&through[..3]), [Trap::Node("c")]);
        assert_eq!(traps(&[&through[..3], &[("c", "b")]].concat()), [circle(&["b", "c"])]);
        assert_eq!(traps(&[&through[..3], &[("c", "c")]].concat()), [circle(&["c"])]);
        assert_eq!(
            traps(&[(START, "c"), ("b", "b"), ("c", "c")]),
            [Trap::Node("a"), circle(&["b"]), circle(&["c"])]
        );
    }

    #[test]
    fn a_long_graph_is_searched_on_a_small_stack() {
        let names: Vec<_> = (0..100_000).map(|n| format!("{n:06}")).collect();
        let all: Vec<_> = names.iter().map(String::as_str).collect();
        let start = [(START, all[0])];
        let chain = start.into_iter().chain(all.windows(2).map(|two| (two[0], two[1])));
        let last = all[all.len() - 1];
        let through = Paths::new([], chain.clone().chain([(last, END)]));
        assert_eq!(through.traps(), []);
        assert_eq!(through.reached().len(), all.len() + 2);
        let circle = Paths::new([], chain.chain([(last, all[0])]));
        assert_eq!(circle.traps(), [Trap::Circle(all)]);
    }

    #[test]
    fn what_is_reached_is_what_a_path_leads_to() {
        let paths =
            Paths::new(["a", "b", "c", "d"], [(START, "a"), ("a", "b"), ("b", "a"), ("c", "d")]);
        assert_eq!(paths.reached(), BTreeSet::from([START, "a", "b"]));
        assert_eq!(Paths::new(["a"], []).reached(), BTreeSet::new());
    }
}
