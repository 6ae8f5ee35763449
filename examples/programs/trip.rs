//! The program of the first guide, `docs/guides/getting-started.md`, as the page shows it.

use futures::StreamExt;
use hanok::agent::{Protocol, ReactAgent};
use hanok::model::{Exchange, FnTool, ScriptedModel};
use hanok::sqlite::Sqlite;
use hanok::{
    BoxError, Context, END, EventKind, Graph, Input, Outcome, START, Snapshot, State, ThreadKey,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// What a thread knows.
#[derive(State, Clone, Debug, Default)]
struct Trip {
    city: String,
    advice: String,
    booked: bool,
}

/// What the tool takes. The model is told by its JSON Schema.
#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

/// An agent: a model that may call a tool as often as it likes, and then answers.
fn adviser() -> Result<ReactAgent, BoxError> {
    let weather =
        FnTool::new("get_weather", "The weather of a city", |city: City, _| async move {
            Ok(format!("It rains in {}.", city.city).into())
        })?;
    // What a model would say. The second line is an answer to what the tool said.
    let model = ScriptedModel::new([
        Exchange::call("get_weather", json!({ "city": "Seoul" })),
        Exchange::says("Take an umbrella.").contains("It rains in Seoul."),
    ]);
    let agent = ReactAgent::builder("adviser", "Knows what to take along", model);
    Ok(agent.protocol(Protocol::Native).tool(weather).build()?)
}

async fn advise(trip: Snapshot<Trip>, cx: Context<ReactAgent>) -> Result<TripUpdate, BoxError> {
    let adviser = cx.services();
    let question = format!("What do I take along to {}?", trip.city);
    let turn = cx.run(adviser.graph(), adviser.ask(question), ()).await?.done()?;
    Ok(Trip::update().advice(turn.answer.unwrap_or_default()))
}

async fn book(trip: Snapshot<Trip>, cx: Context<ReactAgent>) -> Result<TripUpdate, BoxError> {
    let yes = cx.interrupt(&format!("{} Book {}?", trip.advice, trip.city)).await?;
    Ok(Trip::update().booked(yes))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let graph = Graph::<Trip, ReactAgent>::builder("trip")
        .node("advise", advise)
        .node("book", book)
        .edge(START, "advise")
        .edge("advise", "book")
        .edge("book", END)
        .build()?;
    let app = graph.checkpointer(Sqlite::open("trips.db").await?);
    let thread = app.thread(ThreadKey::named("trip-1")?);

    let answer = std::env::args().nth(1);
    let outcome = match answer.as_deref() {
        Some(answer) => thread.reply(&(answer == "yes"), adviser()?).await?,
        None => {
            let input = Input::New(Trip::update().city("Seoul"));
            let mut events = thread.stream(input, adviser()?);
            while let Some(event) = events.next().await {
                if let (EventKind::TaskStarted { .. }, Some(node)) = (&event.kind, &event.node) {
                    println!("{node} …");
                }
            }
            events.outcome().await?
        }
    };
    match outcome {
        Outcome::Interrupted(questions) => {
            for question in questions {
                println!("{}", question.payload::<String>()?);
            }
        }
        outcome => println!("{:?}", outcome.done()?),
    }
    Ok(())
}
