//! The usage of an agent's turn.

use std::collections::{BTreeMap, BTreeSet};

use hanok_core::Spent;
use hanok_model::ChatReply;
use hanok_state::ToolCall;
use serde::{Deserialize, Serialize};

/// The usage of an agent's turn so far. It is a part of the agent's state, so that it is right after a crash and in another
/// process too: a finished call is counted once.
///
/// The event at the end of a run ([`EventKind::Ended`](hanok_graph::EventKind)) holds the spending of all its agents and
/// nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnUsage {
    /// Calls, tokens and money, answers that broke off included. Time is not counted here.
    pub spent: Spent,
    /// Of the tokens that were read, those that the server had read before.
    pub cached_tokens: u64,
    /// Replies that came from a cache of ours and cost nothing.
    pub cached_replies: u64,
    /// True when some of the tokens were counted here, because a server did not say.
    pub estimated: bool,
    /// The calls that were made, by tool. One that was tried again is one.
    pub tools: BTreeMap<String, u64>,
    /// The digests of the calls that a person has rejected, each of the tool and its arguments.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub rejected: BTreeSet<String>,
    /// How often the model was told that a call was rejected.
    #[serde(skip_serializing_if = "is_none")]
    pub rejections: u64,
}

/// A turn with so many rejections has to answer.
const MOST_REJECTIONS: u64 = 3;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none(rejections: &u64) -> bool {
    *rejections == 0
}

/// The digest of a call: of its tool, and of its arguments whatever their spacing and order are.
fn digest(call: &ToolCall) -> String {
    let arguments = call.arguments.decode::<serde_json::Value>();
    let arguments = match arguments {
        Ok(arguments) => sorted(arguments).to_string(),
        Err(_) => call.arguments.as_str().to_owned(),
    };
    blake3::hash(format!("{}\0{arguments}", call.name).as_bytes()).to_hex().to_string()
}

/// The value with the members of all objects in order, whatever serde_json was built with.
fn sorted(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> =
                members.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        value => value,
    }
}

impl TurnUsage {
    /// Counts a reply of the model, which cost `spent` with all that was tried for it.
    pub(crate) fn reply(&mut self, reply: &ChatReply, spent: Spent) {
        self.spent = self.spent.plus(spent);
        self.cached_tokens = self.cached_tokens.saturating_add(reply.usage.cached_tokens);
        self.cached_replies += u64::from(reply.cached);
        self.estimated |= reply.usage.estimated;
    }

    /// Notes that the model was told of `call` that a person rejected it.
    pub(crate) fn reject(&mut self, call: &ToolCall) {
        self.rejected.insert(digest(call));
        self.rejections = self.rejections.saturating_add(1);
    }

    /// Checks whether a person has rejected a call of the same tool with equal arguments in this turn.
    pub(crate) fn was_rejected(&self, call: &ToolCall) -> bool {
        !self.rejected.is_empty() && self.rejected.contains(&digest(call))
    }

    /// Checks whether so many calls were rejected that the turn has to end with an answer.
    pub(crate) fn has_to_answer(&self) -> bool {
        self.rejections >= MOST_REJECTIONS
    }

    /// Counts a call of `tool`, if `spent` ([`ToolResult::spent`](crate::ToolResult::spent)) says that it was made.
    pub fn tool(&mut self, tool: &str, spent: Spent) {
        self.spent = self.spent.plus(spent);
        if spent.tool_calls > 0 {
            *self.tools.entry(tool.to_owned()).or_default() += 1;
        }
    }
}
