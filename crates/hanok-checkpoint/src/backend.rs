//! The seam of stores, and stores.
//!
//! [`Checkpointer`](checkpointer::Checkpointer) is what a store does: an [`Append`](append::Append) by compare-and-swap on one
//! [`Head`](head::Head), under a [`Guard`](append::Guard); reads, cuts, lists of [threads], items for others.
//! [`SharedCheckpointer`](shared::SharedCheckpointer) is the one that is chosen at run time, [memory] is one that keeps
//! nothing. A [`Consumer`](consumer::Consumer) reads the items, [`Leases`](lease::Leases) watch the claims of other processes.
//!
//! Invariants
//!
//! - A store never looks into a record and never folds.
//! - What a store has to refuse it asks here, within its transaction: `Append::admit`, `Guard::admit`, `Trim::admit`, `Head::admit`,
//!   `Life::admit`. So all stores refuse alike.
//!
//! The room imports `format` and `entry` for the types that pass through; `thread` is above it.

pub(crate) mod append;
pub(crate) mod checkpointer;
pub(crate) mod consumer;
pub(crate) mod head;
pub(crate) mod lease;
pub(crate) mod memory;
pub(crate) mod shared;
pub(crate) mod threads;
