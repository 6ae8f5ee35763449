#![doc = include_str!("../README.md")]

mod dispatch;
mod doors;
mod error;
mod http;
mod rows;
mod runs;
mod server;

// The crates whose types stand in what this one says.
pub use hanok_checkpoint as checkpoint;
pub use hanok_graph as graph;

pub use error::ServeError;
pub use http::{
    auth::{Authenticate, Role, Signed},
    problem::Problem,
    tokens::TokenFile,
};
pub use rows::{
    accept::Multitask,
    keys::public_id,
    request::{Options, Request},
    run::{Ended, RunRow, RunStatus, Stop},
    thread::{ThreadRow, ThreadStatus},
};
pub use runs::{Post, Posted, Runs};
pub use server::{Served, Server, StartError};
