use hanok::{BoxError, Context, END, Graph, START, Snapshot};

#[derive(Clone, Default)]
struct Agent {
    iteration: u32,
}

async fn node(_: Snapshot<Agent>, _: Context) -> Result<(), BoxError> {
    Ok(())
}

fn main() {
    let _ = Graph::<Agent>::builder("g").node("node", node).edge(START, "node").edge("node", END);
}
