#![doc = include_str!("../README.md")]

mod address;
mod builder;
mod client;
mod error;
mod exchange;
mod fetch;
mod policy;
mod redirect;
mod resolve;
mod target;
mod tls;
mod unpack;
mod wait;

// The crate whose types stand in what this one says.
pub use hanok_core as core;

pub use builder::EgressBuilder;
pub use client::Egress;
pub use error::{EgressError, Waited};
pub use fetch::{Fetch, Fetched, Limits};
pub use resolve::{Resolve, SystemResolver};
