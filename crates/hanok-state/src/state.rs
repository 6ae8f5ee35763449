//! What a state is.

use std::{borrow::Cow, fmt, sync::Arc};

use hanok_core::{Changes, Fields, StoredError};

use crate::{error::ReduceError, schema::Schema};

/// The state of a graph. Write `#[derive(State)]`; the [crate's documentation](crate) lists the attributes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    note = "derive it: `#[derive(State, Clone, Default)]` on a struct with named fields"
)]
pub trait State: Clone + Default + Send + Sync + 'static {
    /// What a node returns: every field optional.
    type Update: StateUpdate<State = Self>;

    /// The fields of the type. [`State::schema`] says those of a value.
    const SCHEMA: &'static Schema;

    /// The fields of this value. Default: those of its type.
    fn schema(&self) -> &Schema {
        Self::SCHEMA
    }

    /// An update that writes nothing yet.
    fn update() -> Self::Update {
        Self::Update::default()
    }

    /// Makes what `node` returned an update of this value. The engine calls it first of all, once for what a node returns
    /// and once for what a log says. Default: it is one; an update whose fields are known only at run time learns the
    /// rules of its fields here.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when a field is unknown, or what is written to it does not fit its rule.
    fn bind(&self, node: &Arc<str>, update: &mut Self::Update) -> Result<(), ReduceError> {
        let _ = (node, update);
        Ok(())
    }

    /// Merges what the nodes of one super-step wrote, in task order, and returns what reducers of the user's made of it.
    ///
    /// A field that the returned changes mention is stored as they say; every other one as its writes say.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when a field's writes cannot be merged. The state is then as it was.
    fn reduce(&mut self, writes: Vec<(Arc<str>, Self::Update)>) -> Result<Changes, ReduceError> {
        let mut writes = writes;
        let mut writes: Vec<_> = writes.iter_mut().map(|(node, update)| (&*node, update)).collect();
        self.merge_writes(&mut writes, true)
    }

    /// As [`State::reduce`], and takes what is merged out of the updates. What reducers made of it is left out unless it
    /// is to be `recorded`: it is for logs, and encoding it took a third of the time of a wide state that nobody stores.
    ///
    /// # Errors
    ///
    /// As [`State::reduce`].
    fn merge_writes(
        &mut self,
        writes: &mut [(&Arc<str>, &mut Self::Update)],
        recorded: bool,
    ) -> Result<Changes, ReduceError>;

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
    fn from_fields(fields: &mut Fields) -> Result<Self, StoredError> {
        Self::default().load(fields)
    }

    /// Takes the fields of this value's schema out of `fields`; one that is not there is as it is in this value. Of a
    /// nested state that is there, what is not there has the default of its own type.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field was stored in another shape.
    fn load(&self, fields: &mut Fields) -> Result<Self, StoredError>;

    /// Gives every field whose name `keep` denies the value that it has in `initial`. A nested state is one field.
    fn retain(&mut self, keep: &dyn Fn(&str) -> bool, initial: &Self);
}

/// What a node returns: some fields of a state, each with what is written to it.
pub trait StateUpdate: Default + Clone + fmt::Debug + Send + Sync + 'static {
    /// The state it updates.
    type State: State<Update = Self>;

    /// Whether nothing is written.
    fn is_empty(&self) -> bool;

    /// The names of the fields that are written, in the order they are declared.
    fn written(&self) -> Vec<Cow<'_, str>>;

    /// One update of one node that does what this and `after` do in one super-step: what each method of the update
    /// called twice does. An overwrite stays, whatever is written after it.
    #[must_use]
    fn and(self, after: Self) -> Self;

    /// One update that does what this does, and then, in a later super-step, `after`: an overwrite is written to.
    ///
    /// # Errors
    ///
    /// [`ReduceError`], which names no node, when `after` does not fit a value that this overwrites with.
    fn then(self, after: Self) -> Result<Self, ReduceError>;

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
