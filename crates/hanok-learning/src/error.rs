//! What learning, reading and forgetting answer instead of `Ok`.

use hanok_checkpoint::{CheckpointError, StoreError};
use hanok_core::{InvalidName, StoredError};
use hanok_graph::StepError;
use thiserror::Error;

use super::evidence::Actor;

/// Why a kind of memory does not count a piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The kind learns from the user alone.
    #[error("it comes from {actor:?}, and only what the user said counts")]
    NotTheUser {
        /// Whoever it comes from.
        actor: Actor,
    },
    /// The kind learns from others: from those that `takes` names.
    #[error("it comes from {actor:?}, and only what comes from {takes:?} counts")]
    Actor {
        /// Whoever it comes from.
        actor: Actor,
        /// Those that it may come from.
        takes: &'static [Actor],
    },
    /// A text is blank or too long, or a list has too many items: shorten it before it is taught.
    #[error("the {what} has a length of {length}, and it takes {least} to {most}")]
    Length {
        /// Which text or list.
        what: &'static str,
        /// Its length: bytes of a text, items of a list.
        length: usize,
        /// The least that it takes.
        least: usize,
        /// The most that it takes.
        most: usize,
    },
    /// A rule of the kind's own.
    #[error("{why}")]
    Rule {
        /// The rule, in words.
        why: String,
    },
}

/// An error of long-term memory: chosen by what the caller does next.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LearningError {
    /// No kind of this name is known. Add it with [`Memories::kind`](crate::Memories::kind). A [`Learner`](crate::Learner) sets such
    /// evidence aside, and learns it when the kind is known.
    #[error("no kind of memory is named `{kind}`")]
    UnknownKind {
        /// The name.
        kind: String,
    },
    /// The kind does not count the evidence.
    #[error("the evidence `{id}` is refused")]
    Refused {
        /// The evidence.
        id: String,
        /// The reason.
        #[source]
        why: Refusal,
    },
    /// A user, a key or an id is too long for a name of the store.
    #[error("the {what} cannot be a name of the store")]
    Name {
        /// Which one.
        what: &'static str,
        /// The reason.
        #[source]
        why: InvalidName,
    },
    /// A value could not be encoded, or what was read has another shape than its kind.
    #[error("evidence or a record cannot be encoded or read")]
    Value(#[from] StoredError),
    /// A stored record has another shape than its kind's: an earlier build wrote it.
    /// [`UserMemories::rebuild`](crate::UserMemories::rebuild) folds it anew, and so does a [`Learner`](crate::Learner) that has
    /// evidence for it.
    #[error("a stored record of `{kind}` has another shape")]
    Record {
        /// The kind.
        kind: &'static str,
        /// What is wrong with it.
        #[source]
        why: StoredError,
    },
    /// A kind's own code panicked on the evidence, or on a record with it. Nothing was stored.
    #[error("the kind `{kind}` panicked: {what}")]
    Panicked {
        /// The kind.
        kind: &'static str,
        /// What the panic said.
        what: String,
    },
    /// A line of an export is not what [`UserMemories::export`](crate::UserMemories::export) writes. Nothing of it was stored.
    #[error("line {line} is no evidence")]
    Line {
        /// The number of the line, counted from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        why: serde_json::Error,
    },
    /// Evidence could not be written as a line.
    #[error("evidence cannot be written as JSON")]
    Export(#[source] serde_json::Error),
    /// The step in which preferences are proposed ended the run.
    #[error("the step that proposes preferences failed")]
    Step(#[from] StepError),
    /// The store of records did not do it. Try again.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store of threads did not do it. Try again.
    #[error(transparent)]
    Outbox(#[from] CheckpointError),
}

impl LearningError {
    /// True if the evidence itself is at fault: another attempt ends alike.
    pub fn is_of_the_evidence(&self) -> bool {
        match self {
            Self::Refused { .. }
            | Self::Name { .. }
            | Self::Value(_)
            | Self::Panicked { .. }
            | Self::Line { .. } => true,
            Self::Outbox(error) => matches!(error, CheckpointError::Corrupt { .. }),
            Self::UnknownKind { .. }
            | Self::Record { .. }
            | Self::Export(_)
            | Self::Step(_)
            | Self::Store(_) => false,
        }
    }
}
