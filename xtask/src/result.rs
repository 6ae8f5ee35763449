//! The end of a check.

/// Any failure of a check itself, as opposed to a fault that it found.
pub(crate) type Error = Box<dyn std::error::Error>;
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
