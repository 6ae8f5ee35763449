//! Whether the parts of a graph fit together.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hanok_state::State;

use crate::{END, Fault, GraphBuilder, START};

/// Every fault of a graph, in the order in which its parts were added.
pub(crate) fn faults<S: State, C>(builder: &GraphBuilder<S, C>) -> Vec<Fault> {
    let names: BTreeSet<&str> = builder.nodes.iter().map(|(name, _)| name.as_ref()).collect();
    let mut faults = node_faults(builder);
    if cfg!(panic = "abort") && !builder.allow_abort {
        faults.push(Fault::Aborts);
    }
    let wired = faults_of_ends(builder, &names);
    let ends_are_known = wired.is_empty();
    faults.extend(wired);
    // Reachability of a graph with unknown ends would report their consequences as faults of their own.
    if ends_are_known {
        faults.extend(path_faults(builder, &names));
    }
    faults
}

fn node_faults<S: State, C>(builder: &GraphBuilder<S, C>) -> Vec<Fault> {
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for (name, _) in &builder.nodes {
        let name = name.as_ref();
        if matches!(name, START | END) || hanok_core::Namespace::root().child(name).is_err() {
            faults.push(Fault::BadName { node: name.to_owned() });
        }
        if !seen.insert(name) {
            faults.push(Fault::TwiceNamed { node: name.to_owned() });
        }
    }
    faults
}

/// Every way of the graph as (what it is, from, to), joins included.
fn ways<S: State, C>(builder: &GraphBuilder<S, C>) -> Vec<(&'static str, &str, &str)> {
    let edges = builder.edges.iter().map(|(from, to)| ("edge", from.as_ref(), to.as_ref()));
    let branches = builder.branches.iter().flat_map(|(from, _, targets)| {
        targets.iter().map(move |to| ("branch", from.as_ref(), to.as_ref()))
    });
    let gotos = builder.gotos.iter().flat_map(|(from, targets)| {
        targets.iter().map(move |to| ("goto", from.as_ref(), to.as_ref()))
    });
    let joins = builder.joins.iter().flat_map(|join| {
        join.sources.iter().map(move |from| ("join", from.as_ref(), join.target.as_ref()))
    });
    edges.chain(branches).chain(gotos).chain(joins).collect()
}

fn faults_of_ends<S: State, C>(builder: &GraphBuilder<S, C>, names: &BTreeSet<&str>) -> Vec<Fault> {
    let known: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut faults = Vec::new();
    for (way, from, to) in ways(builder) {
        for (end, special) in [(from, START), (to, END)] {
            // A join waits for nodes; nothing is ever done at START.
            let allowed = names.contains(end) || (end == special && (way, end) != ("join", START));
            if !allowed {
                faults.push(Fault::UnknownNode {
                    way,
                    from: from.to_owned(),
                    to: to.to_owned(),
                    node: end.to_owned(),
                    known: known.clone(),
                });
            }
        }
    }
    faults
}

fn path_faults<S: State, C>(builder: &GraphBuilder<S, C>, names: &BTreeSet<&str>) -> Vec<Fault> {
    let ways = ways(builder);
    if !ways.iter().any(|(_, from, _)| *from == START) {
        return vec![Fault::NoStart];
    }
    let mut onward: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, from, to) in &ways {
        onward.entry(from).or_default().push(to);
    }
    let mut reached = BTreeSet::new();
    let mut next = vec![START];
    while let Some(node) = next.pop() {
        if reached.insert(node) {
            next.extend(onward.get(node).into_iter().flatten());
        }
    }
    let unreachable = names.iter().filter(|name| !reached.contains(*name));
    let dead = names.iter().filter(|name| reached.contains(*name) && !onward.contains_key(*name));
    let unreachable = unreachable.map(|node| Fault::Unreachable { node: (*node).to_owned() });
    unreachable.chain(dead.map(|node| Fault::DeadEnd { node: (*node).to_owned() })).collect()
}

/// Changes whenever a node or a way is added, removed or renamed.
pub(crate) fn fingerprint<S: State, C>(builder: &GraphBuilder<S, C>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let mut names: Vec<&Arc<str>> = builder.nodes.iter().map(|(name, _)| name).collect();
    names.sort();
    let mut ways = ways(builder);
    ways.sort_unstable();
    for name in names {
        hasher.update(b"node\0").update(name.as_bytes()).update(b"\0");
    }
    for (way, from, to) in ways {
        for part in [way, from, to] {
            hasher.update(part.as_bytes()).update(b"\0");
        }
    }
    let hash = hasher.finalize();
    hash.as_bytes().iter().take(8).fold(0, |n, byte| (n << 8) | u64::from(*byte))
}
