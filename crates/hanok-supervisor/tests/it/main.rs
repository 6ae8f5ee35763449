//! What supervisors, swarms and teams do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod approvals;
mod delegations;
mod dropped;
mod front;
mod native;
mod routing;
mod seed_000;
mod services;
mod support;
mod swarm;
mod teams;
mod turns;
