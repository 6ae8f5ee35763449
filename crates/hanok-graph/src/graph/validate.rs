//! The checks of a graph: its parts have to fit together.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hanok_state::{Schema, State};

use crate::{
    error::{Fault, Lint},
    graph::{
        builder::{GraphBuilder, NamedNode, NamedRouter},
        definition::Join,
        migration::MigrationSpec,
        paths::{Paths, Trap},
    },
    names::{END, START, reserved},
};

/// What the checks look at of a graph. It does not know the type of the state, so they are compiled once, and not for each.
pub(crate) struct Wiring<'a> {
    nodes: Vec<WiredNode<'a>>,
    edges: &'a [(Arc<str>, Arc<str>)],
    /// The nodes that branch, each with the targets.
    branches: Vec<(&'a str, &'a [Arc<str>])>,
    routers: Vec<WiredRouter<'a>>,
    gotos: &'a [(Arc<str>, Vec<Arc<str>>)],
    joins: &'a [Join],
    former: &'a MigrationSpec,
    named: &'a [(&'static str, Arc<str>)],
    allowed: &'a BTreeSet<(Arc<str>, Lint)>,
    deferred: &'a BTreeSet<Arc<str>>,
    schema: &'a Schema,
    /// The lists of fields, each with its name.
    fields: [(&'static str, &'a [Arc<str>]); 2],
    allow_abort: bool,
}

struct WiredNode<'a> {
    name: &'a str,
    takes_input: bool,
}

struct WiredRouter<'a> {
    from: &'a str,
    /// The private fields that it reads and its node does not.
    hidden: Vec<String>,
}

