use hanok::{BoxError, Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[debug_node]
async fn node(_: Context, state: Snapshot<Agent>) -> Result<AgentUpdate, BoxError> {
    Ok(Agent::update().iteration(state.iteration + 1))
}

fn main() {}
