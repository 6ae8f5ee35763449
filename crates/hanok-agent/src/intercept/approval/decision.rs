//! The decision of a person about a call.

use hanok_state::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The decision of a person about a call. As JSON: `{"decision": "approve"}`, `{"decision": "edit", "arguments": {…}}`,
/// `{"decision": "reject", "message": "…"}` or `{"decision": "respond", "result": "…"}`, each also with the `digest` of the
/// request.
///
/// ```
/// use hanok_agent::{Decision, DecisionKind};
///
/// let decision: Decision = serde_json::from_str(r#"{"decision": "reject", "message": "too much"}"#)?;
/// assert_eq!(decision.kind(), DecisionKind::Reject);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// The call is made as it is.
    Approve,
    /// It is made with these arguments.
    Edit {
        /// All the arguments, which have to fit the tool.
        arguments: Json,
    },
    /// It is not made.
    Reject {
        /// The reason, in words for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// It is not made, and the model reads this as its result.
    Respond {
        /// The result.
        result: String,
    },
}

/// A kind of decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionKind {
    /// The call is made as it is.
    Approve,
    /// It is made with other arguments.
    Edit,
    /// It is not made.
    Reject,
    /// A person gives its result.
    Respond,
}

impl DecisionKind {
    pub(crate) const ALL: [Self; 4] = [Self::Approve, Self::Edit, Self::Reject, Self::Respond];

    /// The form of such an answer to a request of `digest`, for a tool of `schema`.
    pub(super) fn form(self, digest: &str, schema: &Value) -> Value {
        let (name, more) = match self {
            Self::Approve => ("approve", None),
            Self::Edit => ("edit", Some(("arguments", schema.clone(), true))),
            Self::Reject => ("reject", Some(("message", json!({"type": "string"}), false))),
            Self::Respond => ("respond", Some(("result", json!({"type": "string"}), true))),
        };
        let mut properties =
            json!({ "decision": { "const": name }, "digest": { "const": digest } });
        let mut required = vec!["decision"];
        if let Some((key, schema, must)) = more {
            if let Some(properties) = properties.as_object_mut() {
                properties.insert(key.to_owned(), schema);
            }
            required.extend(must.then_some(key));
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

impl Decision {
    /// Its kind.
    pub fn kind(&self) -> DecisionKind {
        match self {
            Self::Approve => DecisionKind::Approve,
            Self::Edit { .. } => DecisionKind::Edit,
            Self::Reject { .. } => DecisionKind::Reject,
            Self::Respond { .. } => DecisionKind::Respond,
        }
    }
}
