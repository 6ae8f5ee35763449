use hanok::{BoxError, Context, END, Graph, START, Snapshot, State};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

struct Services {
    limit: u32,
}

async fn node(_: Snapshot<Agent>, context: Context<Services>) -> Result<AgentUpdate, BoxError> {
    Ok(Agent::update().iteration(context.services().limit))
}

fn main() {
    let _ = Graph::<Agent>::builder("g").node("node", node).edge(START, "node").edge("node", END);
}
