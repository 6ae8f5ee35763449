//! Three cities are asked at once, one of them fails, and only that one is asked again: what the others said is stored.
//! The report waits for all of them and for the map, which takes another way.

use std::sync::atomic::{AtomicU32, Ordering};

use hanok::{
    BoxError, Context, END, Graph, InMemoryCheckpointer, List, START, SendTo, Sent, Snapshot,
    State, ThreadKey,
};

#[derive(State, Clone, Default)]
struct Report {
    cities: Vec<String>,
    #[reduce(append)]
    lines: List<String>,
    text: String,
}

/// How often each service was called, and whether the line to Busan is up.
#[derive(Default)]
struct World {
    calls: AtomicU32,
    up: std::sync::atomic::AtomicBool,
}

type Services = std::sync::Arc<World>;

async fn weather(
    _: Snapshot<Report>,
    city: Sent<String>,
    context: Context<Services>,
) -> Result<ReportUpdate, BoxError> {
    let world = context.services();
    world.calls.fetch_add(1, Ordering::SeqCst);
    if *city == "Busan" && !world.up.load(Ordering::SeqCst) {
        return Err("the line to Busan is down".into());
    }
    Ok(Report::update().push_lines(format!("{}: sunny", *city)))
}

async fn map(_: Snapshot<Report>, _: Context<Services>) -> Result<ReportUpdate, BoxError> {
    Ok(Report::update().push_lines("a map"))
}

async fn write(report: Snapshot<Report>, _: Context<Services>) -> Result<ReportUpdate, BoxError> {
    let lines: Vec<_> = report.lines.iter().map(String::as_str).collect();
    Ok(Report::update().text(lines.join(", ")))
}

fn each_city(report: &Report) -> Vec<SendTo> {
    report.cities.iter().map(|city| SendTo::new("weather", city)).collect()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let graph = Graph::<Report, Services>::builder("report")
        .node("weather", weather)
        .node("map", map)
        .node("write", write)
        .branch(START, each_city, ["weather"])
        .edge(START, "map")
        .join(["weather", "map"], "write")
        .edge("write", END)
        .build()?;
    let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t")?);
    let world = Services::default();
    let cities = ["Seoul", "Busan", "Jeju"].map(str::to_owned).to_vec();

    let failed = thread.invoke(Report::update().cities(cities), world.clone()).await;
    println!("failed: {}", failed.err().ok_or("Busan answered")?);
    world.up.store(true, Ordering::SeqCst);
    let report = thread.resume(world.clone()).await?.done()?;
    println!("{}", report.text);
    println!("calls: {}", world.calls.load(Ordering::SeqCst));
    Ok(())
}
