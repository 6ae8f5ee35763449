//! One field of an update, and the writes of one super-step to it.

use std::{borrow::Cow, fmt, sync::Arc};

use hanok_core::{Change, Changes, Field, Fields, StoredError};
use serde_json::{Map, Value};

use crate::{
    code::Code,
    error::{ReduceError, Refused},
    json_error::NoJson,
    read_json::JsonFields,
    reduce::Reduce,
    writes::NodeWrites,
};

/// The slot of an update for one field of type `T` under the rule `R`: empty, or with a write.
///
/// ```
/// use hanok_state::{Append, Slot};
///
/// let mut slot: Slot<Vec<u8>, Append> = Slot::default();
/// assert!(slot.is_empty());
///
/// slot.write(vec![1]);
/// slot.overwrite(vec![9]);
/// slot.write(vec![2]); // an overwrite stays
/// assert_eq!(format!("{slot:?}"), "an overwrite");
/// ```
pub struct Slot<T, R: Reduce<T>>(Option<Write<T, R>>);

/// One write to a field.
pub enum Write<T, R: Reduce<T>> {
    /// A write that the field's rule merges.
    Plain(R::Write),
    /// A value that replaces the old one and all other writes.
    Overwrite(T),
}

impl<T: Clone, R: Reduce<T>> Slot<T, R> {
    /// Makes a slot with `write`.
    pub(crate) fn plain(write: R::Write) -> Self {
        Self(Some(Write::Plain(write)))
    }

    /// Makes a slot that overwrites with `value`.
    pub(crate) fn whole(value: T) -> Self {
        Self(Some(Write::Overwrite(value)))
    }

    /// Tells that nothing is written.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Adds `write` after the writes so far. An overwrite stays: it wins over every other write.
    pub fn write(&mut self, write: R::Write) {
        self.0 = Some(match self.0.take() {
            Some(Write::Plain(before)) => Write::Plain(R::then(before, write)),
            Some(Write::Overwrite(value)) => Write::Overwrite(value),
            None => Write::Plain(write),
        });
    }

    /// Overwrites the field with `value`.
    pub fn overwrite(&mut self, value: T) {
        self.0 = Some(Write::Overwrite(value));
    }

    /// Joins the writes of one node in one super-step: this, and then `after`.
    #[must_use]
    pub fn and(mut self, after: Self) -> Self {
        match after.0 {
            Some(Write::Plain(write)) => self.write(write),
            Some(Write::Overwrite(value)) => self.overwrite(value),
            None => {}
        }
        self
    }

    /// Joins the writes of two super-steps to `field`: this, and then `after`.
    ///
    /// # Errors
    ///
    /// [`ReduceError`], which names no node, when `after` does not fit the value of an overwrite.
    pub fn then(self, field: &str, after: Self) -> Result<Self, ReduceError> {
        let write = match (self.0, after.0) {
            (before, None) => return Ok(Self(before)),
            (None, after) | (_, after @ Some(Write::Overwrite(_))) => return Ok(Self(after)),
            (Some(Write::Plain(before)), Some(Write::Plain(after))) => {
                R::later(before, after).map(Write::Plain)
            }
            (Some(Write::Overwrite(value)), Some(Write::Plain(after))) => {
                merged::<T, R>(value, after).map(Write::Overwrite)
            }
        };
        write.map(|write| Self(Some(write))).map_err(|reason| nameless(field, reason))
    }

    /// Gives ids to the messages that have none.
    pub fn complete(&mut self, ids: &mut dyn FnMut() -> String) {
        match &mut self.0 {
            Some(Write::Plain(write)) => R::complete(write, ids),
            Some(Write::Overwrite(value)) => R::complete_value(value, ids),
            None => {}
        }
    }
}

impl<T, R: Reduce<T>> Slot<T, R> {
    /// Checks that the writes of one super-step to `field` can be merged into `value`. `slot` picks the field's slot of an
    /// update.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when they cannot.
    pub fn check<U>(
        field: &str,
        value: &T,
        writes: &[(&Arc<str>, &mut U)],
        slot: impl Fn(&U) -> &Self,
    ) -> Result<(), ReduceError> {
        match writes {
            [(node, update)] => slot(update).check_alone(field, value, node),
            several => {
                let slots = several.iter().map(|(node, update)| (*node, slot(update)));
                Self::check_written(field, value, slots)
            }
        }
    }

