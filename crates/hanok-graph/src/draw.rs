//! Drawings of a graph.

use std::fmt::Write;

use hanok_state::State;

use crate::{
    END, Graph, START,
    graph::{Inner, Ways},
};

/// One line of a drawing.
struct Line<'a> {
    from: &'a str,
    to: &'a str,
    /// A way that is taken or not.
    maybe: bool,
}

impl<S: State, C: Send + Sync + 'static> Graph<S, C> {
    /// The graph as a Mermaid flowchart (<https://mermaid.js.org/syntax/flowchart.html>): solid lines are edges, dotted
    /// ones are taken or not. The same graph is the same text, byte for byte.
    pub fn mermaid(&self) -> String {
        let inner = &self.0;
        let mut text = String::from("flowchart TD\n");
        text += "    __start__([START])\n";
        for (i, node) in inner.nodes.keys().enumerate() {
            line(&mut text, format_args!("    n{i}[\"{}\"]", node.replace('"', "#quot;")));
        }
        text += "    __end__([END])\n";
        for Line { from, to, maybe } in inner.lines() {
            let arrow = if maybe { "-.->" } else { "-->" };
            let (from, to) = (inner.mermaid_name(from), inner.mermaid_name(to));
            line(&mut text, format_args!("    {from} {arrow} {to}"));
        }
        text
    }

    /// The graph in DOT, the language of Graphviz (<https://graphviz.org/doc/info/lang.html>): dashed lines are taken or
    /// not.
    pub fn dot(&self) -> String {
        let quoted =
            |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
        let mut text = format!("digraph {} {{\n", quoted(self.name()));
        for Line { from, to, maybe } in self.0.lines() {
            let style = if maybe { " [style=dashed]" } else { "" };
            line(&mut text, format_args!("    {} -> {}{style};", quoted(from), quoted(to)));
        }
        text += "}\n";
        text
    }
}

impl<S: State, C> Inner<S, C> {
    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        ways(&mut lines, START, &self.start);
        for (node, vertex) in &self.nodes {
            ways(&mut lines, node, &vertex.ways);
        }
        for join in &self.joins {
            lines.extend(join.sources.iter().map(|from| Line {
                from,
                to: &join.target,
                maybe: false,
            }));
        }
        lines
    }

    fn mermaid_name(&self, node: &str) -> String {
        match self.nodes.keys().position(|name| name.as_ref() == node) {
            Some(i) => format!("n{i}"),
            None if node == START => START.to_owned(),
            None => END.to_owned(),
        }
    }
}

fn ways<'a, S>(lines: &mut Vec<Line<'a>>, from: &'a str, ways: &'a Ways<S>) {
    lines.extend(ways.edges.iter().map(|to| Line { from, to, maybe: false }));
    let branched = ways.branches.iter().flat_map(|branch| &branch.declared);
    lines.extend(branched.chain(&ways.goto).map(|to| Line { from, to, maybe: true }));
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing into a `String` cannot fail.
    let written = writeln!(text, "{line}");
    debug_assert!(written.is_ok(), "writing into memory");
}
