//! What is done outside, and what it costs.

use hanok_core::Budget;
use hanok_graph::{END, Graph, Lint, NodeSettings, Resolution, START, Subgraph};
use hanok_simulation::{Effects, Simulation, World};
use hanok_state::State;

use super::{Builder, Scenario, inner, of, scenario, silent};
use crate::nodes::{
    S, SUpdate, job, job_and_leave, mend, model, pay, pay_again, pay_and_leave, pay_or_fail,
    pay_or_not, pay_unheard, run_and_leave, run_job_and_leave, steps, work,
};

pub(super) fn all() -> Vec<Scenario> {
    let gives_up = silent(both).input(S::update()).settle(|_, _| Ok(Resolution::GiveUp)).any_end();
    vec![
        scenario("steps", |graph| {
            let graph = graph.node("a", steps).node("b", steps).node("c", steps);
            let graph = graph.edge(START, "a").edge("a", "b").edge("a", "c");
            graph.edge("b", END).edge("c", END)
        }),
        scenario("a call that is not repeated", |graph| {
            let graph = graph.node("a", pay).node("b", work).edge(START, "a");
            graph.edge("a", "b").edge("b", END)
        }),
        scenario("calls that are not repeated, side by side", both),
        of("a call that is given up by a person", gives_up),
        scenario("a call that is repeated", |graph| {
            graph.node("a", pay_again).edge(START, "a").edge("a", END)
        }),
        of("a call that is left", lost(|graph| graph.node("a", pay_and_leave))),
        of("a call whose answer is lost", lost(|graph| graph.node("a", pay_unheard))),
        of("a graph that pays, and is left", lost(|graph| graph.node("a", run_and_leave))),
        of(
            "a graph that pays, and a handler",
            lost(|graph| {
                let paying = inner(|graph| {
                    graph.node("pay", pay_or_fail).edge(START, "pay").edge("pay", END)
                });
                let graph = match paying {
                    Ok(paying) => graph.subgraph("a", Subgraph::shared(paying)),
                    Err(_) => graph,
                };
                graph.configure("a", NodeSettings::new().on_error(mend, ["b"]))
            }),
        ),
        of("a job that is noted", lost(|graph| graph.node("a", job))),
        of("a job that is noted, and left", lost(|graph| graph.node("a", job_and_leave))),
        of("a graph with a job, and left", lost(|graph| graph.node("a", run_job_and_leave))),
        of(
            "a graph with a job, and a handler",
            lost(|graph| {
                let working =
                    inner(|graph| graph.node("job", job).edge(START, "job").edge("job", END));
                let graph = match working {
                    Ok(working) => graph.subgraph("a", Subgraph::shared(working)),
                    Err(_) => graph,
                };
                graph.configure("a", NodeSettings::new().on_error(mend, ["b"]))
            }),
        ),
        of(
            "a job whose note is erased",
            lost_on(S::update().insert_map("secret", "gildong"), |graph| graph.node("a", job))
                .erase(S::update().remove_map("secret"))
                .input(S::update()),
        ),
        of(
            "a job that is noted and given up by a person",
            lost(|graph| graph.node("a", job)).settle(|_, _| Ok(Resolution::GiveUp)),
        ),
        of(
            "a call that is given up",
            silent(|graph| graph.node("a", pay_or_not).edge(START, "a").edge("a", END))
                .input(S::update())
                .any_end(),
        ),
        of(
            "budget",
            silent(models).input(S::update()).handle(budget).any_end().check("P17", |seen| {
                // Calls whose run was lost before it said so are in nobody's books.
                let spent = seen.spent();
                if spent.iter().all(|spent| spent.model_calls <= 4) {
                    Ok(())
                } else {
                    Err(format!("a turn has spent {spent:?}"))
                }
            }),
        ),
    ]
}

/// A node `a` that may lose sight of a call, and one after it.
fn lost(build: fn(Builder) -> Builder) -> Simulation<S, Effects> {
    lost_on(S::update(), build)
}

/// The same on this input.
fn lost_on(input: SUpdate, build: fn(Builder) -> Builder) -> Simulation<S, Effects> {
    let build = move |world: &World| {
        let graph = build(Graph::builder("simulated")).node("b", work).retry_budget(u32::MAX);
        let graph = graph.edge(START, "a").edge("a", "b").edge("b", END);
        Ok((graph.runtime(world.runtime()).build()?, world.effects()))
    };
    Simulation::of(build).answer(super::answer).input(input).any_end()
}

fn both(graph: Builder) -> Builder {
    let graph = graph.node("a", pay).node("b", pay).node("c", work).edge(START, "a");
    let graph = graph.edge(START, "b").edge(START, "c");
    graph.edge("a", END).edge("b", END).edge("c", END)
}

fn models(graph: Builder) -> Builder {
    let graph = graph.node("a", model).node("b", model).node("c", model);
    let graph = graph.edge(START, "a").edge("a", "b").edge("a", "c");
    // Only its budget ends it.
    graph.join(["b", "c"], "a").configure("a", NodeSettings::new().allow(Lint::DeadEnd))
}

fn budget(
    thread: hanok_graph::Thread<S, hanok_simulation::Effects>,
) -> hanok_graph::Thread<S, hanok_simulation::Effects> {
    thread.budget(Budget { model_calls: Some(4), ..Budget::default() })
}
