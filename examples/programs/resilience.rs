//! What a node may be given, in one chain: another attempt, a time-out and a cache; then a subgraph, and a stop before the last
//! node. The run is printed as it streams; in the second turn the download comes from the cache.

use std::time::Duration;

use hanok::{
    BoxError, Context, END, Graph, InMemoryCheckpointer, Input, Mode, NodeExt, Outcome, Retry,
    START, Snapshot, State, Subgraph, ThreadKey,
    graph::Cache,
    model::{ChatModel, ChatRequest, Exchange, ScriptedModel, SharedModel},
};

#[derive(State, Clone, Default)]
struct Page {
    topic: String,
    fetched: String,
    words: u64,
    text: String,
}

#[derive(State, Clone, Default)]
struct Count {
    text: String,
    words: u64,
}

async fn fetch(page: Snapshot<Page>, cx: Context<SharedModel>) -> Result<PageUpdate, BoxError> {
    match cx.attempt() {
        1 => Err("the connection was reset".into()),
        2 => std::future::pending().await,
        attempt => Ok(Page::update().fetched(format!("{} at attempt {attempt}", page.topic))),
    }
}

async fn count(count: Snapshot<Count>, cx: Context<SharedModel>) -> Result<CountUpdate, BoxError> {
    cx.custom("counting words");
    Ok(Count::update().words(count.text.split(' ').count() as u64))
}

async fn write(page: Snapshot<Page>, cx: Context<SharedModel>) -> Result<PageUpdate, BoxError> {
    let request = ChatRequest::new([format!("Write about {}", page.fetched)]);
    let reply = cx.services().chat(request, &cx.call("model", "write", "")).await?;
    Ok(Page::update().text(reply.message.text()))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let counting = Graph::<Count, SharedModel>::builder("counting")
        .node("count", count)
        .edge(START, "count")
        .edge("count", END)
        .build()?;
    let minute = Duration::from_secs(60);
    let fetch = fetch
        .retry(Retry::attempts(3).first(Duration::from_millis(10)))
        .timeout(Duration::from_millis(100))
        .cache(Cache::new(minute, |page: &Page, _: &SharedModel| page.topic.clone()));
    let into = |page: &Page| Count::update().text(page.fetched.clone());
    let counting = Subgraph::new(counting, into, |count| Page::update().words(count.words));
    let graph = Graph::<Page, SharedModel>::builder("page")
        .node("fetch", fetch)
        .subgraph("counting", counting)
        .node("write", write)
        .edge(START, "fetch")
        .edge("fetch", "counting")
        .edge("counting", "write")
        .edge("write", END)
        .interrupt_before(["write"])
        .build()?;
    let model = SharedModel::new(ScriptedModel::new([
        Exchange::says("Tea is fine.").contains("at attempt 3"),
        Exchange::says("Tea is good.").contains("at attempt 3"),
    ]));
    let app = graph.checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t")?);
    let thread = thread.modes([Mode::Tasks, Mode::Custom, Mode::Messages]);

    for turn in 1..=2 {
        println!("turn {turn}");
        let mut input = Input::New(Page::update().topic("green tea"));
        loop {
            let events = thread.stream(input, model.clone()).print(std::io::stdout()).await?;
            match events.outcome().await? {
                Outcome::Breakpoint(at) => println!("before {:?}", at.nodes),
                outcome => break println!("{} words", outcome.done()?.words),
            }
            input = Input::Resume;
        }
    }
    Ok(())
}
