//! The state of a graph: a plain struct whose fields name the rules by which the writes of nodes are merged.
//!
//! A node reads a snapshot of the state and returns an *update*. It never mutates the state. `#[derive(State)]` writes
//! the update type (every field optional, a method per field) and the rule of each field, its *reducer*:
//!
//! | field | rule | methods of the update for a field `f` |
//! | --- | --- | --- |
//! | no attribute | last value; two writers in one super-step are an error | `f(value)` |
//! | of type [`Messages`] | append; a message with a known id replaces it; a removal removes | `message(m)`, `messages(several)`, `remove_message(id)`, `clear_messages()`, `overwrite_messages(whole)` |
//! | `#[reduce(append)]` | [`List`] or `Vec`: append | `f(items)`, `push_f(item)`, `overwrite_f(whole)` |
//! | `#[reduce(merge)]` | [`Map`] or `BTreeMap`: later keys win | `f(entries)`, `insert_f(key, value)`, `remove_f(key)`, `overwrite_f(whole)` |
//! | `#[reduce(nested)]` | a [`State`] of its own | `f(update)`, `overwrite_f(whole)` |
//! | `#[reduce(with = path)]` | `path` is `fn(&T, T) -> T`; for small values, stored whole | `f(value)`, `overwrite_f(whole)` |
//! | `#[reduce(operations = path, update = U)]` | `path` is `fn(&T, U) -> T::Change`, see [`Grow`]; for what grows | `f(update)`, `overwrite_f(whole)` |
//! | `#[state(transient)]` | last value, never stored; the one place for a type without serde | `f(value)` |
//!
//! Two more attributes go with every rule. They do not change the stored form:
//!
//! - `#[state(private)]`: the field is between nodes. A run does not return it, and a node sees it only through a
//!   [`View`] that names it.
//! - `#[state(ephemeral)]`: a write of one super-step is there in the next one. After that, the field has its initial value.
//!
//! An overwrite wins over all other writes of its super-step. Two overwrites are an error. `#[state(alias = "old")]` on a
//! field reads a value that was stored under an older name. `#[state(version = 2, upgrade = path)]` on the struct upgrades the
//! fields that an older version stored, and [`upgraded`] tests it. A nested state has a version and an upgrade of its own. The
//! upgrade runs by the version that was stored.
//!
//! A state whose fields are known only at run time is a [`DynamicState`].
//!
//! # JSON
//!
//! [`StateUpdate::from_json`] reads an update from an object with the names of fields, [`State::read_update`] for a [`DynamicState`],
//! too. All faults come at once, each with its JSON pointer. An alias is no name here, and a value is nested at most 64 levels.
//!
//! | rule | JSON of a write |
//! | --- | --- |
//! | last value, `with` | the value, by the `Deserialize` of its type |
//! | `append` | an array with the items, or one item that is no array |
//! | `merge` | an object; its keys are read as serde_json reads those of maps, and `null` removes a key |
//! | `nested` | an object with the fields of the nested state |
//! | `messages` | an array with messages and removals, or one of them |
//! | `operations` | one `U`, an array only if `U` is one |
//! | `transient` | none: it is a fault |
//!
//! A message is a text of a person, a pair of a role and a text, or an object: as [`Message`] is serialised, as OpenAI's chat
//! completions have it, or in one of LangChain's forms, of which `{"type": "remove", "id": …}` removes a message, or all with the id
//! `__remove_all__`. An array of two texts of which the first is a role is one message.
//!
//! [`State::to_json`] writes a state as JSON that is read so, and [`StateUpdate::to_json`] writes the changes of an update for
//! clients. What a log stored has the same JSON: [`State::from_fields`] reads it.
//!
//! ```
//! use hanok_state::{Message, Messages, State};
//!
//! #[derive(State, Clone, Default)]
//! struct AgentState {
//!     messages: Messages,
//!     iteration: u32,
//! }
//!
//! let mut state = AgentState::default();
//! let update = AgentState::update().message(Message::user("안녕")).iteration(1);
//! state.reduce(vec![("call_model".into(), update)])?;
//! assert_eq!(state.messages.last().map(|m| m.text().into_owned()), Some("안녕".into()));
//!
//! // Two writers of one value are a mistake of the graph, and the error names them.
//! let (a, b) = (AgentState::update().iteration(1), AgentState::update().iteration(2));
//! let error = state.reduce(vec![("a".into(), a), ("b".into(), b)]).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "field `iteration`: written by `a` and `b` in one super-step; give the field a reducer, or let one node write it"
//! );
//! # Ok::<(), hanok_state::ReduceError>(())
//! ```

mod arguments;
mod code;
mod collections;
mod dynamic;
mod error;
mod json;
mod json_error;
mod messages;
mod migration;
mod plain_json;
mod read_json;
mod reduce;
mod repeated_key;
mod rule;
mod rules;
mod schema;
mod slot;
mod state;
mod state_write;
mod storable;
mod text;
mod view;
mod writes;

// The crates whose types stand in what this one says.
pub use hanok_core as core;

pub use arguments::Arguments;
pub use code::Code;
pub use collections::{
    grow::Grow,
    list::{List, ListChange, ListLike},
    map::{Map, MapChange, MapLike},
};
pub use dynamic::{
    fault::{DynamicSchemaError, SchemaFault},
    field::DynamicField,
    rule::DynamicRule,
    schema::DynamicSchema,
    state::DynamicState,
    update::DynamicUpdate,
};
pub use error::{MessageFormatError, ReduceError, Refused};
pub use hanok_core::Shared;
pub use hanok_macros::{State, View};
pub use json::Json;
pub use json_error::{InvalidJson, JsonFault, NoJson};
pub use messages::{
    content::{Content, Part},
    conversation::Messages,
    message::{Message, ToolCall},
    role::Role,
    update::{MessageOp, MessagesUpdate},
};
pub use migration::{
    compare::{Differences, NewerVersion},
    upgrade::{MigrationError, UpgradeError, upgraded},
};
pub use plain_json::PlainJson;
pub use reduce::Reduce;
pub use rule::Rule;
pub use rules::{
    append::Append,
    last_value::LastValue,
    merge::Merge,
    messages::MessageIds,
    nested::{Nested, NestedWrite},
    operations::{Operations, OperationsReducer},
    transient::Transient,
    with::{With, WithReducer},
};
pub use schema::{FieldSchema, Schema, Upgrade};
pub use slot::{Slot, Write};
pub use state::{State, StateUpdate};
pub use state_write::{StateWrite, UnfitWrite};
pub use storable::Storable;
pub use view::View;
pub use writes::NodeWrites;

/// The names that the code of `#[derive(State)]` uses. They are for nothing else.
#[doc(hidden)]
pub mod derived {
    pub use hanok_core::{BoxError, Changes, Fields, StoredError};
    pub use serde_json::{Map as JsonObject, Value as JsonValue};

    pub use crate::{
        read_json::JsonFields,
        schema::fingerprint,
        slot::{Resolved, StoredSlot},
        text::OptionalText,
    };
}

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
