//! The room `migration`.

pub(crate) mod compare;
mod translate;
mod unknown;
pub(crate) mod upgrade;
