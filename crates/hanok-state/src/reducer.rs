//! The rules by which the writes of one super-step are merged into a field.

use std::{collections::BTreeMap, marker::PhantomData, sync::Arc};

use hanok_core::{BoxError, Change, Changes, Field, Stored, StoredError};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Grow, ListChange, ListLike, MapLike, Messages, MessagesUpdate, Refused, State, StateUpdate,
};

/// How the writes of one super-step are merged into a field of type `T`, and how both are stored.
///
/// A reducer is a pure function of the value and the writes: no clock, no ids, no randomness.
#[diagnostic::on_unimplemented(
    message = "the rule of this field does not fit the type `{T}`",
    note = "`append` is for `List` and `Vec`, `merge` for `Map` and `BTreeMap`, `nested` for a `State`; every field that is stored needs `Clone + Serialize + DeserializeOwned`, or `#[state(transient)]`"
)]
pub trait Reduce<T>: 'static {
    /// What an update holds for the field.
    type Write: Clone + Send + Sync + 'static;

    /// Whether a stored `Set` is an overwrite, and not a plain write.
    const HAS_OVERWRITE: bool = true;

    /// Two writes of one update, as one.
    fn then(before: Self::Write, after: Self::Write) -> Self::Write;

    /// A write and one of a later super-step, as one. Default: as [`Reduce::then`].
    ///
    /// # Errors
    ///
    /// [`Refused`] when the later one does not fit what the first one says.
    fn later(before: Self::Write, after: Self::Write) -> Result<Self::Write, Refused> {
        Ok(Self::then(before, after))
    }

    /// Whether `writes` (in task order, at least one) can be merged into `value`.
    ///
    /// # Errors
    ///
    /// [`Refused`] when they cannot.
    fn check(value: &T, writes: &[(Arc<str>, Self::Write)]) -> Result<(), Refused> {
        let _ = (value, writes);
        Ok(())
    }

    /// Merges `writes` (in task order, at least one) into `value`; returns what cannot be told from the writes alone.
    ///
    /// # Errors
    ///
    /// [`Refused`] when they cannot be merged.
    fn reduce(value: &mut T, writes: Vec<(Arc<str>, Self::Write)>) -> Result<Vec<Change>, Refused>;

    /// As [`Reduce::check`] of the only write. Default: that.
    ///
    /// # Errors
    ///
    /// As [`Reduce::check`].
    fn check_one(value: &T, node: &Arc<str>, write: &Self::Write) -> Result<(), Refused> {
        Self::check(value, &[(node.clone(), write.clone())])
    }

    /// As [`Reduce::reduce`] of the only write. Unless it is to be `told`, what cannot be told from it need not be said.
    /// Default: that.
    ///
    /// # Errors
    ///
    /// As [`Reduce::reduce`].
    fn reduce_one(
        value: &mut T,
        node: &Arc<str>,
        write: Self::Write,
        told: bool,
    ) -> Result<Vec<Change>, Refused> {
        let _ = told;
        Self::reduce(value, vec![(node.clone(), write)])
    }

    /// Gives ids to what has none in a write.
    fn complete(write: &mut Self::Write, ids: &mut dyn FnMut() -> String) {
        let _ = (write, ids);
    }

    /// Gives ids to what has none in a whole value.
    fn complete_value(value: &mut T, ids: &mut dyn FnMut() -> String) {
        let _ = (value, ids);
    }

    /// A write as it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a `Serialize` fails.
    fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError>;

    /// Reads what [`Reduce::store`] wrote.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    fn load(changes: &[&Change]) -> Result<Self::Write, StoredError>;

    /// The whole value as it is stored, `None` if it never is.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when its `Serialize` fails.
    fn store_value(value: &T) -> Result<Option<Field>, StoredError>;

    /// Reads a whole value.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    fn load_value(field: Field) -> Result<T, StoredError>;
}

