//! The answer of a person to a question of a server.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The answer to an [`Elicitation`](super::Elicitation). As JSON: `{"action": "accept", "content": {…}}`,
/// `{"action": "decline"}` or `{"action": "cancel"}`.
///
/// ```
/// use hanok_mcp::ElicitationAnswer;
/// use serde_json::json;
///
/// let accepted: ElicitationAnswer = serde_json::from_str(r#"{"action": "accept", "content": {"seats": 2}}"#)?;
/// assert_eq!(accepted, ElicitationAnswer::accept(json!({"seats": 2})));
/// assert_eq!(serde_json::to_value(ElicitationAnswer::Decline)?, json!({"action": "decline"}));
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
