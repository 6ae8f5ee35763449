//! The items of the `Store` as SQL, each function within a transaction that its caller makes.
//!
//! `rows` reads items by their keys, `find` lists and searches them, `write` puts, removes and refreshes them. Filters are
//! evaluated on what was read and never become SQL.

pub(crate) mod find;
pub(crate) mod rows;
pub(crate) mod write;
