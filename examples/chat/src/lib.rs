//! A conversation that remembers: a router, documents, tools, and summaries of what was said long ago.
//!
//! ```text
//! START -> router -> rag -> memory -> agent <-> tools
//!               \------------/            \-> END
//! ```
//!
//! Everything reusable is in the crates; what is here is this program's own: its state, its prompts and its graph.

mod chat;
mod nodes;
mod options;
mod progress;
mod router;
mod state;
mod store;
mod summary;
mod talking;
pub mod tools;

pub use chat::Chat;
pub use options::Options;
pub use progress::Progress;
pub use router::{Route, RouteDecision};
pub use state::{ChatState, ChatStateUpdate};
