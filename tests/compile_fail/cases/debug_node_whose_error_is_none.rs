use hanok::{Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[derive(Debug)]
enum Wrong {
    Empty,
}

#[debug_node]
async fn node(_: Snapshot<Agent>, _: Context) -> Result<AgentUpdate, Wrong> {
    Err(Wrong::Empty)
}

fn main() {}
