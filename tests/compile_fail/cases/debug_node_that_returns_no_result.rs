use hanok::{Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[debug_node]
async fn node(state: Snapshot<Agent>, _: Context) -> AgentUpdate {
    Agent::update().iteration(state.iteration + 1)
}

#[debug_node]
async fn nothing(_: Snapshot<Agent>, _: Context) {}

fn main() {}
