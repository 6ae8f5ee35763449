//! Tools: their registry, one call of a tool, its errors, the calls that were made before, and the tool of a hand-off.
//!
//! - `registry`: tools by name, each with its compiled schema; it checks every call.
//! - `execution`: one call, within its time and with its panic contained.
//! - `graphs`: graphs that tools run, and how they end their calls.
//! - `tool_errors`: the policy for an error of a tool.
//! - `tool_history`: calls that were made, so that a graph makes none twice.
//! - `handoff_tool`: the tool by which an agent hands its turn over.
//!
//! A tool's error becomes an [`Observation`](crate::Observation) here, unless it suspends the run or the policy propagates
//! it. The interceptors and the nodes stand above this room; it knows neither.

pub(crate) mod execution;
pub(crate) mod graphs;
pub(crate) mod handoff_tool;
pub(crate) mod registry;
pub(crate) mod tool_errors;
pub(crate) mod tool_history;
