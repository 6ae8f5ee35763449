//! The engine under schedules of crashes: small graphs for each thing that a graph can do, and graphs made of the seed.

mod layers;
mod nodes;
mod planted;
mod scenarios;

pub use layers::WrongStore;
pub use nodes::{S, SUpdate};
pub use planted::{BUGS, Bug, found};
pub use scenarios::{Scenario, all};
