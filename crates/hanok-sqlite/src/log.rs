//! The logs of threads as SQL, each function within a transaction that its caller makes.
//!
//! `append` has all that writes, with the checks of the contract in the same transaction; `read` has all that reads, and
//! `outbox` the items that an append hands out. Bytes that are too large for one statement go through `large`.

pub(crate) mod append;
pub(crate) mod large;
pub(crate) mod outbox;
pub(crate) mod read;
