use hanok::{BoxError, Context, END, Graph, START, Snapshot, State};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

async fn node(state: Snapshot<Agent>, _: Context) -> Result<AgentUpdate, BoxError> {
    let iteration = std::rc::Rc::new(state.iteration);
    std::future::ready(()).await;
    Ok(Agent::update().iteration(*iteration + 1))
}

fn main() {
    let _ = Graph::<Agent>::builder("g").node("node", node).edge(START, "node").edge("node", END);
}
