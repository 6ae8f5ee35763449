//! The nodes of the supervisor's graph.
//!
//! | node | file | steps that it memoises |
//! | --- | --- | --- |
//! | `supervisor` | `choose_agent.rs` | `route`, and `route-again` for a reply that cannot be followed; `route-fit` after a full window; `summary-N` for its memory (`memory.rs`) |
//! | `execute_agent` | `execute_agent.rs` | `summary-HOP` for a summary that goes along; the agent runs as a subgraph |
//!
//! A node reads the [`SupervisorSettings`](crate::settings::SupervisorSettings) and one snapshot of the state, and returns
//! an update. The roof ([`Supervisor`](crate::Supervisor)) alone calls the nodes.

pub(crate) mod choose_agent;
pub(crate) mod execute_agent;
mod memory;
