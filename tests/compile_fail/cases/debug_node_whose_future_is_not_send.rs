use hanok::{BoxError, Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[debug_node]
async fn node(state: Snapshot<Agent>, _: Context) -> Result<AgentUpdate, BoxError> {
    let iteration = std::rc::Rc::new(state.iteration);
    std::future::ready(()).await;
    Ok(Agent::update().iteration(*iteration + 1))
}

fn main() {}
