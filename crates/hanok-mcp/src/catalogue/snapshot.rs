//! All tools at one moment.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::definition::ToolDefinition;
use crate::{connection::Identity, id::ToolId};

/// The BLAKE3 hash of a tool, or of all tools of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolHash(String);

impl ToolHash {
    pub(super) fn new(hash: blake3::Hash) -> Self {
        Self(hash.to_hex().to_string())
    }

    /// The hash in hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One tool of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) definition: ToolDefinition,
    pub(crate) identity: Identity,
    pub(crate) hash: ToolHash,
}

impl Entry {
    pub(crate) fn new(definition: ToolDefinition, identity: Identity) -> Self {
        let hash = definition.hash(&identity);
        Self { definition, identity, hash }
    }
}

/// All tools of all servers at one moment, approved or not.
///
/// The order in which servers list their tools does not count, and the hash is the same in every process.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub(crate) tools: BTreeMap<ToolId, Entry>,
}

impl Snapshot {
    pub(crate) fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let named = entries.into_iter().map(|entry| (entry.definition.id().clone(), entry));
        Self { tools: named.collect() }
    }

    /// The hash over all tools.
    pub fn hash(&self) -> ToolHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"hanok-mcp snapshot 1\n");
        for entry in self.tools.values() {
            hasher.update(entry.hash.as_str().as_bytes());
        }
        ToolHash::new(hasher.finalize())
    }

    /// The tools, by name, each with its hash.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = (&ToolDefinition, &ToolHash)> {
        self.tools.values().map(|entry| (&entry.definition, &entry.hash))
    }
}
