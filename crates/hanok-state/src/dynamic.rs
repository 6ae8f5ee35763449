//! States whose fields are declared at run time.
//!
//! A [`DynamicSchema`](schema::DynamicSchema) is checked once and becomes a `Declared`. A [`DynamicState`](state::DynamicState)
//! holds that and a value for each field. A [`DynamicUpdate`](update::DynamicUpdate) holds [writes] that are bound to the rules
//! when they meet a state.
//!
//! Invariants
//!
//! - The rules are those of `rules`: `any_slot` and `any_value` only choose among them.
//! - `json` checks all JSON: defaults with their schema, writes when they are bound, or all at once by `State::read_update`.
//! - A bound update is stored as the update of a derived state is.

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
