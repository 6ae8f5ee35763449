//! Drawings of a graph.

use std::{fmt::Write, sync::Arc};

use hanok_state::State;

use crate::{
    graph::definition::{Graph, Ways},
    names::{END, START},
};

/// A drawing of a graph: its nodes and edges, and the graphs that its nodes call. The same graph draws the same text,
/// byte for byte.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// let drawing = graph.drawing();
/// assert!(drawing.mermaid().starts_with("flowchart"));
/// assert!(drawing.dot().starts_with("digraph"));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    name: String,
    pub(super) nodes: Vec<String>,
    pub(super) lines: Vec<Line>,
    /// The nodes that call graphs, each with its graph.
    calls: Vec<(String, Drawing)>,
}

/// Draws the graph that a node is, a number of levels deep.
pub(crate) type DrawInside = Arc<dyn Fn(usize) -> Drawing + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) from: String,
    pub(super) to: String,
    /// True for a conditional line, which is taken or not.
    pub(super) maybe: bool,
}

impl<S: State, C: Send + Sync + 'static> Graph<S, C> {
    /// The drawing of the graph, without the graphs that its nodes are.
    pub fn drawing(&self) -> Drawing {
        self.drawing_to(1)
    }

    /// The drawing of the graph, `levels` deep: 1 is the graph alone, 2 includes the graphs that its nodes are, and so
    /// on.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let outer = Graph::<Count>::builder("outer").subgraph("call", Subgraph::shared(inner));
    /// let outer = outer.edge(START, "call").edge("call", END).build()?;
    /// assert!(!outer.drawing().mermaid().contains("add"));
    /// assert!(outer.drawing_to(2).mermaid().contains("add"));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn drawing_to(&self, levels: usize) -> Drawing {
        let inner = &self.0;
        let mut lines = Vec::new();
        ways(&mut lines, START, &inner.start);
        for (node, vertex) in &inner.nodes {
            ways(&mut lines, node, &vertex.ways);
        }
        for join in &inner.joins {
            lines.extend(join.sources.iter().map(|from| Line::new(from, &join.target, false)));
        }
        let nodes = inner.nodes.keys().map(ToString::to_string).collect();
        let deeper = levels.saturating_sub(1);
        let inside = inner.nodes.iter().filter(|_| deeper > 0);
        let calls = inside.filter_map(|(node, vertex)| {
            vertex.inside.as_ref().map(|draw| (node.to_string(), draw(deeper)))
        });
        Drawing { name: inner.name.to_string(), nodes, lines, calls: calls.collect() }
    }

    /// The graph as a Mermaid flowchart: [`Drawing::mermaid`].
    pub fn mermaid(&self) -> String {
        self.drawing().mermaid()
    }

    /// The graph in DOT: [`Drawing::dot`].
    pub fn dot(&self) -> String {
        self.drawing().dot()
    }
}

impl Drawing {
    /// Draws `callee` too, as the graph that `node` calls.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// // `add` calls `inner` by `Context::run`, which no drawing can know.
    /// # let inner = Graph::<Count>::builder("inner").node("one", add).edge(START, "one").edge("one", END).build()?;
    /// # let outer = Graph::<Count>::builder("outer").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let drawing = outer.drawing().calls("add", inner.drawing());
    /// assert!(drawing.mermaid().contains("one"));
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn calls(mut self, node: &str, callee: Self) -> Self {
        self.calls.push((node.to_owned(), callee));
        self
    }

    /// The drawing as a [Mermaid flowchart](https://mermaid.js.org/syntax/flowchart.html). Solid lines are edges, dotted
    /// lines are conditional, and a graph that a node calls is a box of its own.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        self.mermaid_part(&mut text, "", 1);
        text
    }

    /// Writes nodes and lines `depth` levels deep, with `prefix` before their names.
    fn mermaid_part(&self, text: &mut String, prefix: &str, depth: usize) {
        let indent = "    ".repeat(depth);
        line(text, format_args!("{indent}{prefix}{START}([START])"));
        for (i, node) in self.nodes.iter().enumerate() {
            line(text, format_args!("{indent}{prefix}n{i}[\"{}\"]", escaped(node)));
        }
        line(text, format_args!("{indent}{prefix}{END}([END])"));
        for Line { from, to, maybe } in &self.lines {
            let arrow = if *maybe { "-.->" } else { "-->" };
            let (from, to) = (self.id(from), self.id(to));
            line(text, format_args!("{indent}{prefix}{from} {arrow} {prefix}{to}"));
        }
        for (i, (node, callee)) in self.calls.iter().enumerate() {
            let inner = format!("{prefix}g{i}");
            line(text, format_args!("{indent}subgraph {inner}[\"{}\"]", escaped(&callee.name)));
            callee.mermaid_part(text, &format!("{inner}_"), depth + 1);
            line(text, format_args!("{indent}end"));
            line(text, format_args!("{indent}{prefix}{} -.-> {inner}", self.id(node)));
        }
    }

    /// A node's name within the drawing.
    fn id(&self, node: &str) -> String {
        match self.nodes.iter().position(|name| name == node) {
            Some(i) => format!("n{i}"),
            None => node.to_owned(),
        }
    }

    /// The drawing in [DOT](https://graphviz.org/doc/info/lang.html), the language of Graphviz, without the graphs that
    /// nodes call. Dashed lines are conditional.
    pub fn dot(&self) -> String {
        let quoted = |name: &str| {
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", name.replace(char::is_control, " "))
        };
        let mut text = format!("digraph {} {{\n", quoted(&self.name));
        for Line { from, to, maybe } in &self.lines {
            let style = if *maybe { " [style=dashed]" } else { "" };
            line(&mut text, format_args!("    {} -> {}{style};", quoted(from), quoted(to)));
        }
        text += "}\n";
        text
    }
}

impl Line {
    fn new(from: &str, to: &str, maybe: bool) -> Self {
        Self { from: from.to_owned(), to: to.to_owned(), maybe }
    }
}

fn ways<S>(lines: &mut Vec<Line>, from: &str, ways: &Ways<S>) {
    lines.extend(ways.edges.iter().map(|to| Line::new(from, to, false)));
    let branched = ways.branches.iter().flat_map(|branch| &branch.declared);
    lines.extend(branched.chain(&ways.goto).map(|to| Line::new(from, to, true)));
}

/// A name as the text of a label in Mermaid, which takes labels for markup.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for sign in name.chars() {
        match sign {
            '"' => text.push_str("#quot;"),
            '#' => text.push_str("#35;"),
            '<' => text.push_str("#lt;"),
            '>' => text.push_str("#gt;"),
            sign if sign.is_control() => text.push(' '),
            sign => text.push(sign),
        }
    }
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing into a `String` cannot fail.
    let written = writeln!(text, "{line}");
    debug_assert!(written.is_ok(), "writing into memory");
}
