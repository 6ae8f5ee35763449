//! The fields of a state: what may happen to them, and what a log of changes amounts to.
//!
//! `change` is the closed vocabulary, `fold` applies it, `schema` says in which shape it was stored,
//! `serialize` writes and reads both for clients.

pub(crate) mod change;
pub(crate) mod fold;
pub(crate) mod schema;
pub(crate) mod serialize;
