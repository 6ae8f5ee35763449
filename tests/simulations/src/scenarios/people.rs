//! Questions, answers and breakpoints.

use hanok_graph::{END, START};

use super::{Scenario, scenario};
use crate::nodes::{ask, ask_twice, work};

pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario("a question", |graph| {
            let graph = graph.node("a", ask).node("b", work).edge(START, "a");
            graph.edge("a", "b").edge("b", END)
        }),
        scenario("questions one after the other", |graph| {
            let graph = graph.node("a", ask_twice).node("b", work).edge(START, "a");
            graph.edge("a", "b").edge("b", END)
        }),
        scenario("questions at once", |graph| {
            let graph = graph.node("a", ask).node("b", ask_twice).node("c", work).node("z", work);
            let graph = graph.edge(START, "a").edge(START, "b").edge(START, "c");
            graph.join(["a", "b", "c"], "z").edge("z", END)
        }),
        scenario("breakpoints", |graph| {
            let graph = graph.node("a", work).node("b", ask).node("c", work).edge(START, "a");
            let graph = graph.edge("a", "b").edge("b", "c").edge("c", END);
            graph.interrupt_before(["b"]).interrupt_after(["b"])
        }),
    ]
}
