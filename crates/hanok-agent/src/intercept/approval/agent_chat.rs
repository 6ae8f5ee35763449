//! Approvals and gates as the JSON of agent-chat-ui: `action_requests` with `review_configs`, and `decisions`.

use hanok_core::{RequestId, StoredError};
use hanok_graph::Pending;
use hanok_state::Json;
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::{
    decision::{Decision, DecisionKind},
    request::ApprovalRequest,
};
use crate::gate::GateRequest;

/// The approvals and the questions of gates of a run that waits, as agent-chat-ui shows them. Other requests are left out.
///
/// An action has the members `name`, `args` and `description`, and ours beside: `id` (the request), `digest`, `risk`, `agent` for a
/// call, `gate` and `missing` for a gate, whose name is the action's. Arguments that are no JSON are their text. A review has
/// `action_name`, `allowed_decisions`, and the schema of the answers as `answers_schema`.
///
/// # Errors
///
/// [`StoredError`] when a request cannot be read.
pub fn to_agent_chat(requests: &[Pending]) -> Result<Value, StoredError> {
    let (mut actions, mut reviews) = (Vec::new(), Vec::new());
    for (pending, shown) in decided(requests) {
        let shown = shown?;
        let schema = pending.schema.as_deref().map(serde_json::from_str::<Value>);
        let (name, allowed) = (shown.name(), shown.allowed());
        reviews.push(json!({
            "action_name": name,
            "allowed_decisions": allowed,
            "answers_schema": schema.and_then(Result::ok),
        }));
        let id = pending.id.to_string();
        actions.push(match shown {
            Shown::Call(shown) => json!({
                "name": name,
                "args": serde_json::from_str(shown.arguments.as_str())
                    .unwrap_or_else(|_| Value::from(shown.arguments.as_str())),
                "description": shown.description.unwrap_or_default(),
                "id": id,
                "digest": shown.digest,
                "agent": shown.agent,
                "risk": shown.risk,
            }),
            Shown::Gate(shown) => json!({
                "name": name,
                "args": shown.shown.0,
                "description": shown.question,
                "id": id,
                "digest": shown.digest,
                "gate": shown.gate,
                "missing": shown.missing,
                "risk": shown.risk,
            }),
        });
    }
    Ok(json!({ "action_requests": actions, "review_configs": reviews }))
}

/// What a request shows that is answered by a decision.
#[derive(Debug)]
enum Shown {
    Call(ApprovalRequest),
    Gate(GateRequest),
}

impl Shown {
    fn name(&self) -> String {
        match self {
            Self::Call(shown) => shown.tool.clone(),
            Self::Gate(shown) => shown.gate.to_string(),
        }
    }

    fn digest(&self) -> &str {
        match self {
            Self::Call(shown) => &shown.digest,
            Self::Gate(shown) => &shown.digest,
        }
    }

    fn allowed(&self) -> Vec<DecisionKind> {
        match self {
            Self::Call(shown) => shown.allowed.clone(),
            Self::Gate(shown) => shown.allowed.clone(),
        }
    }
}

/// The requests that are answered by a decision, with what they show.
fn decided(requests: &[Pending]) -> impl Iterator<Item = (&Pending, Result<Shown, StoredError>)> {
    let shown = |pending: &Pending| {
        let payload = pending.payload::<Value>().ok().filter(|_| pending.doubt.is_none())?;
        match payload.get("kind")?.as_str()? {
            "tool_approval" => Some(pending.payload().map(Shown::Call)),
            "gate" => Some(pending.payload().map(Shown::Gate)),
            _ => None,
        }
    };
    requests.iter().filter_map(move |pending| Some((pending, shown(pending)?)))
}

/// A decision of agent-chat-ui that cannot be taken.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentChatError {
    /// It is no list of decisions.
    #[error("`decisions` is not as agent-chat-ui writes it")]
    Malformed(#[source] serde_json::Error),
    /// There are more or fewer decisions than actions.
    #[error(
        "there are {decisions} decisions for {approvals} actions: one for each, in their order"
    )]
    Count {
        /// The decisions.
        decisions: usize,
        /// The actions that are open.
        approvals: usize,
    },
    /// An edit names another tool or gate. Neither is ever changed.
    #[error(
        "decision {number} edits an action of `{tool}` into one of `{other}`: reject it instead"
    )]
    OtherTool {
        /// The decision, counted from 1.
        number: usize,
        /// The tool or gate that asks.
        tool: String,
        /// The name that the edit has.
        other: String,
    },
    /// A request cannot be read, or a decision cannot be stored.
    #[error("a request or a decision cannot be read or stored")]
    Stored(#[source] StoredError),
}

#[derive(Deserialize)]
struct Decisions {
    decisions: Vec<ChatDecision>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ChatDecision {
    Approve {},
    Edit { edited_action: EditedAction },
    Reject { message: Option<String> },
    Respond { message: String },
    Skip { message: Option<String> },
    Revise { message: String },
    Reuse { id: String },
}

#[derive(Deserialize)]
struct EditedAction {
    name: String,
    args: Value,
}

/// The answers in what agent-chat-ui sends back: `{"decisions": […]}`, one for each of the actions that [`to_agent_chat`] makes
/// of `requests`, in their order. Each answer names the digest of what was shown. Beside agent-chat-ui's own types of decisions there are
/// `skip` (maybe with a `message`), `revise` (with one) and `reuse` (with an `id`).
///
/// # Errors
///
/// [`AgentChatError`]. All are taken, or none.
pub fn from_agent_chat(
    requests: &[Pending],
    decisions: &Value,
) -> Result<Vec<(RequestId, Value)>, AgentChatError> {
    let Decisions { decisions } =
        Decisions::deserialize(decisions).map_err(AgentChatError::Malformed)?;
    let open: Vec<_> = decided(requests).collect();
    if open.len() != decisions.len() {
        let (decisions, approvals) = (decisions.len(), open.len());
        return Err(AgentChatError::Count { decisions, approvals });
    }
    let mut answers = Vec::new();
    for (nth, ((pending, shown), decision)) in open.into_iter().zip(decisions).enumerate() {
        let shown = shown.map_err(AgentChatError::Stored)?;
        let decision = match decision {
            ChatDecision::Approve {} => Decision::Approve,
            ChatDecision::Edit { edited_action: EditedAction { name, .. } }
                if name != shown.name() =>
            {
                let (number, tool) = (nth + 1, shown.name());
                return Err(AgentChatError::OtherTool { number, tool, other: name });
            }
            ChatDecision::Edit { edited_action } => {
                Decision::Edit { arguments: Json(edited_action.args) }
            }
            ChatDecision::Reject { message } => Decision::Reject { message },
            ChatDecision::Respond { message } => Decision::Respond { result: message },
            ChatDecision::Skip { message } => Decision::Skip { message },
            ChatDecision::Revise { message } => Decision::Revise { message },
            ChatDecision::Reuse { id } => Decision::Reuse { id },
        };
        let mut answer = serde_json::to_value(&decision).map_err(AgentChatError::Malformed)?;
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("digest".to_owned(), shown.digest().into());
        }
        answers.push((pending.id.clone(), answer));
    }
    Ok(answers)
}
