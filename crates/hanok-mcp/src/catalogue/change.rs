//! What is different between the tools that there are and those that were approved.

use std::{collections::BTreeMap, fmt};

use super::{
    difference::difference,
    lock::Lock,
    snapshot::{Entry, Snapshot, ToolHash},
};
use crate::id::ToolId;

/// The kind of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The tool is new.
    Added,
    /// The tool, or what its server is, has changed.
    Changed,
    /// The tool was approved under another name of the same server.
    Renamed {
        /// The tool as it was approved.
        from: ToolId,
    },
    /// The tool was approved as one of another server.
    Moved {
        /// The tool as it was approved.
        from: ToolId,
    },
    /// The tool is no longer there.
    Removed,
}

/// One difference, which a person looks at before the tool is offered.
///
/// It holds what it shows: approving it approves that and nothing that came later.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub(super) kind: ChangeKind,
    pub(super) tool: ToolId,
    pub(super) was: Option<Entry>,
    pub(super) is: Option<Entry>,
}

impl Change {
    /// The kind of the difference.
    pub fn kind(&self) -> &ChangeKind {
        &self.kind
    }

    /// The tool.
    pub fn tool(&self) -> &ToolId {
        &self.tool
    }

    /// What the tool says that it does now, `None` for one that is gone.
    pub fn description(&self) -> Option<&str> {
        self.is.as_ref().map(|entry| entry.definition.description())
    }

    /// The hash that is approved with this change, `None` for a tool that is gone.
    pub fn hash(&self) -> Option<&ToolHash> {
        self.is.as_ref().map(|entry| &entry.hash)
    }

    /// The difference as text, a line each with `-`, `+` or a blank before it: what the server is, name, description, schemas and
    /// annotations, all of it, with hidden characters as escapes.
    pub fn difference(&self) -> String {
        let lines = |entry: &Option<Entry>| {
            let entry = entry.as_ref();
            let all = |entry: &Entry| [entry.identity.lines(), entry.definition.lines()].concat();
            entry.map(all).unwrap_or_default()
        };
        difference(&lines(&self.was), &lines(&self.is))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ChangeKind::Added => write!(f, "`{}` is new", self.tool),
            ChangeKind::Changed => write!(f, "`{}` has changed", self.tool),
            ChangeKind::Renamed { from } => write!(f, "`{}` was `{from}` before", self.tool),
            ChangeKind::Moved { from } => {
                write!(f, "`{}` was `{from}` of another server", self.tool)
            }
            ChangeKind::Removed => write!(f, "`{}` is gone", self.tool),
        }
    }
}

/// The differences between `lock` and `now`, by tool. A tool is gone when it is not there and `should_be` says that it should be.
pub(crate) fn changes(
    lock: &Lock,
    now: &Snapshot,
    should_be: impl Fn(&ToolId) -> bool,
) -> Vec<Change> {
    let mut gone = BTreeMap::new();
    for (id, was) in lock.entries() {
        if !now.tools.contains_key(&id) && should_be(&id) {
            gone.insert(id, was);
        }
    }
    let mut changes = Vec::new();
    for (id, is) in &now.tools {
        let was = lock.entry(id);
        if was.as_ref().is_some_and(|was| was.hash == is.hash) {
            continue;
        }
        let change = |kind, was| Change { kind, tool: id.clone(), was, is: Some(is.clone()) };
        if was.is_some() {
            changes.push(change(ChangeKind::Changed, was));
            continue;
        }
        let content = is.definition.content_hash();
        let same = |was: &&ToolId| {
            gone.get(*was).is_some_and(|was: &Entry| was.definition.content_hash() == content)
        };
        let near =
            gone.keys().filter(same).max_by_key(|from| from.server() == id.server()).cloned();
        let Some(from) = near else {
            changes.push(change(ChangeKind::Added, None));
            continue;
        };
        let was = gone.get(&from).cloned();
        let kind = match from.server() == id.server() {
            true => ChangeKind::Renamed { from },
            false => ChangeKind::Moved { from },
        };
        changes.push(change(kind, was));
    }
    let removed = gone.into_iter();
    changes.extend(removed.map(|(tool, was)| Change {
        kind: ChangeKind::Removed,
        tool,
        was: Some(was),
        is: None,
    }));
    changes.sort_by(|a, b| a.tool.cmp(&b.tool));
    changes
}
