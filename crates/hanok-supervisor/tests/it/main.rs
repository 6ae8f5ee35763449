//! What supervisors, swarms and teams do.

mod approvals;
mod delegations;
mod dropped;
mod front;
mod routing;
mod seed_000;
mod services;
mod support;
mod swarm;
mod teams;
mod turns;
