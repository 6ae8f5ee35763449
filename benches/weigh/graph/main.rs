//! A graph of one node on SQLite.

use hanok::{BoxError, Context, END, Graph, START, Snapshot, State, ThreadKey, sqlite::Sqlite};

#[derive(State, Clone, Default)]
struct Count {
    n: u32,
}

async fn add(count: Snapshot<Count>, _: Context) -> Result<CountUpdate, BoxError> {
    Ok(Count::update().n(count.n + 1))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    let app = graph.checkpointer(Sqlite::open("threads.db").await?);
    let count = app.thread(ThreadKey::named("mine")?).invoke(Count::update(), ()).await?.done()?;
    println!("{}", count.n);
    Ok(())
}
