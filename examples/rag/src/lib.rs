//! A question in Korean, answered out of real documents, through a supervisor and three agents.
//!
//! `main.rs` is the table of contents: options, a model, tools, a supervisor, a session. Everything reusable is in the
//! crates, and what all examples that talk share in `kit`; what is here is this program's own: its agents, its directory.

pub mod agents;
pub mod directory;
mod options;
pub mod servers;
mod talk;

pub use options::Options;
pub use talk::Office;
