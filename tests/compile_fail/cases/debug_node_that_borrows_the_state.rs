use hanok::{BoxError, Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[debug_node]
async fn node(state: &Agent, _: Context) -> Result<AgentUpdate, BoxError> {
    Ok(Agent::update().iteration(state.iteration + 1))
}

#[debug_node]
async fn other(state: &Snapshot<Agent>, _: Context) -> Result<AgentUpdate, BoxError> {
    Ok(Agent::update().iteration(state.iteration + 1))
}

fn main() {}
