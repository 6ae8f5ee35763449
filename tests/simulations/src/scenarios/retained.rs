//! Threads that do not keep all.

use hanok_checkpoint::Keep;
use hanok_graph::{END, START, Snapshot};
use hanok_state::State;

use super::{Builder, Scenario, flow::rounds, history::long, of, silent};
use crate::nodes::{Cx, Ran, S, ask, begin, pay, says, steps, work};

pub(super) fn all() -> Vec<Scenario> {
    let cut = silent(rounds).input(says("one")).prune(Keep::Newest).input(says("two"));
    let long = long().prune(Keep::Last(2)).input(says("three"));
    let asked = silent(secret).input(says("one")).prune(Keep::Newest).input(says("two"));
    let erased = silent(secret).input(says("one")).erase(S::update().remove_map("secret"));
    vec![
        of("pruned while a turn goes on", cut.prune(Keep::Last(2)).input(says("three"))),
        of("pruned while snapshots are under way", long),
        of("pruned while much is open", asked.prune(Keep::Newest).input(says("three"))),
        of("erased while much is open", erased.input(says("two")).input(says("three"))),
    ]
}

/// Something that may have to be erased, then steps, a call and a question at once.
fn secret(graph: Builder) -> Builder {
    async fn begun(state: Snapshot<S>, cx: Cx) -> Ran {
        begin(&cx).await;
        let said = says(format!("begun {}", state.n)).n(state.n + 1);
        // It is there once.
        Ok(if state.n == 0 { said.insert_map("secret", "4711-XYZ") } else { said })
    }
    let graph = graph.node("begun", begun).node("steps", steps).node("pay", pay);
    let graph = graph.node("q", ask).node("w", work).node("z", work).edge(START, "begun");
    let graph = graph.edge("begun", "steps").edge("begun", "pay").edge("begun", "q");
    graph.edge("begun", "w").join(["steps", "pay", "q", "w"], "z").edge("z", END)
}
