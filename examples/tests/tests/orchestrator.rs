//! Requests of `orchestrator`, its people and its servers.

mod deaths;
mod paths;
mod program;
mod requests;
mod strangers;
mod typed;
