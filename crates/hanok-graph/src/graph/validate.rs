//! The checks of a graph: its parts have to fit together.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hanok_state::State;

use crate::{
    error::{Fault, Lint},
    graph::{
        builder::GraphBuilder,
        paths::{Paths, Trap},
    },
    names::{END, START, reserved},
};

/// Every fault of a graph, in the order in which its parts were added.
pub(crate) fn faults<S: State, C>(builder: &GraphBuilder<S, C>) -> Vec<Fault> {
    let names: BTreeSet<&str> = builder.nodes.iter().map(|node| node.name.as_ref()).collect();
    let mut faults = node_faults(builder);
    faults.extend(named_faults(builder, &names));
    faults.extend(field_faults(builder));
    if cfg!(panic = "abort") && !builder.allow_abort {
        faults.push(Fault::Aborts);
    }
    faults.extend(router_faults(builder));
    let wired = faults_of_ends(builder, &names);
    let ends_are_known = wired.is_empty();
    faults.extend(wired);
    // Reachability of a graph with unknown ends would report their consequences as faults of their own.
    if ends_are_known {
        faults.extend(path_faults(builder, &names));
        faults.extend(send_faults(builder));
        faults.extend(fan_in_faults(builder));
    }
    faults
}

fn node_faults<S: State, C>(builder: &GraphBuilder<S, C>) -> Vec<Fault> {
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for node in &builder.nodes {
        let name = node.name.as_ref();
        if reserved(name).is_some() || hanok_core::Namespace::root().child(name).is_err() {
            faults.push(Fault::BadName { node: name.to_owned() });
        }
        if !seen.insert(name) {
            faults.push(Fault::TwiceNamed { node: name.to_owned() });
        }
    }
    faults
}

/// Declarations about unknown nodes.
fn named_faults<S: State, C>(builder: &GraphBuilder<S, C>, names: &BTreeSet<&str>) -> Vec<Fault> {
    let formers = [("renamed", &builder.former.renamed), ("removed", &builder.former.removed)];
    let formers = formers.iter().flat_map(|(what, all)| all.keys().map(|node| (*what, node)));
    let there = formers.filter(|(_, node)| names.contains(node.as_ref()));
    let there = there.map(|(what, node)| Fault::StillThere { what, node: node.to_string() });
    let unknown = builder.named.iter().filter(|(_, node)| !names.contains(node.as_ref()));
    unknown
        .map(|(what, node)| Fault::NoSuchNode {
            what,
            node: node.to_string(),
            nodes: names.iter().map(|name| (*name).to_owned()).collect(),
        })
        .chain(there)
        .collect()
}

fn field_faults<S: State, C>(builder: &GraphBuilder<S, C>) -> Vec<Fault> {
    let schema = builder.initial.schema();
    let known = || schema.fields.iter().map(|field| field.name.to_string());
    let lists = [("input", &builder.input), ("output", &builder.output)];
    let fields = lists.iter().flat_map(|(what, fields)| {
        fields.iter().flatten().map(move |field| (*what, field.to_string()))
    });
    fields
        .filter(|(_, field)| !known().any(|name| name == *field))
        .map(|(what, field)| Fault::NoSuchField { what, field, fields: known().collect() })
        .collect()
}

/// The faults of async routers.
fn router_faults<S: State, C>(builder: &GraphBuilder<S, C>) -> Vec<Fault> {
    let private = builder.initial.schema().fields.iter().filter(|field| field.private);
    let private: Vec<_> = private.map(|field| field.name.to_string()).collect();
    let mut faults = Vec::new();
    for router in &builder.routers {
        if &*router.from == START {
            faults.push(Fault::RouterOfStart);
        }
        let node = builder.nodes.iter().find(|node| node.name == router.from);
        let reads = router.router.fields().unwrap_or_default();
        let hidden = private.iter().filter(|field| reads.contains(&field.as_str()));
        let hidden =
            hidden.filter(|field| node.is_some_and(|node| !node.node.reads_private(field)));
        faults.extend(hidden.map(|field| Fault::RouterReads {
            node: router.from.to_string(),
            field: field.clone(),
        }));
    }
    faults
}

/// Every edge, branch, `goto` and join of the graph as (kind, source, target).
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
                    kind: way,
                    from: from.to_owned(),
                    to: to.to_owned(),
                    node: end.to_owned(),
                    nodes: known.clone(),
                });
            }
        }
    }
    faults
}