    /// Checks the write of a node whose super-step has no other: without lists a step of one integer takes a twentieth less
    /// (`cargo xtask bench loop`).
    fn check_alone(&self, field: &str, value: &T, node: &Arc<str>) -> Result<(), ReduceError> {
        let Some(Write::Plain(write)) = &self.0 else { return Ok(()) };
        let checked = R::check(value, &NodeWrites::of(node, write));
        checked.map_err(|reason| refused(field, std::iter::once(node), reason))
    }

    pub(crate) fn check_written<'a>(
        field: &str,
        value: &T,
        slots: impl Iterator<Item = (&'a Arc<str>, &'a Self)>,
    ) -> Result<(), ReduceError>
    where
        Self: 'a,
    {
        let (mut plain, mut overwrites) = (NodeWrites::default(), NodeWrites::default());
        for (node, slot) in slots {
            match &slot.0 {
                None => {}
                Some(Write::Plain(write)) => plain.push(node, write),
                Some(Write::Overwrite(_)) => overwrites.push(node, ()),
            }
        }
        let nodes =
            || plain.iter().map(|(node, _)| *node).chain(overwrites.iter().map(|(node, ())| *node));
        let mut over = overwrites.iter().map(|(node, ())| Arc::clone(node));
        match (over.next(), over.next()) {
            (Some(first), Some(second)) => {
                Err(refused(field, nodes(), Refused::TwoOverwrites { first, second }))
            }
            (Some(_), None) => Ok(()),
            _ if plain.is_empty() => Ok(()),
            _ => R::check(value, &plain).map_err(|reason| refused(field, nodes(), reason)),
        }
    }
}

impl<T, R: Code<T>> Slot<T, R> {
    /// Merges it.
    fn merge_alone(
        &mut self,
        field: &'static str,
        value: &mut T,
        node: &Arc<str>,
        resolved: &mut Resolved,
    ) -> Result<(), ReduceError> {
        let write = match self.0.take() {
            Some(Write::Plain(write)) => write,
            Some(Write::Overwrite(whole)) => {
                *value = whole;
                return Ok(());
            }
            None => return Ok(()),
        };
        let of_node = |reason: Refused| refused(field, std::iter::once(node), reason);
        let changes = R::reduce(value, NodeWrites::of(node, write)).map_err(of_node)?;
        let recorded = resolved.record::<T, R>(|| field.into(), value, changes);
        recorded.map_err(|error| of_node(error.into()))
    }

    pub(crate) fn merge<'a>(
        field: Cow<'static, str>,
        value: &mut T,
        slots: impl Iterator<Item = (&'a Arc<str>, &'a mut Self)>,
        resolved: &mut Resolved,
    ) -> Result<(), ReduceError>
    where
        Self: 'a,
    {
        let (mut plain, mut whole) = (NodeWrites::default(), None);
        for (node, slot) in slots {
            match slot.0.take() {
                None => {}
                Some(Write::Plain(write)) => plain.push(node, write),
                Some(Write::Overwrite(value)) => whole = Some((node, value)),
            }
        }
        let nodes: NodeWrites<'_, ()> = plain.iter().map(|(node, _)| (*node, ())).collect();
        let of_node =
            |reason: Refused| refused(&field, nodes.iter().map(|(node, ())| *node), reason);
        if let Some((_, whole)) = whole {
            // The plain writes are lost, and a log without the value would apply them.
            if !plain.is_empty() && resolved.recorded {
                let stored = R::store_value(&whole).map_err(|error| of_node(error.into()))?;
                if let Some(stored) = stored {
                    resolved.changes.push(field, Change::Set(stored.to_stored()));
                }
            }
            *value = whole;
            return Ok(());
        }
        if plain.is_empty() {
            return Ok(());
        }
        let changes = R::reduce(value, plain).map_err(of_node)?;
        let recorded = resolved.record::<T, R>(|| field.clone(), value, changes);
        recorded.map_err(|error| of_node(error.into()))
    }
}

