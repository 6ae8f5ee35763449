//! What a state is.

use std::{fmt, sync::Arc};

use hanok_core::{BoxError, Changes, Fields, StoredError};

use crate::ReduceError;

/// The fields of a state type, as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema {
    /// The type's name.
    pub name: &'static str,
    /// The version that `#[state(version = …)]` says; 1 without it.
    pub version: u32,
    /// Changes whenever a field, its rule or its type changes.
    pub fingerprint: u64,
    /// The fields, in the order they are declared.
    pub fields: &'static [FieldSchema],
}

/// One field of a state type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSchema {
    /// The field's name.
    pub name: &'static str,
    /// Its rule: `last value`, `append`, `merge`, `nested`, `messages`, `with`, `operations` or `transient`.
    pub rule: &'static str,
    /// Its type, as written.
    pub kind: &'static str,
}

/// The state of a graph. Write `#[derive(State)]`; the [crate's documentation](crate) lists the attributes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    note = "derive it: `#[derive(State, Clone, Default)]` on a struct with named fields"
)]
pub trait State: Clone + Default + Send + Sync + 'static {
    /// What a node returns: every field optional.
    type Update: StateUpdate<State = Self>;

    /// The fields of the type.
    const SCHEMA: &'static Schema;

    /// An update that writes nothing yet.
    fn update() -> Self::Update {
        Self::Update::default()
    }

    /// Merges what the nodes of one super-step wrote, in task order, and says what reducers of the user's made of it.
    ///
    /// A field that the returned changes mention is stored as they say; every other one as its writes say.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when a field's writes cannot be merged. The state is then as it was.
    fn reduce(&mut self, writes: Vec<(Arc<str>, Self::Update)>) -> Result<Changes, ReduceError>;

    /// The state as it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field's `Serialize` fails.
    fn to_fields(&self) -> Result<Fields, StoredError>;

    /// Takes the fields that this type has out of `fields`; one that is not there has its default.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field was stored in another shape.
    fn from_fields(fields: &mut Fields) -> Result<Self, StoredError>;

    /// Changes what version `from` of this type stored into what this version stores. Default: nothing.
    ///
    /// # Errors
    ///
    /// Whatever the function of `#[state(upgrade = …)]` returns.
    fn upgrade(from: u32, fields: &mut Fields) -> Result<(), BoxError> {
        let _ = (from, fields);
        Ok(())
    }
}

/// What a node returns: some fields of a state, each with what is written to it.
pub trait StateUpdate: Default + Clone + fmt::Debug + Send + Sync + 'static {
    /// The state it updates.
    type State: State<Update = Self>;

    /// Whether nothing is written.
    fn is_empty(&self) -> bool;

    /// Gives an id to every message that has none. Called once, before the update is stored.
    fn complete(&mut self, ids: &mut dyn FnMut() -> String);

    /// The update as it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a value's `Serialize` fails.
    fn to_changes(&self) -> Result<Changes, StoredError>;

    /// Reads what [`StateUpdate::to_changes`] wrote.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field was stored in another shape.
    fn from_changes(changes: &Changes) -> Result<Self, StoredError>;
}
