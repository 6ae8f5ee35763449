//! Files of one folder.

mod error;
mod folder;
mod lines;
mod read_file;

pub use error::FileError;
pub use read_file::ReadFile;
