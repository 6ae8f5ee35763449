use hanok::{Context, END, Graph, START, Snapshot, State};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

async fn node(state: Snapshot<Agent>, _: Context) -> AgentUpdate {
    Agent::update().iteration(state.iteration + 1)
}

fn main() {
    let _ = Graph::<Agent>::builder("g").node("node", node).edge(START, "node").edge("node", END);
}
