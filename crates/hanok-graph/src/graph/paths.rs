//! Where a graph leads: reachability and circles.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{END, START};

/// To each node the ones that ways lead to from it.
type Ways<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The nodes of a graph, START and END among them, and what leads from one to another.
pub(super) struct Paths<'a> {
    forth: Ways<'a>,
    back: Ways<'a>,
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
        let mut forth: Ways<'a> = nodes.into_iter().map(|node| (node, BTreeSet::new())).collect();
        let mut back = forth.clone();
        for (from, to) in ways {
            forth.entry(from).or_default().insert(to);
            forth.entry(to).or_default();
            back.entry(to).or_default().insert(from);
            back.entry(from).or_default();
        }
        Self { forth, back }
    }

    /// The nodes that paths lead to from START, which is one of them.
    pub(super) fn reached(&self) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        if self.forth.contains_key(START) {
            search(&self.forth, START, &mut reached);
        }
        reached
    }

    /// Where a run could not go on to END: the nodes without a way first, then the circles, both sorted.
    pub(super) fn traps(&self) -> Vec<Trap<'a>> {
        let (mut nodes, mut circles) = (BTreeSet::new(), BTreeSet::new());
        // Kosaraju's components: searched in this order, forth, each search sees one of them.
        let mut seen = BTreeSet::new();
        let order: Vec<_> =
            self.back.keys().flat_map(|node| search(&self.back, node, &mut seen)).collect();
        let mut seen = BTreeSet::new();
        for node in order.into_iter().rev() {
            let component: BTreeSet<_> = search(&self.forth, node, &mut seen).into_iter().collect();
            let targets = || component.iter().flat_map(|node| targets(&self.forth, node));
            if component.is_empty() || targets().any(|to| !component.contains(to)) {
                continue;
            }
            let names: Vec<_> = component.iter().copied().collect();
            match *names {
                [END] => {}
                [name] if targets().next().is_none() => drop(nodes.insert(name)),
                _ => drop(circles.insert(names)),
            }
        }
        nodes.into_iter().map(Trap::Node).chain(circles.into_iter().map(Trap::Circle)).collect()
    }
}

fn targets<'w, 'a>(ways: &'w Ways<'a>, node: &str) -> impl Iterator<Item = &'a str> + use<'w, 'a> {
    ways.get(node).into_iter().flatten().copied()
}

/// What paths lead to from a node and had not been seen, itself among it: each after all that is found behind it.
///
/// It keeps its own stack, for a long graph would overflow that of its thread.
fn search<'a>(ways: &Ways<'a>, node: &'a str, seen: &mut BTreeSet<&'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    if !seen.insert(node) {
        return found;
    }
    let mut open = vec![(node, targets(ways, node))];
    while let Some((node, rest)) = open.last_mut() {
        match rest.next() {
            Some(next) if seen.insert(next) => open.push((next, targets(ways, next))),
            Some(_) => {}
            None => {
                found.push(*node);
                open.pop();
            }
        }
    }
    found
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
