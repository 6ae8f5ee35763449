//! The MCP orchestrator: it asks when a request is not clear, plans, has people approve, works with the tools of anybody's servers, and
//! learns.
//!
//! Everything reusable is in the crates: servers, their tools and the index of them in `hanok-mcp`, gates and approvals in
//! `hanok-agent`, the five memories in `hanok-learning`. What is here is this program's own: its graph and its words. The sample server
//! is a package of its own, `desk`.

mod asking;
pub mod events;
pub mod memory;
mod nodes;
mod opened;
mod options;
mod orchestrator;
mod results;
pub mod state;
mod talking;
mod wording;

pub use opened::{Opened, connect, open, open_on, sample_server};
pub use options::Options;
pub use talking::Talking;
