//! What the store on PostgreSQL does, and what it survives.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod conforms;
mod followers;
mod guards;
mod items;
mod kills;
mod leases;
mod outages;
mod reconnects;
mod refusals;
mod support;
mod tls;
