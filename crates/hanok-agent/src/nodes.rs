//! The nodes of the agent's graph.
//!
//! | node | file | steps that it memoises |
//! | --- | --- | --- |
//! | `call_model` | `call_model.rs` | `model`, and `model-again` for a reply that cannot be used; `model-fit` after a full window; `summary-N`, `full-summary-N` and the marks of the memory |
//! | `execute_tool` | `execute_tool.rs` | those of the [`ToolRunner`](crate::ToolRunner): `admit-N-ID` for a judgement, `tool-ID` for a call that may be repeated; a call that must not be is an intent of its own |
//!
//! A node reads the [`AgentSettings`](crate::settings::AgentSettings) and one snapshot of the state, and returns an update.
//! `talk.rs` is the conversation as a prompt shows it, made smaller where the agent has a memory.
//! `turn.rs` runs the hooks of a node and joins what is written beside them.
//! The memoised steps are the only effects, so a lost run repeats nothing that is stored. The roof
//! ([`ReactAgent`](crate::ReactAgent)) alone calls the nodes.

pub(crate) mod call_model;
pub(crate) mod execute_tool;
pub(crate) mod talk;
mod turn;
