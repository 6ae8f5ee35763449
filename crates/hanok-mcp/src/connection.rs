//! One connection to one server: made, bounded, closed.
//!
//! A [`Live`] is a connection that stands. It is either a child process, whose lines [`stdio`] reads, or streamable HTTP, whose
//! bodies [`http`] reads; both hold a server to the same limits through one [`Wire`](wire::Wire), which also knows whether a call
//! has left for the server. What stands above this room makes connections again and decides what may be repeated.

mod child;
mod handler;
mod http;
mod identity;
mod live;
mod pages;
mod program;
mod stderr;
mod stdio;
mod tasks;
mod tls;
mod wire;

pub use live::Lifecycle;
pub use wire::{Progress, ServerLog};

pub(crate) use identity::{Identity, identity};
pub(crate) use live::{Answered, Answers, CallFailure, Live};
pub(crate) use pages::Listed;
