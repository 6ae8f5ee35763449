//! One connection to one server: made, bounded, closed.
//!
//! A [`Live`] is a connection that stands. It is a child process ([`stdio`]) or another pair of streams ([`stream`]), whose [`lines`]
//! are read, or streamable HTTP, whose bodies [`http`] reads; all hold a server to the same limits through one [`Wire`](wire::Wire), which also knows whether a call
//! has left for the server. What stands above this room makes connections again and decides what may be repeated.

mod answer;
mod child;
mod handler;
mod http;
mod identity;
mod leaving;
mod lines;
mod live;
mod pages;
mod program;
mod stderr;
mod stdio;
mod stream;
mod tasks;
mod tls;
mod wire;
mod written;

pub use live::Lifecycle;
pub use wire::{Progress, ServerLog};

pub(crate) use http::client as http_client;
pub(crate) use identity::{Identity, identity};
pub(crate) use live::{Answered, Answers, CallFailure, Live};
pub(crate) use pages::Listed;
#[cfg(feature = "server")]
pub(crate) use wire::KEY as CALL_KEY;