/// A value that is stored as its `Serialize` says.
macro_rules! stored_whole {
    ($value:ty) => {
        fn store_value(value: &$value) -> Result<Option<Field>, StoredError> {
            Stored::encode(value).map(Field::Value).map(Some)
        }

        fn load_value(field: Field) -> Result<$value, StoredError> {
            field.to_stored().decode()
        }
    };
}

/// The write of the one node that may write counts, and takes the value's place.
macro_rules! last_write {
    ($value:ty) => {
        fn then(_before: $value, after: $value) -> $value {
            after
        }

        fn check(_value: &$value, writes: &[(Arc<str>, $value)]) -> Result<(), Refused> {
            one_writer(writes)
        }

        fn reduce(
            value: &mut $value,
            writes: Vec<(Arc<str>, $value)>,
        ) -> Result<Vec<Change>, Refused> {
            set_last(value, writes)
        }

        fn check_one(_value: &$value, _node: &Arc<str>, _write: &$value) -> Result<(), Refused> {
            Ok(())
        }

        fn reduce_one(
            value: &mut $value,
            _node: &Arc<str>,
            write: $value,
            _told: bool,
        ) -> Result<Vec<Change>, Refused> {
            *value = write;
            Ok(Vec::new())
        }
    };
}

fn other_shape<T>(expected: &'static str) -> Result<T, StoredError> {
    Err(StoredError::Malformed { at: 0, expected })
}

fn one_writer<W>(writes: &[(Arc<str>, W)]) -> Result<(), Refused> {
    match writes {
        [(first, _), (second, _), ..] => {
            Err(Refused::TwoWriters { first: first.clone(), second: second.clone() })
        }
        _ => Ok(()),
    }
}

fn set_last<T>(value: &mut T, writes: Vec<(Arc<str>, T)>) -> Result<Vec<Change>, Refused> {
    one_writer(&writes)?;
    if let Some((_, last)) = writes.into_iter().next() {
        *value = last;
    }
    Ok(Vec::new())
}

/// The field has the value that was written last; two writers in one super-step are an error.
#[derive(Debug)]
pub struct LastValue;

impl<T> Reduce<T> for LastValue
where
    T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    type Write = T;
    const HAS_OVERWRITE: bool = false;

    last_write!(T);

    fn store(write: &T) -> Result<Vec<Change>, StoredError> {
        Ok(vec![Change::Set(Stored::encode(write)?)])
    }

    fn load(changes: &[&Change]) -> Result<T, StoredError> {
        match changes {
            [Change::Set(value)] => value.decode(),
            _ => other_shape("one value"),
        }
    }

    stored_whole!(T);
}

/// A last value that is never stored.
#[derive(Debug)]
pub struct Transient;

impl<T> Reduce<T> for Transient
where
    T: Clone + Default + Send + Sync + 'static,
{
    type Write = T;

    last_write!(T);

    fn store(_write: &T) -> Result<Vec<Change>, StoredError> {
        Ok(Vec::new())
    }

    fn load(_changes: &[&Change]) -> Result<T, StoredError> {
        other_shape("nothing: the field is transient")
    }

    fn store_value(_value: &T) -> Result<Option<Field>, StoredError> {
        Ok(None)
    }

    fn load_value(_field: Field) -> Result<T, StoredError> {
        Ok(T::default())
    }
}

/// A list to which every write appends.
#[derive(Debug)]
pub struct Append;

impl<T> Reduce<T> for Append
where
    T: ListLike + Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    type Write = Vec<T::Item>;

    fn then(mut before: Self::Write, after: Self::Write) -> Self::Write {
        before.extend(after);
        before
    }

    fn reduce(value: &mut T, writes: Vec<(Arc<str>, Self::Write)>) -> Result<Vec<Change>, Refused> {
        writes.into_iter().for_each(|(_, items)| value.extend_items(items));
        Ok(Vec::new())
    }

    fn check_one(_value: &T, _node: &Arc<str>, _write: &Self::Write) -> Result<(), Refused> {
        Ok(())
    }

    fn reduce_one(
        value: &mut T,
        _node: &Arc<str>,
        items: Self::Write,
        _told: bool,
    ) -> Result<Vec<Change>, Refused> {
        value.extend_items(items);
        Ok(Vec::new())
    }

    fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError> {
        let items: Result<_, _> = write.iter().map(Stored::encode).collect();
        Ok(vec![Change::Append(items?)])
    }

    fn load(changes: &[&Change]) -> Result<Self::Write, StoredError> {
        match changes {
            [Change::Append(items)] => items.iter().map(Stored::decode).collect(),
            _ => other_shape("items to append"),
        }
    }

    stored_whole!(T);
}

