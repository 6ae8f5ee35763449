//! An agent with a state and services of its own, and tools that write.

use std::sync::{Arc, Mutex};

use hanok_agent::{AgentState, HasAgent, Protocol, ReactAgent, ReactAgentBuilder};
use hanok_core::{Call, Effect, Request, Stored};
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, ToolError, ToolOutput};
use hanok_state::{State, ToolCall};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The state of a help desk.
#[derive(State, HasAgent, Clone, Debug, Default)]
pub(crate) struct Desk {
    #[reduce(nested)]
    pub(crate) agent: AgentState,
    pub(crate) customer: String,
    #[reduce(append)]
    pub(crate) orders: Vec<String>,
}

/// What a run is given.
#[derive(Debug, Default)]
pub(crate) struct App {
    pub(crate) user: String,
    pub(crate) made: Arc<Mutex<Vec<String>>>,
}

impl App {
    pub(crate) fn of(user: &str) -> Self {
        Self { user: user.to_owned(), ..Self::default() }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Named {
    /// A name.
    #[serde(default)]
    name: String,
}

pub(crate) fn native(id: &str, tool: &str, name: &str) -> ToolCall {
    ToolCall::new(id, tool, json!({ "name": name }).to_string())
}

/// A tool that gives back what `run` says of the name it is called with.
pub(crate) fn tool(
    name: &str,
    run: impl Fn(&str, &Call) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
) -> SharedTool {
    let run = move |named: Named, call: Call| std::future::ready(run(&named.name, &call));
    SharedTool::new(FnTool::new(name, "A tool", run).unwrap().effect(Effect::Pure))
}

/// Tells who asks, and notes that it was called.
pub(crate) fn whoami() -> SharedTool {
    tool("whoami", |_, call| {
        let app = call.provided::<App>().ok_or_else(|| ToolError::failed("nobody"))?;
        app.made.lock().unwrap().push("whoami".into());
        Ok(format!("You are {}.", app.user).into())
    })
}

/// Remembers whom the desk serves.
pub(crate) fn serve() -> SharedTool {
    tool("serve", |name, _| {
        ToolOutput::new(format!("serving {name}")).update(&Desk::update().customer(name))
    })
}

/// Adds an order.
pub(crate) fn order() -> SharedTool {
    tool("order", |name, call| {
        let desk = call.provided::<Desk>().ok_or_else(|| ToolError::failed("no desk"))?;
        let text = format!("{name} for {}", desk.customer);
        ToolOutput::new(format!("ordered {text}")).update(&Desk::update().push_orders(text))
    })
}

/// Asks a person, and says the answer.
pub(crate) fn asking() -> SharedTool {
    let run = |_: Named, call: Call| async move {
        let question = Request::new(Stored::encode("Go on?").map_err(ToolError::failed)?);
        let answer: String = call.question(question).await?.decode().map_err(ToolError::failed)?;
        Ok(answer.into())
    };
    SharedTool::new(FnTool::new("ask", "Asks", run).unwrap().effect(Effect::Pure))
}

pub(crate) fn desk(model: &ScriptedModel) -> ReactAgentBuilder<Desk, App> {
    ReactAgent::builder("desk", "Serves customers", model.clone())
        .state::<Desk>()
        .services::<App>()
        .protocol(Protocol::Native)
        .tools([whoami(), serve(), order()])
}

/// One turn with these calls in the model's first reply, and an answer in its second.
pub(crate) async fn turn(
    agent: impl FnOnce(ReactAgentBuilder<Desk, App>) -> ReactAgentBuilder<Desk, App>,
    calls: &[ToolCall],
) -> (Desk, ScriptedModel) {
    let model =
        ScriptedModel::new([Exchange::calls(calls.iter().cloned()), Exchange::says("done")]);
    let agent = agent(desk(&model)).build().unwrap();
    let input = agent.ask("?").customer("Kim");
    let state = agent.graph().invoke(input, App::of("Lee")).await.unwrap().done().unwrap();
    (state, model)
}

/// The results of the calls, as the model reads them.
pub(crate) fn results(state: &Desk) -> Vec<String> {
    let messages = state.agent.messages.iter();
    let results = messages.filter(|message| message.tool_call_id().is_some());
    results.map(|message| message.text().into_owned()).collect()
}
