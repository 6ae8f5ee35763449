//! Long-term memory of a user: records that are folds of evidence.
//!
//! A node *teaches*: it puts a piece of [`evidence`] into the outbox of its thread, so it is committed with the super-step or not
//! at all. After the answer a [`learner`] takes it out and folds it into a record of its [`kind`], in one batch of the store.
//!
//! Invariants:
//!
//! - A record is the fold of the evidence that is stored beside it, in whatever order that came: whoever folds anew arrives at the
//!   same bytes. So forgetting is removing evidence and folding the rest.
//! - Evidence and record are written in one batch. Evidence is expected to be absent, the record to be of the version that was
//!   read: what is delivered twice, or to two learners, counts once.
//! - The tenant and the thread of evidence are those of the thread that it was committed in, whatever it says itself.
//! - Evidence stands below its record, an item for each id says which record that is, and an item for each turn and each server
//!   says which records it taught something: all of it is written in the batch of the record. So folding one record again reads its
//!   evidence alone, and forgetting a thread or a server reads what it taught.
//! - Every read and search is within one tenant and one user; only forgetting a thread or a server reaches all users of its tenant.

mod count;
pub(crate) mod days;
pub(crate) mod episode;
pub(crate) mod error;
pub(crate) mod evidence;
pub(crate) mod forget;
pub(crate) mod kind;
pub(crate) mod learner;
pub(crate) mod long_term;
pub(crate) mod memories;
mod names;
pub(crate) mod preference;
pub(crate) mod proposer;
pub(crate) mod recalled;
mod registry;
pub(crate) mod stated_preferences;
pub(crate) mod teach;
mod transfer;
pub(crate) mod user;
