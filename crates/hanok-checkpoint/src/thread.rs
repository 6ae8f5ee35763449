//! The log of one thread, on any store.
//!
//! [`Log`](log::Log) opens a log at a position: it reads records, follows the branch back to a snapshot or the beginning, and folds.
//! Each other file adds what one does with a log: [pages](page) of its history, chosen by [`Select`](select::Select); its
//! [links] and whether it is [whole](verify); [retention], [erasure](erase); a [copy], an [export]; a [diff]; the [calls] that are made again;
//! the [labels] that a list of threads shows; the [items] that stand beside the log in a store.
//!
//! Invariants
//!
//! - A damaged record is [`CheckpointError::Corrupt`](crate::CheckpointError::Corrupt) with the last good position, and hides nothing
//!   before it; a damaged snapshot is passed over.
//! - A parent stands before its child: every walk ends.
//! - Whatever is appended here names the life and the head that was read.
//!
//! The room stands above all others of the crate.

pub(crate) mod calls;
pub(crate) mod copy;
pub(crate) mod diff;
pub(crate) mod erase;
pub(crate) mod export;
pub(crate) mod items;
pub(crate) mod labels;
pub(crate) mod links;
pub(crate) mod log;
pub(crate) mod page;
mod restart;
pub(crate) mod retention;
pub(crate) mod select;
mod stored;
mod text;
pub(crate) mod verify;
pub(crate) mod walk;
