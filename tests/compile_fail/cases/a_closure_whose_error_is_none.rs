use hanok::{Context, END, Graph, START, Snapshot, State};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[derive(Debug)]
struct Wrong;

fn main() {
    let graph = Graph::<Agent>::builder("g").node("node", |state: Snapshot<Agent>, _: Context| async move {
        if state.iteration > 3 {
            return Err(Wrong);
        }
        Ok(Agent::update().iteration(state.iteration + 1))
    });
    let _ = graph.edge(START, "node").edge("node", END);
}
