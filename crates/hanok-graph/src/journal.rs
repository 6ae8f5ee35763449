//! The way of a run into the log of its thread.
//!
//! A [`journal`] appends under the claim of its run, one append after the other. With `Durability::Sync` an append is awaited; with
//! `Async` a [`writer`] empties a bounded queue while the run goes on; with `Exit` entries wait as [`buffered`] and become one
//! commit. Some entries are barriers: they, and all before them, are safe before the run goes on. [`append`] seals entries as
//! records with the guard of the claim, [`underway`] brings an append to its end whoever waits for it, [`children`] notes where
//! the subgraphs of the run stand, [`snapshot_policy`] when a snapshot is worth writing.
//!
//! An append is *waiting* (buffered or queued), *under way*, *stored*, or *unsure* (its answer was not awaited): then the store is
//! asked where the log ends before anything else is appended.
//!
//! What must hold:
//!
//! - Appends of a run are stored in the order in which they are made, all of one or nothing of it.
//! - Every append names the position that it follows, the life and the epoch of the claim; a refusal ends the run's writing.
//! - What is reported of an entry is reported once it is safe, in the order of the log.
//! - A snapshot is one of what is stored, never of what still waits.
//!
//! [`run`](crate::run), [`node`](crate::node) and [`thread`](crate::thread) append here. This room knows entries, not nodes.

pub(crate) mod append;
pub(crate) mod buffered;
pub(crate) mod children;
pub(crate) mod durability;
pub(crate) mod journal;
pub(crate) mod snapshot_policy;
pub(crate) mod underway;
pub(crate) mod writer;
