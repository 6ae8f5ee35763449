//! The question that a person is asked about a call.

use hanok_core::Risk;
use hanok_state::Arguments;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decision::{Decision, DecisionKind};

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
    /// False where the next call is asked about whatever a person says of this one: "always" would be of no use.
    #[serde(default = "may_stand", skip_serializing_if = "Clone::clone")]
    pub may_stand: bool,
}

fn unknown() -> Risk {
    Risk::Destructive
}

/// The word of a question of an earlier build, which says nothing of it.
pub(crate) fn may_stand() -> bool {
    true
}

impl ApprovalRequest {
    /// The JSON schema of the answers, for a tool whose arguments are of `schema`.
    pub(crate) fn answers(&self, schema: &Value) -> Value {
        Decision::answers(&self.allowed, &self.digest, schema)
    }
}
