//! What is done outside, and what it costs.

use hanok_core::Budget;
use hanok_graph::{END, Lint, NodeSettings, Resolution, START};
use hanok_state::State;

use super::{Builder, Scenario, of, scenario, silent};
use crate::nodes::{S, model, pay, pay_again, pay_or_not, steps, work};

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
