use hanok::{Context, END, Graph, NodeExt, Retry, START, Snapshot, State};

#[derive(State, Clone, Default)]
struct Count {
    n: u32,
}

async fn add(state: Snapshot<Count>, _: Context) -> CountUpdate {
    Count::update().n(state.n + 1)
}

fn main() {
    let _graph = Graph::<Count>::builder("count")
        .node("add", add.retry(Retry::attempts(3)))
        .edge(START, "add")
        .edge("add", END)
        .build();
}
