use hanok::{BoxError, Context, END, Graph, START, State};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

async fn node(state: Agent, _: Context) -> Result<AgentUpdate, BoxError> {
    Ok(Agent::update().iteration(state.iteration + 1))
}

fn main() {
    let _ = Graph::<Agent>::builder("g").node("node", node).edge(START, "node").edge("node", END);
}
