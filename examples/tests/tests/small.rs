//! The examples that are one idea each.

mod keyed;
mod offline;
mod parse;
mod states;
mod store;
