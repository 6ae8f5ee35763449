//! The plan of the next super-step: a pure function of the frontier, the exits of its tasks and the graph.

use std::collections::BTreeMap;

use hanok_checkpoint::{Due, Frontier, Goto, Handed};

use crate::{
    error::RunError,
    graph::definition::{Definition, Join, Rules},
};
use hanok_core::Namespace;
use hanok_state::State;

/// The exit of one task of the last super-step: its node, its targets, and its role in joins.
pub(crate) struct TaskExit<'a> {
    pub(crate) node: &'a str,
    pub(crate) goto: &'a [Goto],
}

/// The frontier after a super-step with these exits of its tasks, in order.
///
/// Nodes come first, by name and once; then `SendTo`s by sender and index. A deferred node waits until no other is due.
pub(crate) fn next_frontier<'a>(
    before: &Frontier,
    exits: impl Iterator<Item = TaskExit<'a>>,
    rules: Rules<'_>,
) -> Frontier {
    let mut due: Vec<Due> = Vec::with_capacity(before.due.len());
    let mut sends = Vec::new();
    let mut handed: Option<Handed> = None;
    let mut arrived = before.joins.clone();
    for TaskExit { node, goto } in exits {
        // A command that says `only` puts its ways in the place of all others.
        let only = matches!(goto.first(), Some(Goto::Only));
        for goto in goto {
            match goto {
                Goto::Node(node) => due.push(Due::node(rules.current_name(node))),
                Goto::Send(due) => sends.push(rules.task(due)),
                Goto::Parent(command) => handed = Some(both(handed, command)),
                Goto::End | Goto::Only => {}
            }
        }
        if only {
            continue;
        }
        for join in rules.joins.iter().filter(|join| join.sources.iter().any(|s| &**s == node)) {
            see(&mut arrived, join, node);
        }
    }
    for join in rules.joins {
        let complete = arrived.iter().position(|(name, nodes)| {
            *name == join.name
                && join.sources.iter().all(|source| nodes.iter().any(|n| n == source.as_ref()))
        });
        if let Some(at) = complete {
            arrived.remove(at);
            due.push(Due::node(join.target.clone()));
        }
    }
    let step = before.step + 1;
    if let Some(handed) = handed {
        // The graph that called this one goes on; here nothing is left to do.
        return Frontier { step, handed: Some(Box::new(handed)), ..Frontier::default() };
    }
    due.retain(|due| &*due.node != crate::names::END);
    due.sort_by(|a, b| a.node.cmp(&b.node));
    due.dedup_by(|a, b| a.node == b.node);
    due.append(&mut sends);
    let waits = |due: &mut Due| rules.deferred.contains(&due.node);
    let later: Vec<_> = due.extract_if(.., waits).collect();
    let mut deferred: Vec<_> = before.deferred.iter().map(|due| rules.task(due)).collect();
    for due in later {
        // A node that several ways lead to runs once; a task with an input of its own is one of its own.
        if due.input.is_some() || !deferred.contains(&due) {
            deferred.push(due);
        }
    }
    if due.is_empty() {
        deferred.sort_by(|a, b| {
            a.input.is_some().cmp(&b.input.is_some()).then_with(|| {
                // `SendTo`s keep their order.
                if a.input.is_none() { a.node.cmp(&b.node) } else { std::cmp::Ordering::Equal }
            })
        });
        due = std::mem::take(&mut deferred);
    }
    Frontier { step, due, joins: arrived, deferred, handed: None }
}

fn both(before: Option<Handed>, command: &Handed) -> Handed {
    let Some(mut all) = before else { return command.clone() };
    all.changes.0.extend(command.changes.0.iter().cloned());
    all.goto.extend(command.goto.iter().cloned());
    all.only |= command.only;
    all
}

fn see(arrived: &mut Vec<(String, Vec<String>)>, join: &Join, node: &str) {
    match arrived.iter_mut().find(|(name, _)| *name == join.name) {
        Some((_, nodes)) if nodes.iter().any(|n| n == node) => {}
        Some((_, nodes)) => nodes.push(node.to_owned()),
        None => arrived.push((join.name.clone(), vec![node.to_owned()])),
    }
}

/// The index of each task among those of its node: the first one of a node has 0.
pub(crate) fn indices(due: &[Due]) -> Vec<usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    due.iter()
        .map(|task| {
            let count = counts.entry(&task.node).or_default();
            *count += 1;
            *count - 1
        })
        .collect()
}

impl<S: State, C> Definition<S, C> {
    /// The frontier that the super-step `step` schedules, if it is no wider than the limit.
    pub(crate) fn not_too_wide(
        &self,
        frontier: Frontier,
        step: u32,
        namespace: &Namespace,
    ) -> Result<Frontier, RunError> {
        let (tasks, limit) = (frontier.due.len(), self.fan_out);
        if tasks > limit {
            let namespace = namespace.clone();
            return Err(RunError::TooWide { step, tasks, limit, namespace });
        }
        Ok(frontier)
    }
}
