//! The room `dynamic`.

mod any_slot;
mod any_value;
mod bound;
mod declared;
pub(crate) mod fault;
pub(crate) mod field;
mod json;
pub(crate) mod rule;
pub(crate) mod schema;
pub(crate) mod state;
mod sum;
pub(crate) mod update;
mod writes;
