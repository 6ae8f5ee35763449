//! What a graph does, by what it is asked for. One program, since each more would link all of hanok once more.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod answers;
mod asked_again;
mod asking;
mod beside;
mod breakpoints;
mod budgets;
mod build;
mod bulk;
mod cached;
mod changed;
mod claims;
mod clients;
mod commands;
mod concurrency;
mod copied;
mod crash;
mod deploys;
mod dropped;
mod durability;
mod dynamic;
mod effects;
mod erased;
mod failure;
mod fields;
mod flow;
mod initial;
mod inputs;
mod interrupts;
mod labelled;
mod limits;
mod lints;
mod lives;
mod many;
mod named;
mod notes;
mod observers;
mod outcomes;
mod outside;
mod past_limits;
mod poisoned;
mod policies;
mod probes;
mod races;
mod regressions;
mod routers;
mod run;
mod shared;
mod shutdown;
mod stopping;
mod streams;
mod subgraphs;
mod support;
mod threads;
mod timeouts;
mod told;
mod transient;
mod travel;
mod views;
mod waiting_below;
