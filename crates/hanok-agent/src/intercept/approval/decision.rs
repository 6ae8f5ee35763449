//! The decision of a person about a call.

use hanok_core::{BoxError, Stored};
use hanok_state::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::placed::{dialect, placed};
use crate::{
    audit::{hidden::marks_secrets, shown::SHOWN},
    schema::closed,
};

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
        #[serde(with = "hanok_state::PlainJson")]
        arguments: Json,
    },
    /// It is not made.
    Reject {
        /// The reason, in words for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// It is not made, and this is its result. At the gate of a query: what was meant.
    Respond {
        /// The result.
        result: String,
    },
    /// It is left out, and the rest goes on.
    Skip {
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// It is made anew, after these words.
    Revise {
        /// What has to be other.
        message: String,
    },
    /// An earlier answer is taken.
    Reuse {
        /// Names that answer, as it was shown.
        id: String,
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
    /// It is left out.
    Skip,
    /// It is made anew, after a person's words.
    Revise,
    /// An earlier answer is taken.
    Reuse,
}

impl DecisionKind {
    /// Those about a call of a tool.
    pub(crate) const ALL: [Self; 4] = [Self::Approve, Self::Edit, Self::Reject, Self::Respond];

    /// The form of such an answer for a tool of `schema`. Which digest it has to name, the root says for all forms.
    pub(super) fn form(self, schema: &Value) -> Value {
        let text = || json!({"type": "string"});
        let (name, more) = match self {
            Self::Approve => ("approve", None),
            Self::Edit => ("edit", Some(("arguments", closed(schema), true))),
            Self::Reject => ("reject", Some(("message", text(), false))),
            Self::Respond => ("respond", Some(("result", text(), true))),
            Self::Skip => ("skip", Some(("message", text(), false))),
            Self::Revise => ("revise", Some(("message", text(), true))),
            Self::Reuse => ("reuse", Some(("id", text(), true))),
        };
        let mut properties = json!({ "decision": { "const": name }, "digest": {} });
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
            Self::Skip { .. } => DecisionKind::Skip,
            Self::Revise { .. } => DecisionKind::Revise,
            Self::Reuse { .. } => DecisionKind::Reuse,
        }
    }

    /// The decision in `answer`, to what has this `digest`.
    ///
    /// An answer that is not allowed, or that names another digest, is refused.
    pub(crate) fn read(
        answer: &Stored,
        digest: &str,
        allowed: &[DecisionKind],
    ) -> Result<Self, BoxError> {
        let mut answer: Value = answer.decode()?;
        let of = answer.as_object_mut().and_then(|answer| answer.remove("digest"));
        if of.is_some_and(|of| of != digest) {
            return Err("the answer is for something else than what is shown".into());
        }
        let decision: Self = serde_json::from_value(answer)?;
        match allowed.contains(&decision.kind()) {
            true => Ok(decision),
            false => Err(format!("the decision {:?} is not allowed", decision.kind()).into()),
        }
    }

    /// The JSON schema of the decisions `allowed` about what has this `digest`, where an edit has to fit `schema`.
    pub(crate) fn answers(allowed: &[DecisionKind], digest: &str, schema: &Value) -> Value {
        let edit = allowed.iter().position(|kind| *kind == DecisionKind::Edit);
        let place = match edit {
            Some(nth) => format!("/oneOf/{nth}/properties/arguments"),
            None => format!("/$defs/{SHOWN}"),
        };
        let dialect = dialect(schema);
        let mut schema = placed(schema, &place);
        // These stand at the root, as the schema has them.
        let defs = schema.as_object_mut().and_then(|schema| schema.remove("$defs"));
        let forms: Vec<_> = allowed.iter().map(|kind| kind.form(&schema)).collect();
        let mut defs = match defs {
            Some(Value::Object(defs)) => defs,
            _ => Map::new(),
        };
        if edit.is_none() && (marks_secrets(&schema) || defs.values().any(marks_secrets)) {
            defs.insert(SHOWN.to_owned(), schema);
        }
        let mut answers = Map::new();
        answers.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect.clone())));
        answers.insert("properties".to_owned(), json!({ "digest": { "const": digest } }));
        answers.insert("oneOf".to_owned(), forms.into());
        if !defs.is_empty() {
            answers.insert("$defs".to_owned(), defs.into());
        }
        answers.into()
    }
}
