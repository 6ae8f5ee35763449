//! The examples that are one idea each.

mod offline;
mod parse;
mod sse;
mod store;
