//! Graphs that are made of the seed.

use hanok_graph::{END, Graph, Lint, NodeSettings, Persistence, Retry, START, SendTo, Target};
use hanok_simulation::Simulation;
use hanok_state::State;

use super::{
    Builder, Scenario, answer, inner, of,
    within::{own, two},
};
use crate::nodes::{S, ask, ask_twice, flaky, pay, steps, work};

const NAMES: [&str; 7] = ["n0", "n1", "n2", "n3", "n4", "n5", "n6"];

pub(super) fn all() -> Vec<Scenario> {
    let simulation = Simulation::of(|world| {
        let graph = random(Graph::builder("random"), Numbers(world.seed()))?;
        Ok((graph.runtime(world.runtime()).build()?, world.effects()))
    });
    vec![of("random graphs", simulation.answer(answer).input(S::update()).of_seed())]
}

/// Numbers that follow from a seed.
#[derive(Debug, Clone)]
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        // Knuth's constants; the upper bits are the better ones.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    fn some(&mut self, names: &[&'static str], most: usize) -> Vec<&'static str> {
        let count = self.below(most + 1);
        let mut some: Vec<_> =
            (0..count).filter_map(|_| names.get(self.below(names.len())).copied()).collect();
        some.sort_unstable();
        some.dedup();
        some
    }
}

/// Nodes of all kinds, each with ways to any others until the log is long enough.
fn random(mut graph: Builder, mut of: Numbers) -> Result<Builder, hanok_graph::BuildError> {
    // A seed and the next one have little in common.
    for _ in 0..4 {
        of.below(2);
    }
    let names = NAMES.get(..3 + of.below(5)).unwrap_or(&NAMES);
    let longest = 3 + of.below(15);
    for name in names {
        graph = match of.below(10) {
            0..=2 => graph.node(name, work),
            3 => graph.node(name, steps),
            4 => graph.node(name, flaky),
            5 => graph.node(name, pay),
            6 => graph.node(name, ask),
            7 => graph.node(name, ask_twice),
            8 => graph.subgraph(name, hanok_graph::Subgraph::shared(inner(two)?)),
            _ => graph.subgraph(name, own(inner(two)?).persistence(Persistence::PerCall)),
        };
        let (ways, sends) = (of.some(names, 2), of.some(names, 2));
        let ways = move |state: &S| -> Vec<Target> {
            if state.log.len() >= longest {
                return vec![END.into()];
            }
            let sends = (1u64..).zip(&sends).map(|(n, to)| Target::from(SendTo::new(to, &n)));
            ways.iter().map(|to| Target::from(*to)).chain(sends).collect()
        };
        graph = graph.branch(name, ways, names.iter().copied().chain([END]));
        if of.below(6) == 0 {
            graph = graph.configure(name, NodeSettings::new().defer());
        }
        for lint in [Lint::Unreachable, Lint::DeadEnd, Lint::UnequalFanIn] {
            graph = graph.configure(name, NodeSettings::new().allow(lint));
        }
    }
    let first = of.some(names, 3);
    for name in first.iter().chain(names.first().filter(|_| first.is_empty())) {
        graph = graph.edge(START, name);
    }
    if let ([a, b, c, ..], 0) = (names, of.below(2)) {
        graph = graph.join([a, b], c);
    }
    Ok(graph.retry_all(Retry::attempts(5)).recursion_limit(60))
}
