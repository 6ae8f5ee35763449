//! The room `collections`.

pub(crate) mod grow;
pub(crate) mod list;
pub(crate) mod map;
