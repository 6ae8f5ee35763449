//! A swarm on SQLite: two agents hand a customer to each other. Who has the customer is in the file: the second turn opens it
//! anew, as another process would, and billing answers.

use std::path::Path;

use hanok::{
    BoxError, ThreadKey,
    agent::{HandoffTool, ReactAgent},
    model::{Exchange, ScriptedModel},
    sqlite::Sqlite,
    supervisor::Swarm,
};

async fn turn(file: &Path, model: &ScriptedModel, text: &str) -> Result<(), BoxError> {
    let front = ReactAgent::builder("front", "Takes calls", model.clone())
        .handoff(HandoffTool::to("billing", "Knows invoices"));
    let billing = ReactAgent::builder("billing", "Knows invoices", model.clone())
        .handoff(HandoffTool::to("front", "Takes calls"));
    let swarm = Swarm::builder().agents([front.build()?, billing.build()?]).build()?;
    let app = swarm.graph().checkpointer(Sqlite::open(file).await?);
    let thread = app.thread(ThreadKey::named("customer-5")?);
    let state = thread.invoke(swarm.ask(text), ()).await?.done()?;
    println!("{}: {}", state.active, state.answer.unwrap_or_default());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let model = ScriptedModel::new([
        Exchange::says("Action: transfer_to_billing\nAction Input: {\"task\": \"a refund\"}"),
        Exchange::says("Final Answer: It is on its way.").contains("a refund"),
        Exchange::says("Final Answer: In three days.").contains("When?"),
    ]);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("customers.db");
    turn(&file, &model, "I want my money back!").await?;
    turn(&file, &model, "When?").await?;
    model.finished()?;
    Ok(())
}
