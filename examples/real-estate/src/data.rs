//! The data that the tools read: files that ship with the program and that a user can replace.

mod error;
pub mod limits;

pub use error::DataError;
pub use limits::Limits;
