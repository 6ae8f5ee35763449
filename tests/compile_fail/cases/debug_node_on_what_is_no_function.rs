use hanok::{BoxError, Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[debug_node]
struct Node;

struct Nodes;

impl Nodes {
    #[debug_node]
    async fn node(&self, _: Snapshot<Agent>, _: Context) -> Result<(), BoxError> {
        Ok(())
    }
}

fn main() {}
