//! One record of an audit.

use hanok_core::{Answerer, Audience, Gate, Risk};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{difference::Difference, pass::PassReason};

/// One thing that happened to a request to people.
///
/// Times are milliseconds since 1970. `hash` is the BLAKE3 hash of the record's own JSON without it, keyed where there is a key;
/// `previous` is the hash of the record before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The tenant.
    pub tenant: String,
    /// The thread.
    pub thread: String,
    /// The life of the thread, which no other thread of its name has.
    pub life: String,
    /// The position of the entry in the log.
    pub position: u64,
    /// When it was stored.
    pub at: u64,
    /// The request.
    pub request: String,
    /// The graph that asks: its segments, outermost first; none for the thread's own.
    pub path: Vec<String>,
    /// The node that asks.
    pub node: String,
    /// What happened.
    pub event: AuditEvent,
    /// The hash of the record before; empty for the first.
    pub previous: String,
    /// The hash of this one.
    pub hash: String,
}

/// What happened to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditEvent {
    /// People were asked.
    Requested {
        /// What they were shown, without what the form marks as secret.
        shown: Value,
        /// The digest of all that they were shown.
        digest: String,
        /// The rule that asks, if an approval does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// The people who may answer; everybody if nobody is named.
        #[serde(default, skip_serializing_if = "Audience::is_everybody")]
        audience: Audience,
        /// Until when an answer counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<u64>,
    },
    /// Nobody was asked: a rule of a person, or what their decisions have taught, let it pass.
    Passed {
        /// The gate.
        gate: Gate,
        /// The tool that was called; else the question that was not asked.
        about: String,
        /// The digest of what would have been shown.
        digest: String,
        /// What it may do to the world.
        risk: Risk,
        /// The rules that would have asked, each with the reason why it did not.
        reasons: Vec<PassReason>,
    },
    /// Somebody settled whether a call was made of which nobody knew that.
    Settled {
        /// The tool.
        tool: String,
        /// The digest of its arguments.
        digest: String,
        /// What became of it: `made`, `not_made` or `give_up`.
        resolution: String,
        /// The person, if they were named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Answerer>,
    },
    /// Somebody answered.
    Answered {
        /// The answer, without what the form marks as secret.
        answer: Value,
        /// The digest of the whole answer.
        digest: String,
        /// The kind of decision, if an approval was decided: `approve`, `edit`, `reject`, …
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<String>,
        /// What an edit changed of what was shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<Difference>,
        /// The person, if they were named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Answerer>,
        /// The milliseconds from the question to the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took: Option<u64>,
    },
    /// Somebody answered after the deadline. It decided nothing.
    Late {
        /// The answer, without what the form marks as secret.
        answer: Value,
        /// The digest of the whole answer.
        digest: String,
        /// The kind of decision that it would have been.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<String>,
        /// The person, if they were named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Answerer>,
        /// The milliseconds after the deadline.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        late_by: Option<u64>,
    },
    /// The answer was taken back, or did not fit what the node reads.
    Reopened {
        /// The reason.
        reason: String,
    },
}
