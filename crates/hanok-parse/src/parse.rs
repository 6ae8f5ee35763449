//! The parser: one pass over a text that is whole, or comes in pieces.
//!
//! [`pass`] goes from mark to mark and never back, and hands over to the readers; [`stream`] feeds it, [`parser`] says what
//! it looks for.

pub(crate) mod deltas;
pub(crate) mod lines;
pub(crate) mod parser;
pub(crate) mod pass;
pub(crate) mod stream;
pub(crate) mod unknown_mark;
