//! A question in Korean, answered out of real documents, through a supervisor and three agents.
//!
//! `main.rs` is the table of contents: options, a model, tools, a supervisor, a session. Everything reusable is in the
//! crates; what is here is this program's own: its agents, its directory, its screen.

pub mod agents;
pub mod brain;
pub mod directory;
pub mod failure;
pub mod knowledge;
mod live;
mod options;
mod screen;
mod session;
mod trace;

pub use options::Options;
pub use screen::Screen;
pub use session::Session;
