//! Servers as they should be and as they should not, and what they cost.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod agents;
mod approval;
mod calls;
mod config;
mod conformance;
mod content;
mod durable;
mod hostile;
mod http;
mod peers;
mod program;
mod questions;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "server")]
mod serve_conformance;
#[cfg(feature = "server")]
mod serve_http;
#[cfg(feature = "server")]
mod serve_input;
#[cfg(feature = "oauth")]
mod sign_in;
mod support;
mod tasks;
