//! Tools and agents for tests.

#![allow(clippy::panic, reason = "a tool that panics is one of the cases")]

pub(crate) mod desk;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_agent::{AgentState, ReactAgent, ReactAgentBuilder};
use hanok_core::Effect;
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, ToolError};
use hanok_state::{Message, Role};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Ask {
    /// What to do it with.
    q: String,
    /// How many milliseconds to take.
    #[serde(default)]
    wait: u64,
}

/// What was called, in the order the calls began.
pub(crate) type Ledger = Arc<Mutex<Vec<String>>>;

/// `find` gives back what it is asked, after a while; `broken` fails, `refuse` refuses, `panic` panics, `endless` never
/// comes back, and `large` gives more than a model is shown.
pub(crate) fn tools(ledger: &Ledger) -> Vec<SharedTool> {
    let tool = |name: &'static str| {
        let ledger = ledger.clone();
        let run = move |ask: Ask, _| {
            ledger.lock().unwrap().push(format!("{name} {}", ask.q));
            async move {
                match name {
                    "broken" => Err(ToolError::failed("the disk is full")),
                    "refuse" => Err(ToolError::refused("not on Sundays")),
                    "panic" => panic!("a secret of the tool"),
                    "endless" => std::future::pending().await,
                    "large" => Ok("휴".repeat(100_000).into()),
                    _ => {
                        tokio::time::sleep(Duration::from_millis(ask.wait)).await;
                        Ok(format!("found {}", ask.q).into())
                    }
                }
            }
        };
        SharedTool::new(FnTool::new(name, "A tool", run).unwrap().effect(Effect::Pure))
    };
    ["find", "broken", "refuse", "panic", "endless", "large"].map(tool).into()
}

pub(crate) fn builder(model: &ScriptedModel) -> ReactAgentBuilder {
    ReactAgent::builder("tester", "Tests", model.clone()).tools(tools(&Ledger::default()))
}

/// One turn of an agent whose model says this.
pub(crate) async fn run(script: impl IntoIterator<Item = Exchange>) -> AgentState {
    let model = ScriptedModel::new(script);
    let agent = builder(&model).build().unwrap();
    let outcome = agent.graph().invoke(agent.ask("?"), ()).await.unwrap();
    model.finished().unwrap();
    outcome.done().unwrap()
}

pub(crate) fn call(tool: &str, arguments: &str) -> String {
    format!("Action: {tool}\nAction Input: {arguments}\n")
}

/// The texts of the observations, in their order.
pub(crate) fn observations(state: &AgentState) -> Vec<String> {
    let is_one = |message: &&Message| {
        message.role() == Role::Tool || message.text().starts_with("Observation: ")
    };
    state.messages.iter().filter(is_one).map(|message| message.text().into_owned()).collect()
}
