//! One record of an audit.

use std::collections::BTreeSet;

use hanok_core::{Answerer, Audience};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::difference::Difference;

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
        #[serde(default, skip_serializing_if = "AuditAudience::is_everybody")]
        audience: AuditAudience,
        /// Until when an answer counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<u64>,
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
        by: Option<AuditPerson>,
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
        by: Option<AuditPerson>,
        /// The milliseconds from the question to the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took: Option<u64>,
    },
    /// The answer was taken back, or did not fit what the node reads.
    Reopened {
        /// The reason.
        reason: String,
    },
}

/// A person who answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditPerson {
    /// The name.
    pub name: String,
    /// The roles.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub roles: BTreeSet<String>,
    /// The channel through which the answer came.
    pub channel: String,
}

/// The people who may answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditAudience {
    /// Their names.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub names: BTreeSet<String>,
    /// Their roles.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub roles: BTreeSet<String>,
}

impl AuditAudience {
    fn is_everybody(&self) -> bool {
        self.names.is_empty() && self.roles.is_empty()
    }
}

impl From<Option<Audience>> for AuditAudience {
    fn from(audience: Option<Audience>) -> Self {
        let Audience { names, roles } = audience.unwrap_or_default();
        Self { names, roles }
    }
}

impl From<Answerer> for AuditPerson {
    fn from(Answerer { name, roles, channel }: Answerer) -> Self {
        Self { name, roles, channel }
    }
}
