//! The MCP orchestrator: it asks when a request is not clear, plans, has people approve, works with the tools of anybody's servers, and
//! learns.
//!
//! Everything reusable is in the crates: servers and their tools in `hanok-mcp`, gates, approvals and the search of tools in
//! `hanok-agent`, the five memories in `hanok-memory`. What is here is this program's own: its graph and its words. The sample server
//! is a package of its own, `desk`.

pub mod asking;
pub mod events;
pub mod memory;
mod nodes;
mod opened;
mod options;
pub mod orchestrator;
pub mod results;
pub mod servers;
pub mod state;
mod talking;
mod wording;

pub use opened::{Opened, Pupil, connect, open, open_on, sample_server, scope};
pub use options::Options;
pub use talking::Talking;
