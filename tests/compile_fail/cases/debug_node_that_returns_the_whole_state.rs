use hanok::{BoxError, Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[debug_node]
async fn node(state: Snapshot<Agent>, _: Context) -> Result<Agent, BoxError> {
    Ok(Agent { iteration: state.iteration + 1 })
}

fn main() {}
