use hanok::{BoxError, Context, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[debug_node]
async fn node(state: Agent, _: Context) -> Result<AgentUpdate, BoxError> {
    Ok(Agent::update().iteration(state.iteration + 1))
}

fn main() {}
