use hanok::{Context, END, Graph, START, Snapshot, State};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

fn main() {
    let graph = Graph::<Agent>::builder("g").node("node", |state: Snapshot<Agent>, _: Context| async move {
        Ok(Agent::update().iteration(state.iteration + 1))
    });
    let _ = graph.edge(START, "node").edge("node", END);
}
