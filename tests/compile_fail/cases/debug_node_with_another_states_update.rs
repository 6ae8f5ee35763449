use hanok::{BoxError, Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[derive(State, Clone, Default)]
struct Other {
    iteration: u32,
}

#[debug_node]
async fn node(state: Snapshot<Agent>, _: Context) -> Result<OtherUpdate, BoxError> {
    Ok(Other::update().iteration(state.iteration + 1))
}

fn main() {}
