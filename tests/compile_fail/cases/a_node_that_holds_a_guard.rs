use std::sync::Mutex;

use hanok::{BoxError, Context, END, Graph, START, Snapshot, State};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

type Services = Mutex<u32>;

async fn node(state: Snapshot<Agent>, context: Context<Services>) -> Result<AgentUpdate, BoxError> {
    let mut calls = context.services().lock().map_err(|_| "poisoned")?;
    std::future::ready(()).await;
    *calls += 1;
    Ok(Agent::update().iteration(state.iteration + 1))
}

fn main() {
    let graph = Graph::<Agent, Services>::builder("g").node("node", node);
    let _ = graph.edge(START, "node").edge("node", END);
}
