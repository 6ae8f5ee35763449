//! A random graph, what becomes of its nodes, and when its process dies.

use std::collections::BTreeSet;

use proptest::{collection, prelude::*};

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// A graph of two nodes, one after the other, that shares the state.
    Shared,
    /// The same graph on a state of its own, for each call.
    PerCall,
    /// The same graph on a state of its own, which stays.
    PerThread,
    /// The same graph on a state of its own, of which nothing is stored.
    Nowhere,
}

/// What happens when a node, or the first node of the graph that it is, runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// It fails so many times and is retried.
    Retried(u32),
    /// It fails once, and with it the run.
    Resumed,
    /// It asks, so many questions one after the other.
    Asks(u32),
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) fault: Fault,
    /// Where its router leads.
    pub(crate) ways: BTreeSet<usize>,
    /// To which its router sends, each with its index as the input.
    pub(crate) sends: Vec<usize>,
    pub(crate) deferred: bool,
    pub(crate) delays: Vec<u64>,
}

/// A process dies at its append with this number, before or after it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Death {
    pub(crate) at: usize,
    pub(crate) stored: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<Node>,
    pub(crate) first: BTreeSet<usize>,
    /// Sources and target. A target comes after its sources, so that joins alone make no loop.
    pub(crate) joins: Vec<(BTreeSet<usize>, usize)>,
    /// Routers lead nowhere once the log is this long.
    pub(crate) longest: usize,
    /// Whether a delay is time, or turns that others take.
    pub(crate) sleeps: bool,
    /// Whether all questions are answered at once, each time.
    pub(crate) answers: Vec<bool>,
    pub(crate) deaths: Vec<Death>,
}

impl Plan {
    /// Whether nothing has to be resumed or answered.
    pub(crate) fn needs_no_store(&self) -> bool {
        self.nodes.iter().all(|node| matches!(node.fault, Fault::None | Fault::Retried(_)))
    }
}

pub(crate) fn name(node: usize) -> String {
    format!("n{node}")
}

fn node(nodes: usize) -> impl Strategy<Value = Node> {
    let kind = prop_oneof![
        5 => Just(Kind::Plain),
        1 => Just(Kind::Shared),
        1 => Just(Kind::PerCall),
        1 => Just(Kind::PerThread),
        1 => Just(Kind::Nowhere),
    ];
    let fault = prop_oneof![
        6 => Just(Fault::None),
        1 => (1u32..3).prop_map(Fault::Retried),
        1 => Just(Fault::Resumed),
        2 => (1u32..3).prop_map(Fault::Asks),
    ];
    (
        kind,
        fault,
        collection::btree_set(0..nodes, 0..=nodes.min(3)),
        collection::vec(0..nodes, 0..3),
        proptest::bool::weighted(0.2),
        collection::vec(0u64..40, 4),
    )
        .prop_map(|(kind, fault, ways, sends, deferred, delays)| {
            // Where nothing is stored nobody can be asked.
            let fault = match (kind, fault) {
                (Kind::Nowhere, Fault::Asks(_)) => Fault::None,
                (_, fault) => fault,
            };
            Node { kind, fault, ways, sends, deferred, delays }
        })
}

pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let death = (0usize..40, any::<bool>()).prop_map(|(at, stored)| Death { at, stored });
    (2usize..7).prop_flat_map(move |nodes| {
        let join = (collection::btree_set(0..nodes - 1, 1..3), 1..nodes).prop_map(
            |(sources, target): (BTreeSet<usize>, usize)| {
                let last = sources.last().copied().unwrap_or_default();
                (sources, target.max(last + 1))
            },
        );
        (
            collection::vec(node(nodes), nodes),
            collection::btree_set(0..nodes, 1..=nodes.min(3)),
            collection::vec(join, 0..3),
            1usize..30,
            collection::vec(any::<bool>(), 1..6),
            collection::vec(death.clone(), 0..4),
        )
            .prop_map(|(mut nodes, first, joins, longest, answers, deaths)| {
                // Two tasks of one node cannot use one state that stays.
                let stays: Vec<_> = nodes.iter().map(|node| node.kind == Kind::PerThread).collect();
                nodes.iter_mut().for_each(|node| node.sends.retain(|to| !stays[*to]));
                Plan { nodes, first, joins, longest, sleeps: true, answers, deaths }
            })
    })
}