/// A map in which later keys win.
#[derive(Debug)]
pub struct Merge;

impl<T> Reduce<T> for Merge
where
    T: MapLike + Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// `None` removes a key.
    type Write = BTreeMap<T::Key, Option<T::Value>>;

    fn then(mut before: Self::Write, after: Self::Write) -> Self::Write {
        before.extend(after);
        before
    }

    fn reduce(value: &mut T, writes: Vec<(Arc<str>, Self::Write)>) -> Result<Vec<Change>, Refused> {
        for (key, entry) in writes.into_iter().flat_map(|(_, entries)| entries) {
            match entry {
                Some(entry) => value.insert_entry(key, entry),
                None => value.remove_entry(&key),
            }
        }
        Ok(Vec::new())
    }

    fn check_one(_value: &T, _node: &Arc<str>, _write: &Self::Write) -> Result<(), Refused> {
        Ok(())
    }

    fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError> {
        let (mut merged, mut removed) = (Vec::new(), Vec::new());
        for (key, value) in write {
            let key = Stored::encode(key)?;
            match value {
                Some(value) => merged.push((key, Stored::encode(value)?)),
                None => removed.push(key),
            }
        }
        let mut changes = Vec::new();
        if !merged.is_empty() || removed.is_empty() {
            changes.push(Change::Merge(merged));
        }
        if !removed.is_empty() {
            changes.push(Change::RemoveKeys(removed));
        }
        Ok(changes)
    }

    fn load(changes: &[&Change]) -> Result<Self::Write, StoredError> {
        let mut write = BTreeMap::new();
        for change in changes {
            match change {
                Change::Merge(entries) => {
                    for (key, value) in entries {
                        write.insert(key.decode()?, Some(value.decode()?));
                    }
                }
                Change::RemoveKeys(keys) => {
                    for key in keys {
                        write.insert(key.decode()?, None);
                    }
                }
                _ => return other_shape("keys to merge"),
            }
        }
        Ok(write)
    }

    stored_whole!(T);
}

/// A conversation: a message with a known id replaces it, any other is appended, a removal removes.
#[derive(Debug)]
pub struct MessageIds;

impl Reduce<Messages> for MessageIds {
    type Write = MessagesUpdate;

    fn then(mut before: MessagesUpdate, after: MessagesUpdate) -> MessagesUpdate {
        before.extend(after);
        before
    }

    fn later(mut before: MessagesUpdate, after: MessagesUpdate) -> Result<MessagesUpdate, Refused> {
        before.later(after);
        Ok(before)
    }

    fn check(value: &Messages, writes: &[(Arc<str>, MessagesUpdate)]) -> Result<(), Refused> {
        let updates: Vec<_> = writes.iter().map(|(_, update)| update).collect();
        Ok(value.check(&updates)?)
    }

    fn check_one(
        value: &Messages,
        _node: &Arc<str>,
        update: &MessagesUpdate,
    ) -> Result<(), Refused> {
        Ok(value.check(&[update])?)
    }

    fn reduce_one(
        value: &mut Messages,
        _node: &Arc<str>,
        update: MessagesUpdate,
        _told: bool,
    ) -> Result<Vec<Change>, Refused> {
        value.apply(update)?;
        Ok(Vec::new())
    }

    fn reduce(
        value: &mut Messages,
        writes: Vec<(Arc<str>, MessagesUpdate)>,
    ) -> Result<Vec<Change>, Refused> {
        writes.into_iter().try_for_each(|(_, update)| value.apply(update))?;
        Ok(Vec::new())
    }

