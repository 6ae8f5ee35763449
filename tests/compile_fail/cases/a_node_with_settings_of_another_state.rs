use hanok::{BoxError, Context, END, Graph, NodeExt, Retry, START, Snapshot, State};

#[derive(State, Clone, Default)]
struct Count {
    n: u32,
}

#[derive(State, Clone, Default)]
struct Other {
    m: u32,
}

async fn add(state: Snapshot<Other>, _: Context) -> Result<OtherUpdate, BoxError> {
    Ok(Other::update().m(state.m + 1))
}

fn main() {
    let _graph = Graph::<Count>::builder("count")
        .node("add", add.retry(Retry::attempts(3)))
        .edge(START, "add")
        .edge("add", END)
        .build();
}
