//! The acts of the callers of a simulated thread.

use std::{fmt, sync::Arc};

use hanok_checkpoint::{Keep, LogEntry};
use hanok_core::{Changes, Position};

/// Chooses the position of a rewind, by the log.
pub(crate) type Choose = Arc<dyn Fn(&[LogEntry]) -> Option<Position> + Send + Sync>;

/// The changes of an update, or why they cannot be written.
pub(crate) type Update = Result<Changes, String>;

/// One thing that callers do with a thread. The next one follows when its turn is over.
#[derive(Clone)]
pub(crate) enum Act {
    /// They give these inputs, all at once.
    Inputs(Vec<Update>),
    Rewind(Choose),
    Edit(Update),
    /// They go on with a fork of this name.
    Fork(String),
    /// They delete the thread, and what they know of it.
    Delete,
    /// They go on with the thread of this name.
    Turn(String),
    /// They delete the thread of this name, if there is one, and go on with a copy of this one in its place.
    CopyOver(String),
    /// While the next turn goes on, at some moment.
    Beside(Beside),
}

/// Events that befall a thread while a turn goes on.
#[derive(Debug, Clone)]
pub(crate) enum Beside {
    /// Its old records are cut off.
    Prune(Keep),
    /// The content that the update removes is erased, between two runs.
    Erase(Update),
    /// The next build takes the place of the one that runs.
    Deploy,
}

impl Act {
    pub(crate) fn is_input(&self) -> bool {
        matches!(self, Self::Inputs(_))
    }
}

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inputs(updates) => f.debug_tuple("Inputs").field(updates).finish(),
            Self::Rewind(_) => f.write_str("Rewind"),
            Self::Edit(update) => f.debug_tuple("Edit").field(update).finish(),
            Self::Fork(name) => f.debug_tuple("Fork").field(name).finish(),
            Self::Delete => f.write_str("Delete"),
            Self::Turn(name) => f.debug_tuple("Turn").field(name).finish(),
            Self::CopyOver(name) => f.debug_tuple("CopyOver").field(name).finish(),
            Self::Beside(beside) => f.debug_tuple("Beside").field(beside).finish(),
        }
    }
}
