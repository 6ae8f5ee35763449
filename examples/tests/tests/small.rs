//! The examples that are one idea each.

mod keyed;
mod offline;
mod parse;
mod sse;
mod states;
mod store;
