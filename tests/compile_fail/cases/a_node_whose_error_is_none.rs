use hanok::{Context, END, Graph, START, Snapshot, State};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[derive(Debug)]
enum Wrong {
    Empty,
}

async fn node(state: Snapshot<Agent>, _: Context) -> Result<AgentUpdate, Wrong> {
    if state.iteration == 0 {
        return Err(Wrong::Empty);
    }
    Ok(Agent::update())
}

fn main() {
    let _ = Graph::<Agent>::builder("g").node("node", node).edge(START, "node").edge("node", END);
}
