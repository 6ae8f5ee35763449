//! The stored form of entries, snapshots and items.
//!
//! A [`Record`](record::Record) is an entry in its [envelope]: version, flags, checksum, parent, and where records are
//! chained the digest that its [`Link`](crate::Link) is made of. [Writing](mod@write) one moves a [`Tip`](crate::Tip), the end of a log.
//! Whatever else is stored (a snapshot, a base, an item for others) is [sealed](seal): flags, checksum, payload. A [base] stands
//! for records that were cut off.
//!
//! Invariants
//!
//! - A [checksum](mod@checksum) covers the tenant, the thread, its life and the position: what was moved elsewhere is noticed.
//! - Only what is whole may say that a newer build wrote it.
//! - An erased record keeps its envelope, so the chain holds.
//!
//! The room imports `entry` and the codec; it knows no store. Only [`thread`](crate::thread) reads bases and seals snapshots.

pub(crate) mod base;
pub(crate) mod checksum;
pub(crate) mod envelope;
pub(crate) mod record;
pub(crate) mod seal;
pub(crate) mod write;
