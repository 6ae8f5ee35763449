//! Approvals as the JSON of agent-chat-ui: `action_requests` with `review_configs`, and `decisions`.

use hanok_core::{RequestId, StoredError};
use hanok_graph::Pending;
use hanok_state::Json;
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::{decision::Decision, request::ApprovalRequest};

/// The approvals of a run that waits, as agent-chat-ui shows them. Other requests are left out.
///
/// An action has the members `name`, `args` and `description`, and ours beside: `id` (the request), `digest`, `agent`, `risk`. A
/// review has `action_name`, `allowed_decisions`, and the schema of the answers as `answers_schema`.
///
/// # Errors
///
/// [`StoredError`] when a request cannot be read.
pub fn to_agent_chat(requests: &[Pending]) -> Result<Value, StoredError> {
    let (mut actions, mut reviews) = (Vec::new(), Vec::new());
    for (pending, shown) in approvals(requests) {
        let shown = shown?;
        let args: Value = serde_json::from_str(shown.arguments.as_str()).unwrap_or_default();
        let schema = pending.schema.as_deref().map(serde_json::from_str::<Value>);
        actions.push(json!({
            "name": shown.tool,
            "args": args,
            "description": shown.description.clone().unwrap_or_default(),
            "id": pending.id.to_string(),
            "digest": shown.digest,
            "agent": shown.agent,
            "risk": shown.risk,
        }));
        reviews.push(json!({
            "action_name": shown.tool,
            "allowed_decisions": shown.allowed,
            "answers_schema": schema.and_then(Result::ok),
        }));
    }
    Ok(json!({ "action_requests": actions, "review_configs": reviews }))
}

fn approvals(
    requests: &[Pending],
) -> impl Iterator<Item = (&Pending, Result<ApprovalRequest, StoredError>)> {
    let is_one = |pending: &&Pending| {
        let kind = pending.payload::<Value>().ok().and_then(|it| it.get("kind").cloned());
        pending.doubt.is_none() && kind.is_some_and(|kind| kind == "tool_approval")
    };
    requests.iter().filter(is_one).map(|pending| (pending, pending.payload()))
}

/// A decision of agent-chat-ui that cannot be taken.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentChatError {
    /// It is no list of decisions.
    #[error("`decisions` is not as agent-chat-ui writes it")]
    Malformed(#[source] serde_json::Error),
    /// There are more or fewer decisions than approvals.
    #[error(
        "there are {decisions} decisions for {approvals} approvals: one for each, in their order"
    )]
    Count {
        /// The decisions.
        decisions: usize,
        /// The approvals that are open.
        approvals: usize,
    },
    /// An edit names another tool. A tool is never changed.
    #[error("decision {number} edits a call of `{tool}` into one of `{other}`: reject it instead")]
    OtherTool {
        /// The decision, counted from 1.
        number: usize,
        /// The tool that is called.
        tool: String,
        /// The tool that the edit names.
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
}

#[derive(Deserialize)]
struct EditedAction {
    name: String,
    args: Value,
}

/// The answers in what agent-chat-ui sends back: `{"decisions": […]}`, one for each of the approvals among `requests`, in their
/// order. Each answer names the digest of what was shown.
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
    let open: Vec<_> = approvals(requests).collect();
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
                if name != shown.tool =>
            {
                let (number, tool) = (nth + 1, shown.tool);
                return Err(AgentChatError::OtherTool { number, tool, other: name });
            }
            ChatDecision::Edit { edited_action } => {
                Decision::Edit { arguments: Json(edited_action.args) }
            }
            ChatDecision::Reject { message } => Decision::Reject { message },
            ChatDecision::Respond { message } => Decision::Respond { result: message },
        };
        let mut answer = serde_json::to_value(&decision).map_err(AgentChatError::Malformed)?;
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("digest".to_owned(), shown.digest.into());
        }
        answers.push((pending.id.clone(), answer));
    }
    Ok(answers)
}
