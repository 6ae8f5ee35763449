//! A graph for petgraph's algorithms.

use std::collections::BTreeMap;

use hanok_state::State;
use petgraph::graph::DiGraph;

use crate::graph::{definition::Graph, draw::Drawing};

/// The kind of a way from one node to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WayKind {
    /// It is always taken: an edge or a join.
    Edge,
    /// It may be taken: by a branch, or by a command.
    Conditional,
}

impl<S: State, C: Send + Sync + 'static> Graph<S, C> {
    /// The graph as one of petgraph's, in which nodes weigh their names, [`START`](crate::START) and [`END`](crate::END) included
    /// where a way leads there, and edges the kind of the way. Graphs that its nodes are stay nodes.
    ///
    /// ```
    /// # use hanok_graph::*;
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let again = |count: &Count| if count.n < 3 { "add" } else { END };
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").branch("add", again, ["add", END]);
    /// let graph = graph.build()?.to_petgraph();
    /// assert!(petgraph::algo::is_cyclic_directed(&graph));
    /// assert!(graph.edge_weights().any(|way| *way == WayKind::Conditional));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn to_petgraph(&self) -> DiGraph<String, WayKind> {
        self.drawing().to_petgraph()
    }
}

impl Drawing {
    fn to_petgraph(&self) -> DiGraph<String, WayKind> {
        let (mut graph, mut places) = (DiGraph::new(), BTreeMap::new());
        for name in self.nodes() {
            places.insert(name, graph.add_node(name.to_owned()));
        }
        for (from, to, maybe) in self.ways() {
            let [from, to] = [from, to]
                .map(|name| *places.entry(name).or_insert_with(|| graph.add_node(name.to_owned())));
            let kind = if maybe { WayKind::Conditional } else { WayKind::Edge };
            graph.add_edge(from, to, kind);
        }
        graph
    }
}
