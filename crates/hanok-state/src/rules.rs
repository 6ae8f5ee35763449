//! The room `rules`.

pub(crate) mod append;
pub(crate) mod last_value;
mod macros;
pub(crate) mod merge;
pub(crate) mod messages;
pub(crate) mod nested;
pub(crate) mod operations;
pub(crate) mod transient;
pub(crate) mod with;
