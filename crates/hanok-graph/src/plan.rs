//! What is due next: a pure function of what was due, what the tasks said and what the graph is.

use std::collections::BTreeSet;

use hanok_checkpoint::{Due, Frontier, Goto};

use crate::graph::Join;

/// What is due after a super-step whose tasks, in order, ran `nodes` and went on to `gotos`.
///
/// Nodes come first, by name and once; then `Send`s by sender and index.
pub(crate) fn next<'a>(
    before: &Frontier,
    done: impl Iterator<Item = (&'a str, &'a [Goto])>,
    joins: &[Join],
) -> Frontier {
    let mut nodes = BTreeSet::new();
    let mut sends = Vec::new();
    let mut seen = before.joins.clone();
    for (node, gotos) in done {
        for goto in gotos {
            match goto {
                Goto::Node(node) => {
                    nodes.insert(node.clone());
                }
                Goto::Send(due) => sends.push(due.clone()),
                Goto::End => {}
            }
        }
        for join in joins.iter().filter(|join| join.sources.iter().any(|s| s.as_ref() == node)) {
            see(&mut seen, join, node);
        }
    }
    for join in joins {
        let complete = seen.iter().position(|(name, nodes)| {
            *name == join.name
                && join.sources.iter().all(|source| nodes.iter().any(|n| n == source.as_ref()))
        });
        if let Some(at) = complete {
            seen.remove(at);
            nodes.insert(join.target.to_string());
        }
    }
    let due = nodes.into_iter().filter(|node| node != crate::END).map(Due::node).chain(sends);
    Frontier { step: before.step + 1, due: due.collect(), joins: seen, deferred: Vec::new() }
}

fn see(seen: &mut Vec<(String, Vec<String>)>, join: &Join, node: &str) {
    match seen.iter_mut().find(|(name, _)| *name == join.name) {
        Some((_, nodes)) if nodes.iter().any(|n| n == node) => {}
        Some((_, nodes)) => nodes.push(node.to_owned()),
        None => seen.push((join.name.clone(), vec![node.to_owned()])),
    }
}

/// The index of each task among those of its node: the first one of a node has 0.
pub(crate) fn indices(due: &[Due]) -> Vec<usize> {
    due.iter()
        .enumerate()
        .map(|(i, task)| due.iter().take(i).filter(|before| before.node == task.node).count())
        .collect()
}
