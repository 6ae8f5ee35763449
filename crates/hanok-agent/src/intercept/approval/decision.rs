//! What a person decides of a call.

use hanok_core::{BoxError, Stored};
use hanok_state::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ApprovalRequest;

/// What a person decides of a call. As JSON: `{"decision": "approve"}`, `{"decision": "edit", "arguments": {…}}`,
/// `{"decision": "reject", "message": "…"}` or `{"decision": "respond", "result": "…"}`, each also with the `digest` of the
/// request.
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
        /// Why not, in words for the model.
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
    pub(super) const ALL: [Self; 4] = [Self::Approve, Self::Edit, Self::Reject, Self::Respond];

    /// The form of such an answer to a request of `digest`, for a tool of `schema`.
    fn form(self, digest: &str, schema: &Value) -> Value {
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

    /// Reads an answer to `asked`: one that is not allowed, or is for other arguments, is none.
    pub(super) fn read(answer: &Stored, asked: &ApprovalRequest) -> Result<Self, BoxError> {
        let mut answer: Value = answer.decode()?;
        let digest = answer.as_object_mut().and_then(|answer| answer.remove("digest"));
        if digest.is_some_and(|digest| digest != asked.digest) {
            return Err("the answer is for other arguments".into());
        }
        let decision: Self = serde_json::from_value(answer)?;
        match asked.allowed.contains(&decision.kind()) {
            true => Ok(decision),
            false => Err(format!("the decision {:?} is not allowed", decision.kind()).into()),
        }
    }
}

impl ApprovalRequest {
    /// The JSON schema of the answers, for a tool whose arguments are of `schema`.
    pub(super) fn answers(&self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        // What the schema refers to stands at its root, and so in this one's.
        let defs = schema.as_object_mut().and_then(|schema| schema.remove("$defs"));
        let forms = self.allowed.iter().map(|kind| kind.form(&self.digest, &schema));
        let mut answers = json!({ "oneOf": forms.collect::<Vec<_>>() });
        if let (Some(defs), Some(answers)) = (defs, answers.as_object_mut()) {
            answers.insert("$defs".to_owned(), defs);
        }
        answers
    }
}
