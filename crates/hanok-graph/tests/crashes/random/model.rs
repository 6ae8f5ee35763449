//! What a graph has to do, one task after the other, without tasks, logs or schedules.

use std::collections::{BTreeMap, BTreeSet};

use crate::random::{
    answer,
    plan::{Fault, Kind, Node, Plan, name},
};

/// A task that is due: its node, and what a `Send` gave it.
type Due = (usize, Option<u64>);

/// What a node, or the first node of a graph within, says.
fn said(node: &str, fault: Fault, input: Option<u64>, seen: usize) -> String {
    let input = input.map_or_else(String::new, |input| format!("#{input}"));
    let answers: String = match fault {
        Fault::Asks(count) => (0..count).map(|n| answer(&format!("{n}?"))).collect(),
        _ => String::new(),
    };
    format!("{node}{input}{answers}@{seen}")
}

/// What a graph of two nodes adds to a log of this length.
fn two(fault: Fault, seen: usize) -> [String; 2] {
    [said("x", fault, None, seen), said("y", Fault::None, None, seen + 1)]
}

fn writes(i: usize, node: &Node, input: Option<u64>, seen: usize, kept: &mut usize) -> Vec<String> {
    let within =
        |said: [String; 2]| said.iter().map(|said| format!("{}/{said}", name(i))).collect();
    match node.kind {
        Kind::Plain => vec![said(&name(i), node.fault, input, seen)],
        Kind::Shared => two(node.fault, seen).to_vec(),
        Kind::PerCall | Kind::Nowhere => within(two(node.fault, 1)),
        Kind::PerThread => {
            // Each call puts in one line and adds two.
            *kept += 3;
            let [_, last] = two(node.fault, *kept - 2);
            vec![format!("{}/{kept}/{last}", name(i))]
        }
    }
}

/// The log that every run ends with.
pub(crate) fn model(plan: &Plan) -> Vec<String> {
    let mut log: Vec<String> = Vec::new();
    let mut waiting: Vec<Due> = Vec::new();
    let mut joins: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); plan.joins.len()];
    let mut kept: BTreeMap<usize, usize> = BTreeMap::new();
    let mut due = next(plan, plan.first.iter().copied().collect(), Vec::new(), &mut waiting);
    while !due.is_empty() {
        let (before, mut nodes, mut sends) = (log.len(), BTreeSet::new(), Vec::new());
        for (i, input) in due {
            let node = &plan.nodes[i];
            let wrote = writes(i, node, input, before, kept.entry(i).or_default());
            // A router sees what was there before the super-step, and its own node's writes.
            if before + wrote.len() < plan.longest {
                nodes.extend(node.ways.iter().copied());
                sends.extend(node.sends.iter().enumerate().map(|(n, to)| (*to, Some(n as u64))));
            }
            log.extend(wrote);
            for (seen, (sources, _)) in joins.iter_mut().zip(&plan.joins) {
                if sources.contains(&i) {
                    seen.insert(i);
                }
            }
        }
        for (seen, (sources, target)) in joins.iter_mut().zip(&plan.joins) {
            if seen == sources {
                seen.clear();
                nodes.insert(*target);
            }
        }
        due = next(plan, nodes, sends, &mut waiting);
    }
    log
}

/// What runs next: nodes by name, then `Send`s; what is deferred waits until nothing else is left.
fn next(plan: &Plan, nodes: BTreeSet<usize>, sends: Vec<Due>, waiting: &mut Vec<Due>) -> Vec<Due> {
    let all = nodes.into_iter().map(|node| (node, None)).chain(sends);
    let (later, now): (Vec<Due>, Vec<Due>) = all.partition(|(node, _)| plan.nodes[*node].deferred);
    waiting.extend(later);
    if !now.is_empty() {
        return now;
    }
    let (sends, nodes): (Vec<Due>, Vec<Due>) =
        std::mem::take(waiting).into_iter().partition(|(_, input)| input.is_some());
    let once: BTreeSet<Due> = nodes.into_iter().collect();
    once.into_iter().chain(sends).collect()
}
