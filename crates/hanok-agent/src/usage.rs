//! The usage of an agent's turn.

use std::collections::BTreeMap;

use hanok_core::Spent;
use hanok_model::ChatReply;
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
}

impl TurnUsage {
    /// Counts a reply of the model, which cost `spent` with all that was tried for it.
    pub(crate) fn reply(&mut self, reply: &ChatReply, spent: Spent) {
        self.spent = self.spent.plus(spent);
        self.cached_tokens = self.cached_tokens.saturating_add(reply.usage.cached_tokens);
        self.cached_replies += u64::from(reply.cached);
        self.estimated |= reply.usage.estimated;
    }

    /// Counts a call of `tool`, if `spent` ([`ToolResult::spent`](crate::ToolResult::spent)) says that it was made.
    pub fn tool(&mut self, tool: &str, spent: Spent) {
        self.spent = self.spent.plus(spent);
        if spent.tool_calls > 0 {
            *self.tools.entry(tool.to_owned()).or_default() += 1;
        }
    }
}
