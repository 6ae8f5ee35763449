//! Rows: what the server knows of runs and threads, as items of a [`Store`](hanok_checkpoint::Store).
//!
//! Four kinds of items. What has expired is swept in bulk; nothing else is removed but what a client deletes, with a thread its runs:
//!
//! - a *run*: what was asked for, its status, and how it ended. Everything but the status and the graph is sealed by the codec of the
//!   log, bound to its key;
//! - a *queue*: of one thread, the run that is under way and those that wait, in order. It is the lock of the thread: whatever changes
//!   its runs expects its version. One in which nothing is left expires at once;
//! - a *thread*: its name, metadata and status, for lists and searches;
//! - an *idempotency key*: which run a request with it has begun. It lives for a day.
//!
//! What must hold:
//!
//! - A run, its place in the queue and its key are written in one batch: a run that was accepted is in its queue until it has ended.
//! - A run ends once: an end is written only over a run that has none.
//! - A run is under way only if it was the first of its queue, and none was under way.
//!
//! The dispatcher and the ways in call this room; it calls nothing but the store.

pub(crate) mod accept;
pub(crate) mod book;
pub(crate) mod finish;
pub(crate) mod keys;
pub(crate) mod queue;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod take;
pub(crate) mod thread;
pub(crate) mod threads;
