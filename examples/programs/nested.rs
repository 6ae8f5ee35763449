//! A graph within a graph. The inner one has a state of its own; its tokens and steps stream with their path.

use futures::StreamExt;
use hanok::{
    BoxError, Context, END, EventKind, Graph, InMemoryCheckpointer, Input, List, Mode, START,
    Snapshot, State, Subgraph, ThreadKey,
};

#[derive(State, Clone, Default)]
struct Trip {
    place: String,
    plan: String,
}

#[derive(State, Clone, Default)]
struct Research {
    topic: String,
    #[reduce(append)]
    found: List<String>,
}

async fn search(state: Snapshot<Research>, context: Context) -> Result<ResearchUpdate, BoxError> {
    context.custom(&format!("searching for {}", state.topic));
    Ok(Research::update().push_found(format!("trains to {}", state.topic)))
}

async fn read(state: Snapshot<Research>, context: Context) -> Result<ResearchUpdate, BoxError> {
    context.custom(&format!("reading {} pages", state.found.len()));
    Ok(Research::update().push_found("a good inn"))
}

async fn pack(trip: Snapshot<Trip>, _: Context) -> Result<TripUpdate, BoxError> {
    Ok(Trip::update().plan(format!("{}; bags packed", trip.plan)))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let research = Graph::<Research>::builder("research")
        .node("search", search)
        .node("read", read)
        .edge(START, "search")
        .edge("search", "read")
        .edge("read", END)
        .build()?;
    let research = Subgraph::new(
        research,
        |trip: &Trip| Research::update().topic(trip.place.clone()),
        |research: &Research| {
            let found: Vec<_> = research.found.iter().map(String::as_str).collect();
            Trip::update().plan(found.join(", "))
        },
    );
    let trip = Graph::<Trip>::builder("trip")
        .subgraph("research", research)
        .node("pack", pack)
        .edge(START, "research")
        .edge("research", "pack")
        .edge("pack", END)
        .build()?;
    let thread = trip.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t")?);
    let thread = thread.modes([Mode::Custom, Mode::Checkpoints]);

    let mut events = thread.stream(Input::New(Trip::update().place("Gyeongju")), ());
    while let Some(event) = events.next().await {
        let within = if event.path.is_root() { "trip" } else { "trip > research" };
        match event.kind {
            EventKind::Custom(item) => println!("{within}: {}", item.as_str()?),
            EventKind::Checkpoint => println!("{within}: super-step {} is stored", event.step),
            _ => {}
        }
    }
    println!("{}", events.outcome().await?.done()?.plan);
    Ok(())
}