/// What a slot does with what is stored, and with JSON. It is a trait so that a type which cannot be stored is one error, and not one for
/// each method of its slot.
pub trait StoredSlot<T>: Sized {
    /// Merges the writes of one super-step to `field` into `value`, and empties their slots. Adds to `resolved` the changes
    /// that a log needs besides the writes.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when they cannot be merged. [`Slot::check`] finds that before anything is changed.
    fn apply<U>(
        field: &'static str,
        value: &mut T,
        writes: &mut [(&Arc<str>, &mut U)],
        slot: impl Fn(&mut U) -> &mut Self,
        resolved: &mut Resolved,
    ) -> Result<(), ReduceError>;

    /// Encodes the write into `changes`.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a value's `Serialize` fails.
    fn store(
        &self,
        field: impl Into<Cow<'static, str>>,
        changes: &mut Changes,
    ) -> Result<(), StoredError>;

    /// Reads the write of `field` out of `changes`.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    fn load(field: &str, changes: &Changes) -> Result<Self, StoredError>;

    /// Encodes the value of the field into `fields`. A transient one is left out.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the value's `Serialize` fails.
    fn store_value(name: &str, value: &T, fields: &mut Fields) -> Result<(), StoredError>;

    /// Takes the field out of `fields`, under the first of `names` that is there.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    fn load_value(names: &[&str], fields: &mut Fields) -> Result<Option<T>, StoredError>;

    /// Reads the write of `field` out of `json`, which keeps the faults.
    fn from_json(field: &str, json: &mut JsonFields) -> Self;

    /// Writes the changes into `json`. A field that is not written is left out.
    ///
    /// # Errors
    ///
    /// [`NoJson`] when the write has no JSON.
    fn to_json(&self, field: &str, json: &mut Map<String, Value>) -> Result<(), NoJson>;

    /// Writes the value of the field into `json`. A transient one is left out.
    ///
    /// # Errors
    ///
    /// [`NoJson`] when the value has no JSON.
    fn value_to_json(field: &str, value: &T, json: &mut Map<String, Value>) -> Result<(), NoJson>;
}

impl<T: Clone, R: Code<T>> StoredSlot<T> for Slot<T, R> {
    fn apply<U>(
        field: &'static str,
        value: &mut T,
        writes: &mut [(&Arc<str>, &mut U)],
        slot: impl Fn(&mut U) -> &mut Self,
        resolved: &mut Resolved,
    ) -> Result<(), ReduceError> {
        match writes {
            [(node, update)] => slot(update).merge_alone(field, value, node, resolved),
            several => {
                let slots = several.iter_mut().map(|(node, update)| (*node, slot(update)));
                Self::merge(field.into(), value, slots, resolved)
            }
        }
    }

    fn store(
        &self,
        field: impl Into<Cow<'static, str>>,
        changes: &mut Changes,
    ) -> Result<(), StoredError> {
        let field = field.into();
        match &self.0 {
            None => {}
            Some(Write::Plain(write)) => {
                R::store(write)?.into_iter().for_each(|change| changes.push(field.clone(), change));
            }
            Some(Write::Overwrite(value)) => {
                if let Some(field_value) = R::store_value(value)? {
                    changes.push(field, Change::Set(field_value.to_stored()));
                }
            }
        }
        Ok(())
    }

    fn load(field: &str, changes: &Changes) -> Result<Self, StoredError> {
        let of_field: Vec<_> =
            changes.0.iter().filter(|(name, _)| name == field).map(|(_, change)| change).collect();
        let write = match of_field.as_slice() {
            [] => return Ok(Self(None)),
            [Change::Set(value)] if R::HAS_OVERWRITE => {
                R::load_value(Field::Value(value.clone())).map(Write::Overwrite)
            }
            several => R::load(several).map(Write::Plain),
        };
        write.map(|write| Self(Some(write))).map_err(|error| error.of_field(field))
    }

    fn store_value(name: &str, value: &T, fields: &mut Fields) -> Result<(), StoredError> {
        if let Some(field) = R::store_value(value)? {
            fields.insert(name, field);
        }
        Ok(())
    }

