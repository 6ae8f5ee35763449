//! A graph as petgraph's.

use std::collections::BTreeMap;

use hanok_state::State;
use petgraph::graph::DiGraph;

use crate::{
    graph::definition::Graph,
    names::{END, START},
};

impl<S: State, C: Send + Sync + 'static> Graph<S, C> {
    /// The graph as petgraph's, for its algorithms: the weight of a node is its name, [`START`] and [`END`] among them; that
    /// of an edge is `true` when it is conditional, which is what a branch or a command may choose. A graph that a node
    /// calls is not included. The same graph gives the same indices: START, END, and the nodes by name.
    ///
    /// With the feature `petgraph`. Its release is the one of [`hanok_graph::petgraph`](crate::petgraph).
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// use hanok_graph::petgraph::algo::is_cyclic_directed;
    ///
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add");
    /// let graph = graph.branch("add", |count: &Count| if count.n < 3 { "add" } else { END }, ["add", END]).build()?;
    /// let graph = graph.to_petgraph();
    /// assert!(is_cyclic_directed(&graph));
    /// assert_eq!(graph.node_weights().collect::<Vec<_>>(), [START, END, "add"]);
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn to_petgraph(&self) -> DiGraph<String, bool> {
        let drawing = self.drawing();
        let mut graph = DiGraph::new();
        let names = [START, END].into_iter().chain(drawing.nodes.iter().map(String::as_str));
        let indices: BTreeMap<_, _> =
            names.map(|name| (name, graph.add_node(name.to_owned()))).collect();
        for line in &drawing.lines {
            if let (Some(from), Some(to)) =
                (indices.get(line.from.as_str()), indices.get(line.to.as_str()))
            {
                graph.add_edge(*from, *to, line.maybe);
            }
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Snapshot};

    #[derive(State, Clone, Debug, Default)]
    struct Count {
        n: u32,
    }

    async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> {
        Ok(Count::update().n(state.n + 1))
    }

    #[test]
    fn every_way_is_an_edge() {
        let graph = Graph::<Count>::builder("count").node("b", add).node("a", add).node("c", add);
        let graph = graph.edge(START, "a").edge(START, "b").join(["a", "b"], "c");
        let graph = graph.branch("c", |_: &Count| END, ["a", END]).build().unwrap().to_petgraph();
        let edges = graph.edge_indices().filter_map(|edge| {
            let (from, to) = graph.edge_endpoints(edge)?;
            Some((graph[from].as_str(), graph[to].as_str(), graph[edge]))
        });
        let mut edges: Vec<_> = edges.collect();
        edges.sort_unstable();
        let mut want = [
            (START, "a", false),
            (START, "b", false),
            ("a", "c", false),
            ("b", "c", false),
            ("c", "a", true),
            ("c", END, true),
        ];
        want.sort_unstable();
        assert_eq!(edges, want);
    }
}
