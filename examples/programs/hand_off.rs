//! Two agents share a thread. The one at the front hands it to the one that knows invoices, which keeps it: the next turn
//! goes straight there. The model is a script, so that the program needs no server.

use hanok::{
    BoxError, InMemoryCheckpointer, ThreadKey,
    agent::{HandoffHistory, HandoffTool, ReactAgent},
    model::{Exchange, FnTool, ScriptedModel},
    supervisor::Swarm,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Which invoice to look up.
#[derive(Deserialize, JsonSchema)]
struct Lookup {
    /// Its number.
    number: u32,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let model = ScriptedModel::new([
        Exchange::says(
            "Action: transfer_to_billing\nAction Input: {\"task\": \"explain invoice 7\"}",
        ),
        Exchange::says("Action: find_invoice\nAction Input: {\"number\": 7}").contains("invoice 7"),
        Exchange::says("Final Answer: Invoice 7 is for two loaves.").contains("two loaves"),
        Exchange::says("Final Answer: It was paid in May.").contains("And when was it paid?"),
    ]);
    let find = FnTool::new("find_invoice", "Finds an invoice", |lookup: Lookup, _| async move {
        Ok(format!("invoice {}: two loaves, paid in May", lookup.number).into())
    })?;
    let to_billing = HandoffTool::to("billing", "Knows invoices").history(HandoffHistory::Last);
    let front =
        ReactAgent::builder("front", "Takes calls", model.clone()).handoff(to_billing).build()?;
    let billing =
        ReactAgent::builder("billing", "Knows invoices", model.clone()).tool(find).build()?;
    let swarm = Swarm::builder().agent(front).agent(billing).max_hops(4).build()?;
    let thread =
        swarm.graph().checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t")?);

    for question in ["What is invoice 7 about?", "And when was it paid?"] {
        let state = thread.invoke(swarm.ask(question), ()).await?.done()?;
        println!("user: {question}");
        println!("{} ({} hops): {}", state.active, state.hops, state.answer.unwrap_or_default());
    }
    model.finished()?;
    Ok(())
}