    fn load_value(names: &[&str], fields: &mut Fields) -> Result<Option<T>, StoredError> {
        let stored = names.iter().find_map(|name| Some((name, fields.take(name)?)));
        let Some((name, field)) = stored else { return Ok(None) };
        R::load_value(field).map(Some).map_err(|error| error.of_field(name))
    }

    fn from_json(field: &str, json: &mut JsonFields) -> Self {
        Self(json.read(field, R::from_json).map(Write::Plain))
    }

    fn to_json(&self, field: &str, json: &mut Map<String, Value>) -> Result<(), NoJson> {
        let changes = match &self.0 {
            None => return Ok(()),
            Some(Write::Plain(write)) => R::to_json(write),
            Some(Write::Overwrite(value)) => R::overwrite_to_json(value)
                .map(|set| set.map(|set| ("set", set)).into_iter().collect()),
        };
        let changes = changes.map_err(|error| error.within(field))?;
        if !changes.is_empty() {
            json.insert(field.to_owned(), changes.into_iter().collect());
        }
        Ok(())
    }

    fn value_to_json(field: &str, value: &T, json: &mut Map<String, Value>) -> Result<(), NoJson> {
        if let Some(value) = R::value_to_json(value).map_err(|error| error.within(field))? {
            json.insert(field.to_owned(), value);
        }
        Ok(())
    }
}

/// Merges `write`, as the only write of a super-step, into `value`.
fn merged<T, R: Reduce<T>>(mut value: T, write: R::Write) -> Result<T, Refused> {
    let unnamed = Arc::from("");
    let mut writes = NodeWrites::default();
    writes.push(&unnamed, &write);
    R::check(&value, &writes)?;
    // What the reducer resolved is within the value, which is stored whole.
    R::reduce(&mut value, writes.cloned())?;
    Ok(value)
}

/// The error of the writes of `nodes`.
#[cold]
fn refused<'a>(
    field: &str,
    nodes: impl Iterator<Item = &'a Arc<str>>,
    reason: Refused,
) -> ReduceError {
    match reason {
        Refused::Nested(inner) => inner.within(field),
        reason => ReduceError { field: field.to_owned(), nodes: nodes.cloned().collect(), reason },
    }
}

/// The error of writes whose nodes are not known.
fn nameless(field: &str, reason: Refused) -> ReduceError {
    match reason {
        Refused::Nested(inner) => ReduceError { nodes: Vec::new(), ..inner.within(field) },
        reason => ReduceError { field: field.to_owned(), nodes: Vec::new(), reason },
    }
}

impl<T: Clone, R: Reduce<T>> Clone for Slot<T, R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T, R: Reduce<T>> Default for Slot<T, R> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T, R: Reduce<T>> fmt::Debug for Slot<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            None => "nothing",
            Some(Write::Plain(_)) => "a write",
            Some(Write::Overwrite(_)) => "an overwrite",
        })
    }
}

impl<T: Clone, R: Reduce<T>> Clone for Write<T, R> {
    fn clone(&self) -> Self {
        match self {
            Self::Plain(write) => Self::Plain(write.clone()),
            Self::Overwrite(value) => Self::Overwrite(value.clone()),
        }
    }
}

impl<T, R: Reduce<T>> fmt::Debug for Write<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain(…)",
            Self::Overwrite(_) => "Overwrite(…)",
        })
    }
}

/// The changes that a merge gives besides the writes. They are collected only where a log records them.
#[derive(Debug)]
pub struct Resolved {
    changes: Changes,
    recorded: bool,
}

impl Resolved {
    /// No changes so far. Unless they are `recorded`, none are added.
    pub fn new(recorded: bool) -> Self {
        Self { changes: Changes::default(), recorded }
    }

    /// Adds the result of a merge that gave `value` and `changes`, if it is to be recorded.
    fn record<T, R: Code<T>>(
        &mut self,
        field: impl Fn() -> Cow<'static, str>,
        value: &T,
        changes: Vec<Change>,
    ) -> Result<(), StoredError> {
        if self.recorded {
            let changes = R::resolved(value, changes)?;
            changes.into_iter().for_each(|change| self.changes.push(field(), change));
        }
        Ok(())
    }

    /// The changes.
    pub fn into_changes(self) -> Changes {
        self.changes
    }
}
