//! The question that a person is asked about a call.

use hanok_core::{BoxError, Stored};
use hanok_state::Arguments;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    decision::{Decision, DecisionKind},
    risk::Risk,
};

/// The question to a person whether a call is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "tool_approval")]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The [name](crate::Interceptor::name) of the interceptor that asks.
    pub rule: String,
    /// The agent.
    pub agent: String,
    /// Names the call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The arguments of the call, whole. Neutralise control characters before printing them.
    pub arguments: Arguments,
    /// The length of the arguments in bytes.
    pub bytes: usize,
    /// The BLAKE3 hash of the arguments, as hex. An answer may name it, and then counts for these arguments alone.
    pub digest: String,
    /// The text that a person reads besides the call.
    pub description: Option<String>,
    /// What the call may do to the world.
    #[serde(default = "unknown")]
    pub risk: Risk,
    /// The revision of the rule, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The decisions that are allowed.
    pub allowed: Vec<DecisionKind>,
}

fn unknown() -> Risk {
    Risk::Destructive
}

impl ApprovalRequest {
    /// The decision in `answer`.
    ///
    /// An answer that is not allowed, or that names the digest of other arguments, is refused.
    pub(crate) fn read(&self, answer: &Stored) -> Result<Decision, BoxError> {
        let mut answer: Value = answer.decode()?;
        let digest = answer.as_object_mut().and_then(|answer| answer.remove("digest"));
        if digest.is_some_and(|digest| digest != self.digest) {
            return Err("the answer is for other arguments".into());
        }
        let decision: Decision = serde_json::from_value(answer)?;
        match self.allowed.contains(&decision.kind()) {
            true => Ok(decision),
            false => Err(format!("the decision {:?} is not allowed", decision.kind()).into()),
        }
    }

    /// The JSON schema of the answers, for a tool whose arguments are of `schema`.
    pub(crate) fn answers(&self, schema: &Value) -> Value {
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
