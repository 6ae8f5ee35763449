//! The room `observe`.

pub(crate) mod event;
pub(crate) mod sink;
