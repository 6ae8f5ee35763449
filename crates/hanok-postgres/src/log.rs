//! The logs of threads as SQL.
//!
//! `append` is one statement with all its checks, and finds out whether one that lost its answer is stored. `write` has what is
//! written beside the log, `read` what is read, `outbox` the items that appends hand out, and `follow` waits for a head to move.

pub(crate) mod append;
pub(crate) mod follow;
pub(crate) mod outbox;
pub(crate) mod read;
pub(crate) mod write;
