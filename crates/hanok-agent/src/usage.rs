//! The usage of an agent's turn.

use std::collections::BTreeMap;

use hanok_core::Spent;
use hanok_model::ChatReply;
use hanok_state::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::{digest, json_text};

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
    /// How often the model was told that a person rejected a call, by the digest of the tool and the arguments.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rejected: BTreeMap<String, u64>,
}

/// A turn with so many rejections has to answer.
const MOST_REJECTIONS: u64 = 3;

/// The digest of a call: of its tool, and of its arguments whatever their spacing and order are.
fn call_digest(call: &ToolCall) -> String {
    let arguments = call.arguments.decode::<Value>().map(|arguments| json_text(&arguments));
    let arguments = arguments.unwrap_or_else(|_| call.arguments.as_str().to_owned());
    digest(&format!("{}\0{arguments}", call.name))
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
        let told = self.rejected.entry(call_digest(call)).or_default();
        *told = told.saturating_add(1);
    }

    /// How often the model was told in this turn that a person rejected a call.
    #[must_use]
    pub fn rejections(&self) -> u64 {
        self.rejected.values().fold(0, |sum, told| sum.saturating_add(*told))
    }

    /// Checks whether a person has rejected a call of the same tool with equal arguments in this turn.
    pub(crate) fn was_rejected(&self, call: &ToolCall) -> bool {
        !self.rejected.is_empty() && self.rejected.contains_key(&call_digest(call))
    }

    /// Checks whether so many calls were rejected that the turn has to end with an answer.
    pub(crate) fn has_to_answer(&self) -> bool {
        self.rejections() >= MOST_REJECTIONS
    }

    /// Counts a call of `tool`, if `spent` ([`ToolResult::spent`](crate::ToolResult::spent)) says that it was made.
    pub fn tool(&mut self, tool: &str, spent: Spent) {
        self.spent = self.spent.plus(spent);
        if spent.tool_calls > 0 {
            *self.tools.entry(tool.to_owned()).or_default() += 1;
        }
    }
}