    fn complete(write: &mut MessagesUpdate, ids: &mut dyn FnMut() -> String) {
        write.complete(ids);
    }

    fn complete_value(value: &mut Messages, ids: &mut dyn FnMut() -> String) {
        value.complete(ids);
    }

    fn store(write: &MessagesUpdate) -> Result<Vec<Change>, StoredError> {
        write.to_changes()
    }

    fn load(changes: &[&Change]) -> Result<MessagesUpdate, StoredError> {
        MessagesUpdate::from_changes(changes)
    }

    fn store_value(value: &Messages) -> Result<Option<Field>, StoredError> {
        Stored::encode(value).map(Field::Value).map(Some)
    }

    fn load_value(field: Field) -> Result<Messages, StoredError> {
        match field {
            // As they were read, and not as one value that is put together first.
            Field::Messages(messages) => messages.iter().map(Stored::decode).collect(),
            field => field.to_stored().decode(),
        }
    }
}

/// A state within a state.
#[derive(Debug)]
pub struct Nested;

impl<T: State> Reduce<T> for Nested {
    type Write = NestedWrite<T>;

    fn then(before: Self::Write, after: Self::Write) -> Self::Write {
        NestedWrite(before.0.and(after.0))
    }

    fn later(before: Self::Write, after: Self::Write) -> Result<Self::Write, Refused> {
        let update = before.0.then(after.0).map_err(|error| Refused::Nested(Box::new(error)))?;
        Ok(NestedWrite(update))
    }

    fn check(value: &T, writes: &[(Arc<str>, Self::Write)]) -> Result<(), Refused> {
        // Cloning a state costs a pointer per field.
        Self::reduce(&mut value.clone(), writes.to_vec()).map(drop)
    }

    fn reduce(value: &mut T, writes: Vec<(Arc<str>, Self::Write)>) -> Result<Vec<Change>, Refused> {
        let updates: Vec<_> = writes.into_iter().map(|(node, write)| (node, write.0)).collect();
        // Only these rules resolve anything; only then all that was written has to be said again.
        let resolves =
            updates.len() > 1 || value.schema().fields.iter().any(|field| field.rule.resolves());
        let mut said = Changes::default();
        if resolves {
            for (_, update) in &updates {
                said.0.extend(update.to_changes()?.0);
            }
        }
        let resolved = value.reduce(updates).map_err(|error| Refused::Nested(Box::new(error)))?;
        if resolved.is_empty() {
            return Ok(Vec::new());
        }
        said.0.retain(|(field, _)| resolved.get(field).is_none());
        said.0.extend(resolved.0);
        Ok(vec![Change::Nested(said)])
    }

    fn complete(write: &mut Self::Write, ids: &mut dyn FnMut() -> String) {
        write.0.complete(ids);
    }

    fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError> {
        Ok(vec![Change::Nested(write.0.to_changes()?)])
    }

    fn load(changes: &[&Change]) -> Result<Self::Write, StoredError> {
        let updates = changes.iter().map(|change| match change {
            Change::Nested(changes) => T::Update::from_changes(changes),
            _ => other_shape("changes of a nested state"),
        });
        let all = updates.reduce(|before, after| Ok(before?.and(after?)));
        all.unwrap_or_else(|| other_shape("changes of a nested state")).map(NestedWrite)
    }

    fn store_value(value: &T) -> Result<Option<Field>, StoredError> {
        value.to_fields().map(Field::Nested).map(Some)
    }

    fn load_value(field: Field) -> Result<T, StoredError> {
        let mut fields = match field {
            Field::Nested(fields) => fields,
            other => hanok_core::Fields::from_stored(&other.to_stored())?,
        };
        T::from_fields(&mut fields)
    }
}

/// The update of one node to a nested state.
pub struct NestedWrite<T: State>(T::Update);

impl<T: State> NestedWrite<T> {
    /// This update.
    pub fn new(update: T::Update) -> Self {
        Self(update)
    }
}

