use hanok::{BoxError, Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

struct Sent<T>(T);

#[debug_node]
async fn node(_: Snapshot<Agent>, _: Context, input: Sent<u32>) -> Result<AgentUpdate, BoxError> {
    Ok(Agent::update().iteration(input.0))
}

fn main() {}
