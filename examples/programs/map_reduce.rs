//! Map and reduce: a model names animals, one task for each of them asks it for a joke, all at the same time, and a reducer of
//! one's own keeps the shortest joke. What the reducer gives does not hang on who was ready first.

use hanok::{
    BoxError, Context, END, Graph, List, START, SendTo, Sent, Snapshot, State,
    model::{ChatModel, ChatRequest, Exchange, ScriptedModel, SharedModel},
};

#[derive(State, Clone, Default)]
struct Jokes {
    topic: String,
    animals: Vec<String>,
    #[reduce(append)]
    jokes: List<String>,
    #[reduce(with = shorter)]
    shortest: Option<String>,
}

/// A reducer: of what the field holds and what a node writes to it.
fn shorter(held: &Option<String>, written: Option<String>) -> Option<String> {
    held.iter().cloned().chain(written).min_by_key(String::len)
}

async fn ask(model: &Context<SharedModel>, question: String) -> Result<String, BoxError> {
    let call = model.call("model", "ask", &question);
    Ok(model.services().chat(ChatRequest::new([question]), &call).await?.message.text().into())
}

async fn animals(
    jokes: Snapshot<Jokes>,
    cx: Context<SharedModel>,
) -> Result<JokesUpdate, BoxError> {
    let names = ask(&cx, format!("Name three {}, with commas.", jokes.topic)).await?;
    Ok(Jokes::update().animals(names.split(", ").map(str::to_owned).collect::<Vec<_>>()))
}

async fn joke(
    _: Snapshot<Jokes>,
    animal: Sent<String>,
    cx: Context<SharedModel>,
) -> Result<JokesUpdate, BoxError> {
    let joke = ask(&cx, format!("A joke about a {}.", *animal)).await?;
    Ok(Jokes::update().shortest(Some(joke.clone())).push_jokes(joke))
}

fn each_animal(jokes: &Jokes) -> Vec<SendTo> {
    jokes.animals.iter().map(|animal| SendTo::new("joke", animal)).collect()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let graph = Graph::<Jokes, SharedModel>::builder("jokes")
        .node("animals", animals)
        .node("joke", joke)
        .edge(START, "animals")
        .branch("animals", each_animal, ["joke"])
        .edge("joke", END)
        .build()?;
    let model = ScriptedModel::new([
        Exchange::says("lion, bee, yak").contains("three animals"),
        Exchange::says("A bee has no wrong numbers: it buzzes.").contains("a bee"),
        Exchange::says("Lions cannot play poker: too many cheetahs.").contains("a lion"),
        Exchange::says("It yaks too much.").contains("a yak"),
    ])
    .in_any_order();
    let input = Jokes::update().topic("animals");
    let jokes = graph.invoke(input, SharedModel::new(model)).await?.done()?;
    jokes.jokes.iter().for_each(|joke| println!("{joke}"));
    println!("the shortest of {}: {}", jokes.jokes.len(), jokes.shortest.unwrap_or_default());
    Ok(())
}
