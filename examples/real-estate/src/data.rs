//! The data that the tools read: files that ship with the program and that a user can replace.

mod error;

pub use error::DataError;
