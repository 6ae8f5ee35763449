//! The data that the tools read: files that ship with the program and that a user can replace.

pub mod deal;
mod error;
pub mod limits;
pub mod market;
mod origin;
pub mod risk;

pub use error::DataError;
pub use limits::Limits;
pub use market::Market;
pub use origin::Origin;
pub use risk::RiskTable;
