//! An agent's loop of model and tool with large results.

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_state::{Arguments, Message, Messages, State, ToolCall};

use super::{DURABILITIES, thread};
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const CALLS: usize = 100;

#[derive(State, Clone, Default)]
struct Talk {
    messages: Messages,
}

/// What the model says, one message after the other.
type Script = Vec<Message>;

async fn model(state: Snapshot<Talk>, context: Context<Script>) -> Result<TalkUpdate> {
    // The question comes first, and then a message of the model's and one of the tool's in turn.
    let said = context.services().get(state.messages.len() / 2).ok_or("the script is over")?;
    Ok(Talk::update().message(said.clone()))
}

async fn tool(state: Snapshot<Talk>, _: Context<Script>) -> Result<TalkUpdate> {
    let call = state.messages.last().and_then(|said| said.tool_calls().first());
    let call = call.ok_or("no tool is called")?;
    let result = format!("result for query: {}", call.arguments).repeat(10);
    Ok(Talk::update().message(Message::tool(call.id.clone(), result)))
}

fn next(state: &Talk) -> &'static str {
    let calls = state.messages.last().is_some_and(|said| !said.tool_calls().is_empty());
    if calls { "tool" } else { END }
}

fn script() -> Result<Script> {
    let call = |i: usize| {
        let query = format!("{i:08x}-0000-4000-8000-{i:012x}").repeat(100);
        let arguments = Arguments::from_value(&serde_json::json!({ "query": query }))?;
        let call = ToolCall { id: i.to_string(), name: "search".to_owned(), arguments };
        Result::Ok(Message::assistant("").with_tool_calls([call]))
    };
    let answer = Message::assistant("answer".repeat(100));
    (0..CALLS).map(call).chain([Ok(answer)]).collect()
}

pub(super) fn kept(rounds: usize) -> Result<Vec<f64>> {
    let graph = Graph::<Talk, Script>::builder("react")
        .node("model", model)
        .node("tool", tool)
        .edge(START, "model")
        .branch("model", next, ["tool", END])
        .edge("tool", "model")
        .recursion_limit(u32::MAX)
        .build()?;
    let script = script()?;
    medians(rounds, async || {
        let mut took = [0.0; 3];
        for (durability, took) in DURABILITIES.into_iter().zip(&mut took) {
            let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(thread("t")?);
            let thread = thread.durability(durability);
            let input = Talk::update().message(Message::user("hi?"));
            let (script, cpu) = (script.clone(), Cpu::start());
            let state = thread.invoke(input, script).await?.done()?;
            *took = cpu.millis();
            ensure(state.messages.len() == 2 * CALLS + 2, "the messages")?;
            let bytes: usize = state.messages.iter().map(|message| message.text().len()).sum();
            ensure(bytes > CALLS * 36_000, "what they say")?;
        }
        Ok(took)
    })
}
