//! Errors of a store.

use hanok_core::{BoxError, Position, ThreadKey};
use thiserror::Error;

use crate::{claim::Epoch, codec::CodecError, life::Life};

/// An error of a store: chosen by what the caller does next, not by what a driver said.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Someone else appended first. Read the log again; nothing of this append was stored.
    #[error(
        "thread `{thread}` is at position {actual}, not at {expected}: someone else appended to it"
    )]
    Conflict {
        /// The thread.
        thread: ThreadKey,
        /// The position the append was made for.
        expected: Position,
        /// The position the thread is at.
        actual: Position,
    },
    /// The log has no such position. Nothing was stored.
    #[error("thread `{thread}` has no position {position}; its log ends at {end}")]
    NoSuchPosition {
        /// The thread.
        thread: ThreadKey,
        /// The position that was asked for.
        position: Position,
        /// The last position of the log.
        end: Position,
    },
    /// The thread that is to be copied, forked or rewound has no log. Nothing was stored.
    #[error("thread `{0}` does not exist")]
    NoSuchThread(ThreadKey),
    /// A copy, fork or import is to become a thread that has a log already. Nothing was stored.
    #[error("thread `{0}` exists already; choose another name, or delete it first")]
    ThreadExists(ThreadKey),
    /// The run has lost its claim, or a run holds one where none may. Nothing of this append was stored.
    #[error("thread `{thread}` is claimed under epoch {actual}, not {expected}")]
    Fenced {
        /// The thread.
        thread: ThreadKey,
        /// The epoch the append was made under.
        expected: Epoch,
        /// The epoch of the thread.
        actual: Epoch,
    },
    /// The thread was deleted and begun anew under the same name: what was to be stored, or read on, belongs to an earlier
    /// life of it. Read the log again; nothing was stored.
    #[error("thread `{thread}` was begun anew since: it is in life {actual}, not in {expected}")]
    OtherLife {
        /// The thread.
        thread: ThreadKey,
        /// The life that it was to be in.
        expected: Life,
        /// The life that it is in.
        actual: Life,
    },
    /// A stored record is damaged. Positions up to `last_good` read as they were written.
    #[error(
        "thread `{thread}`: the record at position {position} is damaged ({reason}); the last good position is {last_good}"
    )]
    Corrupt {
        /// The thread.
        thread: ThreadKey,
        /// The record's position.
        position: Position,
        /// The fault.
        reason: String,
        /// The last position before it that is whole.
        last_good: Position,
    },
    /// The position was cut off the log: what it amounted to is not known any more.
    #[error("thread `{thread}` was cut off up to position {floor}: position {position} is gone")]
    Pruned {
        /// The thread.
        thread: ThreadKey,
        /// The position that was asked for.
        position: Position,
        /// The first position that there is.
        floor: Position,
    },
    /// The stored bytes are whole, and the store's codec does not read them: another key is needed, or a feature. Nothing was
    /// touched.
    #[error("thread `{thread}`: what is stored at position {position} cannot be opened")]
    Locked {
        /// The thread.
        thread: ThreadKey,
        /// The position.
        position: Position,
        /// Why.
        #[source]
        source: CodecError,
    },
    /// The store was written by a newer version of hanok. It was not touched.
    #[error("the store has format {format}; this build reads up to {supported}: use a newer build")]
    TooNew {
        /// The format that was found.
        format: u32,
        /// The newest format that this build reads.
        supported: u32,
    },
    /// The file is no store, or is damaged as a whole.
    #[error("{what} is not a readable store")]
    NotAStore {
        /// Which file or database.
        what: String,
        /// The driver's error.
        #[source]
        source: BoxError,
    },
    /// The store did not answer, or is locked. Another attempt may help.
    #[error("the store is not available: {reason}")]
    Unavailable {
        /// The event.
        reason: &'static str,
        /// The driver's error.
        #[source]
        source: BoxError,
    },
    /// There is no room. What is stored stays readable; free some and try again.
    #[error("the store is full")]
    Full(#[source] BoxError),
    /// The store may not be written.
    #[error("the store may not be written")]
    Denied(#[source] BoxError),
    /// An entry could not be made into a record.
    #[error("an entry cannot be stored")]
    Encode(#[source] BoxError),
    /// The place where the store lies was removed or holds another store since this one was opened. Nothing is written to it any more: open
    /// it again.
    #[error("{what} was removed or replaced after it was opened: open the store again")]
    Replaced {
        /// The store, as it was named when it was opened.
        what: String,
    },
}

hanok_core::error_codes! {
    CheckpointError {
        "HNK-101" 409: Self::Conflict { .. },
        "HNK-102" 404: Self::NoSuchPosition { .. },
        "HNK-103" 404: Self::NoSuchThread(_),
        "HNK-104" 409: Self::ThreadExists(_),
        "HNK-105" 409: Self::Fenced { .. },
        // The life, and so the position or the event that the client names, is over.
        "HNK-106" 410: Self::OtherLife { .. },
        "HNK-107" 500: Self::Corrupt { .. },
        "HNK-108" 410: Self::Pruned { .. },
        "HNK-109" 500: Self::Locked { .. },
        "HNK-110" 500: Self::TooNew { .. },
        "HNK-111" 500: Self::NotAStore { .. },
        "HNK-112" 503: Self::Unavailable { .. },
        "HNK-113" 503: Self::Full(_),
        "HNK-114" 500: Self::Denied(_),
        "HNK-115" 500: Self::Encode(_),
        "HNK-116" 503: Self::Replaced { .. },
    }
}

impl CheckpointError {
    pub(crate) fn conflict(thread: &ThreadKey, expected: Position, actual: Position) -> Self {
        Self::Conflict { thread: thread.clone(), expected, actual }
    }

    /// The error of the first append of a thread that is to be new.
    pub(crate) fn of_new(self) -> Self {
        match self {
            Self::Conflict { thread, expected: Position::START, .. } => Self::ThreadExists(thread),
            error => error,
        }
    }

    pub(crate) fn fenced(thread: &ThreadKey, expected: Epoch, actual: Epoch) -> Self {
        Self::Fenced { thread: thread.clone(), expected, actual }
    }

    pub(crate) fn pruned(thread: &ThreadKey, position: Position, floor: Position) -> Self {
        Self::Pruned { thread: thread.clone(), position, floor }
    }

    pub(crate) fn corrupt(
        thread: &ThreadKey,
        position: Position,
        reason: String,
        last_good: Position,
    ) -> Self {
        Self::Corrupt { thread: thread.clone(), position, reason, last_good }
    }
}
