//! The team supervisor: plans, teams that begin when what they need is there, and what becomes of those that fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod building;
mod choose_again;
mod faults;
mod limits;
mod order;
mod planning;
mod simulated;
mod support;
mod tool_planner;
mod turn;
mod what_if;
