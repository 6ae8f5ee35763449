//! Several turns of one thread, inputs that come at once, and its past.

use hanok_checkpoint::{Body, LogEntry};
use hanok_core::Position;
use hanok_graph::{Durability, END, Graph, NewInput, START};
use hanok_simulation::{Effects, Fault, Faults, FinishedRun, Simulation};

use super::{
    Scenario, answer,
    flow::{chain, rounds},
    of, silent,
};
use crate::nodes::{Cx, Ran, S, ask, begin, pay, says, steps, work};

pub(super) fn all() -> Vec<Scenario> {
    let turns = silent(rounds).input(said("one")).input(said("two")).input(said("three"));
    let rewound = silent(rounds).input(said("one")).rewind(second_commit).input(said("two"));
    let edited = silent(rounds).input(said("one")).edit(said("edited")).input(said("two"));
    let forked = silent(rounds).input(said("one")).fork("other").input(said("two"));
    let at_once = |policy| {
        let simulation = silent(|graph| chain(graph, ["a", "b", "c"]));
        simulation.inputs([said("one"), said("two")]).new_input(policy).any_end()
    };
    let in_doubt = silent(|graph| graph.node("a", pay).edge(START, "a").edge("a", END))
        .inputs([said("one"), said("two")])
        .new_input(NewInput::Replace)
        .any_end();
    let three = silent(|graph| chain(graph, ["a", "b", "c"]))
        .inputs([said("one"), said("two"), said("three")])
        .new_input(NewInput::Replace)
        .any_end()
        .check("all", all_three);
    vec![
        of("an input in the place of a call", in_doubt),
        of("a replacement that is replaced", three),
        of("three turns", turns),
        of("rewind", rewound),
        of("edit", edited),
        of("fork", forked),
        of("two inputs, one refused", whole(at_once(NewInput::Reject))),
        of("two inputs, one waits", whole(at_once(NewInput::Queue))),
        of("two inputs, one replaced", at_once(NewInput::Replace).check("both", both)),
        of("an input in the place of a question", replaced().check("both", both)),
        of("snapshots", long()),
        of("stored a little later", later(Durability::Async)),
        of("stored at the end", later(Durability::Exit)),
    ]
}

fn said(text: &str) -> crate::nodes::SUpdate {
    says(text)
}

/// The second commit of the thread's own graph.
fn second_commit(log: &[LogEntry]) -> Option<Position> {
    let commits = log.iter().filter(|entry| matches!(entry.entry.body, Body::Commit(_)));
    commits.map(|entry| entry.position).nth(1)
}

/// A turn that is cancelled may be followed by another one, and is over then.
fn whole(simulation: Simulation<S, Effects>) -> Simulation<S, Effects> {
    simulation.faults(Faults::all().without(Fault::Cancel)).check("order", in_order)
}

/// Both turns are whole, in whichever order they came.
fn in_order(seen: &FinishedRun<'_, S>) -> Result<(), String> {
    let log: Vec<_> = seen.state.log.iter().map(String::as_str).collect();
    let turn = |first| [first, "a", "b", "c"];
    let (one, two) = (turn("one"), turn("two"));
    if log == [one, two].concat() || log == [two, one].concat() {
        Ok(())
    } else {
        Err(format!("{log:?}"))
    }
}

/// Both inputs are there, and the last turn is whole.
fn both(seen: &FinishedRun<'_, S>) -> Result<(), String> {
    has_all(seen, &["one", "two"])
}

/// All three inputs are there, and the last turn is whole.
fn all_three(seen: &FinishedRun<'_, S>) -> Result<(), String> {
    has_all(seen, &["one", "two", "three"])
}

fn has_all(seen: &FinishedRun<'_, S>, inputs: &[&str]) -> Result<(), String> {
    let log: Vec<_> = seen.state.log.iter().map(String::as_str).collect();
    let has = |text: &&str| log.iter().filter(|line| *line == text).count() == 1;
    let is_whole = log.last().is_some_and(|last| *last == "c");
    if inputs.iter().all(has) && is_whole { Ok(()) } else { Err(format!("{log:?}")) }
}

fn replaced() -> Simulation<S, Effects> {
    let simulation = silent(|graph| {
        let graph = graph.node("a", work).node("q", ask).node("c", work).edge(START, "a");
        let to = |s: &S| if s.log.len() < 3 { "q" } else { "c" };
        graph.branch("a", to, ["q", "c"]).edge("q", "c").edge("c", END)
    });
    simulation.inputs([said("one"), said("two")]).new_input(NewInput::Replace).any_end()
}

/// Steps, a question and a call that is not repeated, which are not safe at once.
fn later(durability: Durability) -> Simulation<S, Effects> {
    let simulation = silent(|graph| {
        let graph = graph.node("a", steps).node("b", work).node("c", pay).node("d", work);
        let graph = graph.node("q", ask).edge(START, "a").edge("a", "b").edge("a", "c");
        graph.join(["b", "c"], "d").edge("d", "q").edge("q", END)
    });
    simulation.input(said("one")).input(said("two")).durable(durability)
}

/// A thread that is long enough for snapshots.
pub(super) fn long() -> Simulation<S, Effects> {
    async fn much(state: hanok_graph::Snapshot<S>, cx: Cx) -> Ran {
        begin(&cx).await;
        let much = format!("{} {}", state.n, "x".repeat(40_000));
        Ok(says(state.n.to_string()).insert_map("much".to_owned(), much).n(state.n + 1))
    }
    let simulation = Simulation::of(|world| {
        let graph = Graph::builder("long").node("a", much).edge(START, "a");
        let graph =
            graph.branch("a", |s: &S| if s.n.is_multiple_of(4) { END } else { "a" }, ["a", END]);
        Ok((graph.runtime(world.runtime()).build()?, world.effects()))
    });
    simulation.answer(answer).input(said("one")).input(said("two"))
}
