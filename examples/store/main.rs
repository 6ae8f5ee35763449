//! A graph on a store of one's own: its thread is there for the next handle, and goes on where it was.

use hanok::{BoxError, Context, END, Graph, List, START, Snapshot, State, ThreadKey};
use store::Maps;

#[derive(State, Clone, Default)]
struct Diary {
    #[reduce(append)]
    days: List<String>,
}

async fn write(diary: Snapshot<Diary>, _: Context) -> Result<DiaryUpdate, BoxError> {
    Ok(Diary::update().push_days(format!("day {}", diary.days.len() + 1)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let graph = Graph::<Diary>::builder("diary")
        .node("write", write)
        .edge(START, "write")
        .edge("write", END)
        .build()?;
    let store = Maps::new();
    for _ in 0..3 {
        let thread = graph.clone().checkpointer(store.clone()).thread(ThreadKey::named("mine")?);
        let diary = thread.invoke(Diary::update(), ()).await?.done()?;
        println!("{}", diary.days.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    Ok(())
}
