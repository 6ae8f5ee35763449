//! One server for as long as the client lives, through however many connections.
//!
//! A [`Server`] connects when it is needed, knows what was listed last and over which connection, and decides whether a request
//! that was lost may be made again. Whatever happens to one costs its own tools.

mod call;
mod content;
mod handle;
mod listing;
mod note;
mod questions;
mod task;

pub(crate) use call::Target;
pub(crate) use handle::Server;
pub use handle::ServerStatus;
pub use task::TaskProgress;
