//! An agent on an OpenAI-compatible server, on a thread in SQLite.

use hanok::{BoxError, ThreadKey, agent::ReactAgent, openai::OpenAi, sqlite::Sqlite};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let agent = ReactAgent::builder("helper", "Helps", OpenAi::from_env().await?).build()?;
    let app = agent.graph().checkpointer(Sqlite::open("threads.db").await?);
    let turn =
        app.thread(ThreadKey::named("mine")?).invoke(agent.ask("Hello"), ()).await?.done()?;
    println!("{}", turn.answer.unwrap_or_default());
    Ok(())
}