fn path_faults<S: State, C>(builder: &GraphBuilder<S, C>, names: &BTreeSet<&str>) -> Vec<Fault> {
    let ways = ways(builder);
    if !ways.iter().any(|(_, from, _)| *from == START) {
        return vec![match names.is_empty() {
            true => Fault::NoNode,
            false => Fault::NoStart,
        }];
    }
    let paths = Paths::new(names.iter().copied(), ways.iter().map(|(_, from, to)| (*from, *to)));
    let reached = paths.reached();
    let allowed = |lint, name: &str| builder.allowed.contains(&(name.into(), lint));
    let unreachable =
        names.iter().filter(|name| !reached.contains(*name) && !allowed(Lint::Unreachable, name));
    let unreachable = unreachable.map(|node| Fault::Unreachable { node: (*node).to_owned() });
    // What follows from a node that nothing leads to is no fault of its own.
    let stuck = |node: &str| reached.contains(node) && !allowed(Lint::DeadEnd, node);
    // A branch or a command may choose nothing, and so end the turn.
    let chooses = |node: &str| {
        ways.iter().any(|(way, from, _)| matches!(*way, "branch" | "goto") && *from == node)
    };
    let traps = paths.traps().into_iter().filter_map(|trap| match trap {
        Trap::Node(node) => stuck(node).then(|| Fault::DeadEnd { node: node.to_owned() }),
        Trap::Circle(nodes) => {
            let endless = nodes.iter().all(|node| stuck(node) && !chooses(node));
            let nodes = nodes.into_iter().map(str::to_owned).collect();
            endless.then_some(Fault::NoWayOut { nodes })
        }
    });
    unreachable.chain(traps).collect()
}

/// Edges and joins to nodes that need an input. A branch or a command is checked when it is taken.
fn send_faults<S: State, C>(builder: &GraphBuilder<S, C>) -> Vec<Fault> {
    let typed = |name: &str| {
        builder.nodes.iter().any(|node| node.name.as_ref() == name && node.node.kind().is_some())
    };
    ways(builder)
        .into_iter()
        .filter(|(way, _, to)| matches!(*way, "edge" | "join") && typed(to))
        .map(|(way, from, to)| Fault::NeedsSend {
            kind: way,
            from: from.to_owned(),
            to: to.to_owned(),
        })
        .collect()
}

/// Nodes in which two branches of different length meet that part at one node and run side by side.
fn fan_in_faults<S: State, C>(builder: &GraphBuilder<S, C>) -> Vec<Fault> {
    let mut edges: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut onward: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in &builder.edges {
        edges.entry(from).or_default().push(to);
    }
    for (way, from, to) in ways(builder) {
        // A join waits for the longest; a command is one way out of many.
        if matches!(way, "edge" | "branch") && to != END {
            onward.entry(from).or_default().push(to);
        }
    }
    let mut faults: BTreeMap<&str, Fault> = BTreeMap::new();
    for (fork, sides) in &edges {
        let walks: Vec<_> = sides.iter().map(|side| walk(fork, side, &onward)).collect();
        for (i, one) in walks.iter().enumerate() {
            for other in walks.iter().skip(i + 1) {
                let meets = meeting(one, other);
                let Some((node, short, long)) = meets else { continue };
                let allowed = builder.deferred.contains(node)
                    || builder.allowed.contains(&(node.into(), Lint::UnequalFanIn));
                if !allowed {
                    faults.entry(node).or_insert_with(|| Fault::UnequalFanIn {
                        node: node.to_owned(),
                        fork: (*fork).to_owned(),
                        short: short.to_owned(),
                        long: long.to_owned(),
                    });
                }
            }
        }
    }
    faults.into_values().collect()
}

/// The super-steps and the last node before, for each path to each node that a side of a fork leads to.
type Walk<'a> = BTreeMap<&'a str, BTreeSet<(usize, &'a str)>>;

fn walk<'a>(fork: &'a str, side: &'a str, onward: &BTreeMap<&'a str, Vec<&'a str>>) -> Walk<'a> {
    let mut walk = Walk::new();
    // No way that matters is longer than there are nodes: a longer one is a loop.
    let longest = onward.len() + 1;
    let mut next = vec![(side, 1, fork)];
    while let Some((node, steps, before)) = next.pop() {
        if node == fork || steps > longest || !walk.entry(node).or_default().insert((steps, before))
        {
            continue;
        }
        next.extend(onward.get(node).into_iter().flatten().map(|to| (*to, steps + 1, node)));
    }
    walk
}

/// The first node in which two sides of a fork meet from different nodes after different numbers of super-steps, with the
/// nodes before it, the nearer one first.
fn meeting<'a>(one: &Walk<'a>, other: &Walk<'a>) -> Option<(&'a str, &'a str, &'a str)> {
    let unequal = one.iter().filter_map(|(node, ways)| {
        let others = other.get(node)?;
        // Where they met before, they go on together.
        let together = ways.iter().any(|way| others.iter().any(|other| way.1 == other.1));
        let (near, far) = (ways.first()?, others.first()?);
        if together || ways.iter().map(|way| way.0).eq(others.iter().map(|way| way.0)) {
            return None;
        }
        let (short, long) = if near.0 <= far.0 { (near, far) } else { (far, near) };
        Some((long.0, *node, short.1, long.1))
    });
    unequal.min().map(|(_, node, short, long)| (node, short, long))
}

/// A number that changes whenever a node or an edge is added, removed or renamed.
pub(crate) fn fingerprint<S: State, C>(builder: &GraphBuilder<S, C>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let mut names: Vec<&Arc<str>> = builder.nodes.iter().map(|node| &node.name).collect();
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
