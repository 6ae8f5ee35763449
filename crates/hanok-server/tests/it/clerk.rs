//! A clerk who plans, pays with a tool, and asks before it does.

use std::time::Duration;

use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
use hanok_core::{Request, Stored, Token};
use hanok_graph::{BoxError, Context, END, Graph, START, Snapshot, ToolEvent};
use hanok_server::Server;
use hanok_state::{Json, List, Message, Messages, State, ToolCall};
use serde_json::{Value, json};

use crate::served::Served;

/// What the clerk knows.
#[derive(State, Clone, Debug, Default)]
pub struct Clerk {
    messages: Messages,
    sources: List<String>,
    plan: Json,
    team_results: Json,
}

/// Plans, and tells of it.
async fn plan(_: Snapshot<Clerk>, cx: Context) -> Result<ClerkUpdate, BoxError> {
    cx.custom(&json!({"event": "planning", "round": 1}));
    cx.custom(&json!({"type": "todo_updated", "execution_steps": [step("pending")]}));
    let steps = json!([{"id": "pay", "team": "cash", "task": "pay the bill", "description": ""}]);
    Ok(Clerk::update().plan(Json(json!({ "steps": steps }))))
}

fn step(status: &str) -> Value {
    json!({"step_id": "pay", "status": status})
}

/// Pays when it is told to, and asks whether it may; "both" has the auditor ask, too.
async fn pay(clerk: Snapshot<Clerk>, cx: Context) -> Result<ClerkUpdate, BoxError> {
    let said = said(&clerk);
    if !["pay", "both", "late"].contains(&&*said) {
        return Ok(Clerk::update());
    }
    let call = cx.call("tool", "pay", r#"{"euros":5}"#).identified("call-1");
    cx.tool_event(&call, || ToolEvent::Started { arguments: r#"{"euros":5}"#.to_owned() });
    let deadline = (said == "late").then(|| call.clock().now().plus(Duration::from_millis(50)));
    let payload = Stored::encode(&json!({"kind": "tool_approval", "tool": "pay"}))?;
    let schema = Some(decisions().to_string().into());
    let request = Request { schema, deadline, ..Request::new(payload) };
    let decision: Value = call.question(request).await?.decode()?;
    cx.tool_event(&call, || ToolEvent::Ended { text: "paid".to_owned() });
    let asked = ToolCall::new("call-1", "pay", r#"{"euros":5}"#);
    let asks = Message::assistant("").with_tool_calls([asked]).with_id("asks");
    let paid = Message::tool("call-1", decision.to_string()).with_id("paid");
    let result = json!({"pay": {"team": "cash", "status": "completed", "text": "paid"}});
    Ok(Clerk::update().message(asks).message(paid).team_results(Json(result)))
}

/// The decisions of an approval, as agents ask for them.
fn decisions() -> Value {
    let form = |name: &str, part: &str, schema: Value, required: bool| {
        let required = if required { vec!["decision", part] } else { vec!["decision"] };
        json!({
            "type": "object", "required": required, "additionalProperties": false,
            "properties": {"decision": {"const": name}, "digest": {}, part: schema},
        })
    };
    let arguments = json!({
        "type": "object", "required": ["euros"], "properties": {"euros": {"type": "integer"}},
    });
    json!({
        "properties": {"digest": {"const": "d1"}},
        "oneOf": [
            {
                "type": "object", "required": ["decision"], "additionalProperties": false,
                "properties": {"decision": {"const": "approve"}, "digest": {}},
            },
            form("edit", "arguments", arguments, true),
            form("reject", "message", json!({"type": "string"}), false),
        ],
    })
}

async fn audit(clerk: Snapshot<Clerk>, cx: Context) -> Result<ClerkUpdate, BoxError> {
    if said(&clerk) == "both" {
        let _: bool = cx.ask("Is the bill real?", None).await?;
    }
    Ok(Clerk::update())
}

async fn evaluator(_: Snapshot<Clerk>, _: Context) -> Result<ClerkUpdate, BoxError> {
    Ok(Clerk::update())
}

/// Says what was decided, word by word.
async fn answer(clerk: Snapshot<Clerk>, cx: Context) -> Result<ClerkUpdate, BoxError> {
    let decided = clerk.messages.iter().rev().find(|it| it.role() == hanok_state::Role::Tool);
    let decided = decided.map(|it| it.text().into_owned());
    let text = decided.unwrap_or_else(|| format!("heard {}", said(&clerk)));
    let call = cx.call("model", "clerk", &text);
    for word in text.split_inclusive(' ') {
        call.sink().inspect(|sink| sink.token(Token::Text(word.to_owned())));
    }
    let message = Message::assistant(text).with_id(call.message_id());
    Ok(Clerk::update().message(message).sources(List::from_iter(["the bill".to_owned()])))
}

fn said(clerk: &Clerk) -> String {
    let mut said = clerk.messages.iter().rev();
    let said = said.find(|message| message.role() == hanok_state::Role::User);
    said.map(|message| message.text().into_owned()).unwrap_or_default()
}

fn graph() -> Graph<Clerk> {
    let graph = Graph::builder("clerk").node("plan", plan).node("pay", pay).node("audit", audit);
    let graph = graph.node("evaluator", evaluator).node("answer", answer);
    let graph = graph.edge(START, "plan").edge("plan", "pay").edge("plan", "audit");
    let graph = graph.join(["pay", "audit"], "evaluator");
    graph.sequence(["evaluator", "answer", END]).build().unwrap()
}

/// A server of the chat and of the clerk.
pub async fn served() -> Served {
    served_with(|server| server).await
}

/// As [`served`], set up further.
pub async fn served_with(set: impl FnOnce(Server) -> Server) -> Served {
    let logs = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let app = graph().checkpointer(logs.clone());
    let store = SharedStore::new(InMemoryStore::new());
    Served::start_on(store, logs, |server| set(server.graph("clerk", app, |_| Ok(())))).await
}
