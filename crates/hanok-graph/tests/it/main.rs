//! What a graph does, by what it is asked for. Three programs (`turns`, `crashes`) compile side by side; one of all would take
//! two gigabytes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod any;
mod build;
mod cached;
mod changed;
mod clients;
mod commands;
mod concurrency;
mod dynamic;
mod failure;
mod fields;
mod flow;
mod initial;
mod json;
mod lints;
mod probes;
mod routers;
mod run;
mod stopping;
#[path = "../support/mod.rs"]
mod support;
mod timeouts;
mod transient;
