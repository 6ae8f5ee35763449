//! hanok-parse behind the traits by which servers in Rust take a parser: an adapter each, to be copied.
//!
//! - [`tool_parser`]: the trait of the crate `tool-parser`.
//! - [`dynamo`]: the trait of `dynamo-parsers-v2`. Its predecessor `dynamo-parsers` has none for tool calls.

pub mod dynamo;
mod reading;
pub mod tool_parser;
