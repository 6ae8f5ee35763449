//! A state whose fields are declared at run time.

mod declared;
mod json;
mod schema;
mod slots;
mod state;
mod sum;
mod update;

pub use schema::{DynamicField, DynamicRule, DynamicSchema, DynamicSchemaError, SchemaFault};
pub use state::DynamicState;
pub use update::DynamicUpdate;

/// How deep a value may be nested: half of what JSON and the log are read to, so that what is stored can be read.
const DEEPEST: usize = 64;
