//! Two teams of two agents under one supervisor. Each team is a supervisor of its own, and a member of the one above it.
//! The model is a script (`teams.txt`), so that the program needs no server; give it any other model instead.

use hanok::model::{Exchange, ScriptedModel};
use hanok::{BoxError, agent::ReactAgent, supervisor::Supervisor};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let model = ScriptedModel::new(include_str!("teams.txt").split("---\n").map(Exchange::says));
    let agent = |name, about| ReactAgent::builder(name, about, model.clone()).build();
    let team = |name, about| Supervisor::builder(model.clone()).name(name).description(about);

    let research = team("research", "Finds things out");
    let research = research.agent(agent("libraries", "Knows libraries")?);
    let research = research.agent(agent("weather", "Knows the weather")?);
    let writing = team("writing", "Writes texts");
    let writing = writing.agent(agent("author", "Writes anew")?);
    let writing = writing.agent(agent("translator", "Translates")?);
    let top = team("top", "Answers").agent(research.build()?).agent(writing.build()?).build()?;

    let state =
        top.graph().invoke(top.ask("What is hanok? In Korean, please."), ()).await?.done()?;
    println!("{}", state.answer.unwrap_or_default());
    Ok(model.finished()?)
}
