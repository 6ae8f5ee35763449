use std::sync::Mutex;

use hanok::{BoxError, Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[debug_node]
async fn node(state: Snapshot<Agent>, context: Context<Mutex<u32>>) -> Result<AgentUpdate, BoxError> {
    let mut calls = context.services().lock().map_err(|_| "poisoned")?;
    std::future::ready(()).await;
    *calls += 1;
    Ok(Agent::update().iteration(state.iteration + 1))
}

fn main() {}
