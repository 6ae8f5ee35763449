//! The door: a graph of whatever types, spoken to in JSON.
//!
//! A server, a queue worker or a command line holds graphs of many types. An [`app`] is one of them, made of an
//! [`App`](crate::App) and a function that makes the services of a run for a [`caller`]. What a client sends is an [`input`], which
//! is read by the rules of the state when the graph is known; what comes back is a state that can be written as JSON.
//!
//! What must hold:
//!
//! - The tenant of a thread is its caller's: no name of a thread reaches another tenant's.
//! - Every call does what the typed one does, and leaves the same log.
//!
//! Nothing in the crate calls this room; it calls the rooms of threads and events.

pub(crate) mod app;
pub(crate) mod caller;
pub(crate) mod input;
