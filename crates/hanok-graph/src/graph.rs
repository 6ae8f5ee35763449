//! The room `graph`.

pub(crate) mod builder;
pub(crate) mod definition;
pub(crate) mod draw;
pub(crate) mod migration;
pub(crate) mod spec;
pub(crate) mod validate;
