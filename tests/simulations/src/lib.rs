//! The engine under schedules of crashes: small graphs for each thing that a graph can do, and graphs made of the seed.

mod layers;
mod nodes;
mod scenarios;
mod search;

pub use layers::WrongStore;
pub use nodes::{S, SUpdate};
pub use scenarios::{Scenario, all};
pub use search::{Ends, ends, found};
