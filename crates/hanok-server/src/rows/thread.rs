//! A thread, as lists and searches see it.

use hanok_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A thread that the server knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThreadRow {
    /// Its name.
    pub name: String,
    /// What clients note of it, and the graph that ran last.
    pub metadata: Map<String, Value>,
    /// What happens with it.
    pub status: ThreadStatus,
    /// When it was begun.
    pub created: Timestamp,
    /// When it was written last.
    pub updated: Timestamp,
}

/// What happens with a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThreadStatus {
    /// Nothing.
    Idle,
    /// A run is under way, or waits.
    Busy,
    /// People are asked.
    Interrupted,
    /// Its last run has failed.
    Error,
}

impl ThreadStatus {
    /// The name that clients see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Interrupted => "interrupted",
            Self::Error => "error",
        }
    }
}

impl ThreadRow {
    /// The graph that ran last, or that a client has chosen.
    pub(crate) fn graph(&self) -> Option<&str> {
        self.metadata.get("graph_id")?.as_str()
    }

    pub(crate) fn new(name: &str, now: Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            metadata: Map::new(),
            status: ThreadStatus::Idle,
            created: now,
            updated: now,
        }
    }
}
