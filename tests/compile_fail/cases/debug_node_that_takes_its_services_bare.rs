use hanok::{BoxError, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

struct Services {
    limit: u32,
}

#[debug_node]
async fn node(_: Snapshot<Agent>, services: Services) -> Result<AgentUpdate, BoxError> {
    Ok(Agent::update().iteration(services.limit))
}

fn main() {}