impl<T: State> Clone for NestedWrite<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: State> std::fmt::Debug for NestedWrite<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The function of `#[reduce(with = path)]`; written by the derive.
pub trait WithReducer<T>: 'static {
    /// The value after `write`.
    fn merge(value: &T, write: T) -> T;
}

/// A value merged by a function of the user's. The result is stored whole, so it is for small values.
#[derive(Debug)]
pub struct With<F>(PhantomData<F>);

impl<T, F> Reduce<T> for With<F>
where
    T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    F: WithReducer<T>,
{
    type Write = Vec<T>;

    fn then(mut before: Vec<T>, after: Vec<T>) -> Vec<T> {
        before.extend(after);
        before
    }

    fn reduce(value: &mut T, writes: Vec<(Arc<str>, Vec<T>)>) -> Result<Vec<Change>, Refused> {
        for write in writes.into_iter().flat_map(|(_, several)| several) {
            *value = F::merge(value, write);
        }
        Ok(vec![Change::Set(Stored::encode(value)?)])
    }

    fn check_one(_value: &T, _node: &Arc<str>, _write: &Vec<T>) -> Result<(), Refused> {
        Ok(())
    }

    fn reduce_one(
        value: &mut T,
        node: &Arc<str>,
        writes: Vec<T>,
        told: bool,
    ) -> Result<Vec<Change>, Refused> {
        if told {
            return Self::reduce(value, vec![(node.clone(), writes)]);
        }
        for write in writes {
            *value = F::merge(value, write);
        }
        Ok(Vec::new())
    }

    fn store(write: &Vec<T>) -> Result<Vec<Change>, StoredError> {
        Ok(vec![Change::Input(Stored::encode(write)?)])
    }

    fn load(changes: &[&Change]) -> Result<Vec<T>, StoredError> {
        match changes {
            [Change::Input(write)] => write.decode(),
            _ => other_shape("the input of a reducer"),
        }
    }

    stored_whole!(T);
}

/// The function of `#[reduce(operations = path, update = U)]`; written by the derive.
pub trait OperationsReducer<T: Grow>: 'static {
    /// What an update holds.
    type Update: Clone + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// What `update` does to `value`.
    ///
    /// # Errors
    ///
    /// Whatever the user's function returns.
    fn operate(value: &T, update: Self::Update) -> Result<T::Change, BoxError>;
}

/// What grows, changed by operations that a function of the user's chooses. The operations are stored.
#[derive(Debug)]
pub struct Operations<F>(PhantomData<F>);

impl<T, F> Reduce<T> for Operations<F>
where
    T: Grow + Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    F: OperationsReducer<T>,
{
    type Write = Vec<F::Update>;

    fn then(mut before: Self::Write, after: Self::Write) -> Self::Write {
        before.extend(after);
        before
    }

    fn check(value: &T, writes: &[(Arc<str>, Self::Write)]) -> Result<(), Refused> {
        Self::reduce(&mut value.clone(), writes.to_vec()).map(drop)
    }

    fn reduce(value: &mut T, writes: Vec<(Arc<str>, Self::Write)>) -> Result<Vec<Change>, Refused> {
        let mut changes = Vec::new();
        for write in writes.into_iter().flat_map(|(_, several)| several) {
            let change = F::operate(value, write).map_err(Refused::Reducer)?;
            changes.extend(T::store(&change)?);
            value.grow(change)?;
        }
        Ok(changes)
    }

    fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError> {
        Ok(vec![Change::Input(Stored::encode(write)?)])
    }

    fn load(changes: &[&Change]) -> Result<Self::Write, StoredError> {
        match changes {
            [Change::Input(write)] => write.decode(),
            _ => other_shape("the input of a reducer"),
        }
    }

    stored_whole!(T);
}

/// An empty list change, for a reducer that leaves the list as it is.
impl<I> Default for ListChange<I> {
    fn default() -> Self {
        Self::Append(Vec::new())
    }
}
