//! The answer of a person to a question of a server.

use hanok_agent::Decision;
use hanok_state::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The answer to an [`Elicitation`](super::Elicitation), as the protocol has it: `{"action": "accept", "content": {…}}`,
/// `{"action": "decline"}` or `{"action": "cancel"}`. The question of a run takes it as the [`Decision`] that it is.
///
/// ```
/// use hanok_mcp::ElicitationAnswer;
/// use serde_json::json;
///
/// let accepted: ElicitationAnswer = serde_json::from_str(r#"{"action": "accept", "content": {"seats": 2}}"#)?;
/// assert_eq!(accepted, ElicitationAnswer::accept(json!({"seats": 2})));
/// assert_eq!(serde_json::to_value(ElicitationAnswer::Decline)?, json!({"action": "decline"}));
/// let decision = hanok_agent::Decision::from(accepted);
/// assert_eq!(serde_json::to_value(decision)?, json!({"decision": "edit", "arguments": {"seats": 2}}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
#[non_exhaustive]
pub enum ElicitationAnswer {
    /// The person agrees.
    Accept {
        /// The filled form; `None` where there was an address only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Value>,
    },
    /// The person refuses.
    Decline,
    /// The person passes over it: the server is told neither yes nor no.
    Cancel,
}

impl ElicitationAnswer {
    /// Agrees, with the filled form `content`.
    pub fn accept(content: Value) -> Self {
        Self::Accept { content: Some(content) }
    }

    /// The answer as a server reads it.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Accept { content: Some(content) } => {
                json!({"action": "accept", "content": content})
            }
            Self::Accept { content: None } => json!({"action": "accept"}),
            Self::Decline => json!({"action": "decline"}),
            Self::Cancel => json!({"action": "cancel"}),
        }
    }
}

/// A filled form is an edit, a visited address an approval; declined is rejected, and cancelled left out.
impl From<ElicitationAnswer> for Decision {
    fn from(answer: ElicitationAnswer) -> Self {
        match answer {
            ElicitationAnswer::Accept { content: Some(content) } => {
                Self::Edit { arguments: Json(content) }
            }
            ElicitationAnswer::Accept { content: None } => Self::Approve,
            ElicitationAnswer::Decline => Self::Reject { message: None },
            ElicitationAnswer::Cancel => Self::Skip { message: None },
        }
    }
}

/// What a server is told of a decision. The reasons in it are for us.
impl From<Decision> for ElicitationAnswer {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Edit { arguments } => Self::accept(arguments.0),
            Decision::Approve => Self::Accept { content: None },
            Decision::Reject { .. } => Self::Decline,
            // Any other is no answer to a server's question.
            _ => Self::Cancel,
        }
    }
}

/// The JSON Schema of an answer, where an accepted one has a `form` to fill.
pub(super) fn schema(form: Option<&Value>) -> Value {
    let action = |action: &str| {
        json!({
            "type": "object", "properties": {"action": {"const": action}}, "required": ["action"],
            "additionalProperties": false,
        })
    };
    let accept = match form {
        Some(form) => json!({
            "type": "object", "properties": {"action": {"const": "accept"}, "content": form},
            "required": ["action", "content"], "additionalProperties": false,
        }),
        None => action("accept"),
    };
    json!({"oneOf": [accept, action("decline"), action("cancel")]})
}
