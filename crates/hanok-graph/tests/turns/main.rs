//! What a thread does over its turns: questions and answers, inputs that come early, forks, streams.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod answers;
mod asked_again;
#[path = "../asking/mod.rs"]
mod asking;
mod beside;
mod breakpoints;
mod budgets;
mod bulk;
mod cancelled;
mod copied;
mod erased;
mod follow;
mod inputs;
mod interrupts;
mod labelled;
mod limits;
mod lives_and_keys;
mod named;
mod notes;
mod observers;
mod outcomes;
mod outside;
mod panics;
mod past_limits;
mod policies;
mod run_ids;
mod shutdown;
mod streams;
mod subgraphs;
mod threads;
mod told;
mod travel;
mod views;
mod waiting_below;