impl<'a> Wiring<'a> {
    pub(crate) fn of<S: State, C>(builder: &'a GraphBuilder<S, C>) -> Self {
        let node = |node: &'a NamedNode<S, C>| WiredNode {
            name: &node.name,
            takes_input: node.node.kind().is_some(),
        };
        let schema = builder.initial.schema();
        let router = |router: &'a NamedRouter<S, C>| {
            let node = builder.nodes.iter().find(|node| node.name == router.from);
            let reads = router.router.fields().unwrap_or_default();
            let private = schema.fields.iter().filter(|field| field.private);
            let private = private.map(|field| field.name.to_string());
            let hidden = private.filter(|field| reads.contains(&field.as_str()));
            let hidden =
                hidden.filter(|field| node.is_some_and(|node| !node.node.reads_private(field)));
            WiredRouter { from: &router.from, hidden: hidden.collect() }
        };
        let list = |fields: &'a Option<Vec<Arc<str>>>| fields.as_deref().unwrap_or_default();
        Self {
            nodes: builder.nodes.iter().map(node).collect(),
            edges: &builder.edges,
            branches: builder
                .branches
                .iter()
                .map(|(from, _, targets)| (&**from, targets.as_slice()))
                .collect(),
            routers: builder.routers.iter().map(router).collect(),
            gotos: &builder.gotos,
            joins: &builder.joins,
            former: &builder.former,
            named: &builder.named,
            allowed: &builder.allowed,
            deferred: &builder.deferred,
            fields: [("input", list(&builder.input)), ("output", list(&builder.output))],
            schema,
            allow_abort: builder.allow_abort,
        }
    }

    /// Every fault of the graph, in the order in which its parts were added.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let names: BTreeSet<&str> = self.nodes.iter().map(|node| node.name).collect();
        let mut faults = self.node_faults();
        faults.extend(self.named_faults(&names));
        faults.extend(self.field_faults());
        if cfg!(panic = "abort") && !self.allow_abort {
            faults.push(Fault::Aborts);
        }
        faults.extend(self.router_faults());
        let wired = self.faults_of_ends(&names);
        let ends_are_known = wired.is_empty();
        faults.extend(wired);
        // Reachability of a graph with unknown ends would report their consequences as faults of their own.
        if ends_are_known {
            faults.extend(self.path_faults(&names));
            faults.extend(self.send_faults());
            faults.extend(self.fan_in_faults());
        }
        faults
    }

    fn node_faults(&self) -> Vec<Fault> {
        let mut seen = BTreeSet::new();
        let mut faults = Vec::new();
        for node in &self.nodes {
            let name = node.name;
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
    fn named_faults(&self, names: &BTreeSet<&str>) -> Vec<Fault> {
        let formers = [("renamed", &self.former.renamed), ("removed", &self.former.removed)];
        let formers = formers.iter().flat_map(|(what, all)| all.keys().map(|node| (*what, node)));
        let there = formers.filter(|(_, node)| names.contains(node.as_ref()));
        let there = there.map(|(what, node)| Fault::StillThere { what, node: node.to_string() });
        let unknown = self.named.iter().filter(|(_, node)| !names.contains(node.as_ref()));
        unknown
            .map(|(what, node)| Fault::NoSuchNode {
                what,
                node: node.to_string(),
                nodes: names.iter().map(|name| (*name).to_owned()).collect(),
            })
            .chain(there)
            .collect()
    }

    fn field_faults(&self) -> Vec<Fault> {
        let known = || self.schema.fields.iter().map(|field| field.name.to_string());
        let fields = self
            .fields
            .iter()
            .flat_map(|(what, fields)| fields.iter().map(move |field| (*what, field.to_string())));
        fields
            .filter(|(_, field)| !known().any(|name| name == *field))
            .map(|(what, field)| Fault::NoSuchField { what, field, fields: known().collect() })
            .collect()
    }

    /// The faults of async routers.
    fn router_faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for router in &self.routers {
            if router.from == START {
                faults.push(Fault::RouterOfStart);
            }
            faults.extend(router.hidden.iter().map(|field| Fault::RouterReads {
                node: router.from.to_owned(),
                field: field.clone(),
            }));
        }
        faults
    }

    /// Every edge, branch, `goto` and join of the graph as (kind, source, target).
    fn ways(&self) -> Vec<(&'static str, &str, &str)> {
        let edges = self.edges.iter().map(|(from, to)| ("edge", from.as_ref(), to.as_ref()));
        let branches = self.branches.iter().flat_map(|(from, targets)| {
            targets.iter().map(move |to| ("branch", *from, to.as_ref()))
        });
        let gotos = self.gotos.iter().flat_map(|(from, targets)| {
            targets.iter().map(move |to| ("goto", from.as_ref(), to.as_ref()))
        });
        let joins = self.joins.iter().flat_map(|join| {
            join.sources.iter().map(move |from| ("join", from.as_ref(), join.target.as_ref()))
        });
        edges.chain(branches).chain(gotos).chain(joins).collect()
    }

    fn faults_of_ends(&self, names: &BTreeSet<&str>) -> Vec<Fault> {
        let known: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut faults = Vec::new();
        for (way, from, to) in self.ways() {
            for (end, special) in [(from, START), (to, END)] {
                // A join waits for nodes; nothing is ever done at START.
                let allowed =
                    names.contains(end) || (end == special && (way, end) != ("join", START));
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

    fn path_faults(&self, names: &BTreeSet<&str>) -> Vec<Fault> {
        let ways = self.ways();
        if !ways.iter().any(|(_, from, _)| *from == START) {
            return vec![match names.is_empty() {
                true => Fault::NoNode,
                false => Fault::NoStart,
            }];
        }
        let paths =
            Paths::new(names.iter().copied(), ways.iter().map(|(_, from, to)| (*from, *to)));
        let reached = paths.reached();
        let allowed = |lint, name: &str| self.allowed.contains(&(name.into(), lint));
        let unreachable = names
            .iter()
            .filter(|name| !reached.contains(*name) && !allowed(Lint::Unreachable, name));
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
    fn send_faults(&self) -> Vec<Fault> {
        let typed =
            |name: &str| self.nodes.iter().any(|node| node.name == name && node.takes_input);
        self.ways()
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
    fn fan_in_faults(&self) -> Vec<Fault> {
        let mut edges: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut onward: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (from, to) in self.edges {
            edges.entry(from).or_default().push(to);
        }
        for (way, from, to) in self.ways() {
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
                    let allowed = self.deferred.contains(node)
                        || self.allowed.contains(&(node.into(), Lint::UnequalFanIn));
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

    /// A number that changes whenever a node or an edge is added, removed or renamed.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        let mut names: Vec<&str> = self.nodes.iter().map(|node| node.name).collect();
        names.sort();
        let mut ways = self.ways();
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
