//! The file and the connection to it. Nothing here knows threads or items.
//!
//! `open` makes a `Database` of a path: it refuses what `format` does not recognise, makes the `tables` of a new store, and
//! falls back to `frozen` where the folder may not be written. A `Database` is one connection. Each read and each write is one
//! transaction; after a failure of the disk a connection writes no more, because what reached the disk is unknown,
//! and so it does when the file that it has open is not the one at its path any more (`identity`).

pub(crate) mod backup;
pub(crate) mod beside;
pub(crate) mod database;
pub(crate) mod format;
pub(crate) mod frozen;
pub(crate) mod identity;
pub(crate) mod lock;
pub(crate) mod open;
pub(crate) mod tables;
