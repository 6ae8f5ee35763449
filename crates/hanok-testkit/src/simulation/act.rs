//! What the callers of a simulated thread do.

use std::{fmt, sync::Arc};

use hanok_checkpoint::LogEntry;
use hanok_core::Position;
use hanok_state::State;

/// Where a rewind leads, by the log.
pub(crate) type Choose = Arc<dyn Fn(&[LogEntry]) -> Option<Position> + Send + Sync>;

/// One thing that callers do with a thread. The next one follows when its turn is over.
#[derive(Clone)]
pub(crate) enum Act<S: State> {
    /// They give these inputs, all at once.
    Inputs(Vec<S::Update>),
    Rewind(Choose),
    Edit(S::Update),
    /// They go on with a fork of this name.
    Fork(String),
}

impl<S: State> Act<S> {
    pub(crate) fn is_input(&self) -> bool {
        matches!(self, Self::Inputs(_))
    }
}

impl<S: State> fmt::Debug for Act<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inputs(updates) => f.debug_tuple("Inputs").field(updates).finish(),
            Self::Rewind(_) => f.write_str("Rewind"),
            Self::Edit(update) => f.debug_tuple("Edit").field(update).finish(),
            Self::Fork(name) => f.debug_tuple("Fork").field(name).finish(),
        }
    }
}
