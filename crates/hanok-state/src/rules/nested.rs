//! The rule of `#[reduce(nested)]`.

use std::fmt;

use hanok_core::{Change, Changes, Field, Fields, StoredError};
use serde_json::Value;

use super::macros::other_shape;
use crate::{
    code::Code,
    error::Refused,
    json_error::{InvalidJson, NoJson},
    reduce::Reduce,
    state::{State, StateUpdate},
    writes::NodeWrites,
};

/// A state within a state. The writes of two writers are merged field by field.
///
/// ```
/// # use hanok_state::State;
/// #[derive(State, Clone, Default)]
/// struct Child {
///     done: bool,
///     #[reduce(append)]
///     notes: Vec<u32>,
/// }
///
/// #[derive(State, Clone, Default)]
/// struct Parent {
///     #[reduce(nested)]
///     child: Child,
/// }
///
/// let mut parent = Parent::default();
/// let a = Parent::update().child(Child::update().push_notes(1).done(true));
/// let b = Parent::update().child(Child::update().push_notes(2));
/// parent.reduce(vec![("a".into(), a), ("b".into(), b)])?;
/// assert_eq!((parent.child.notes, parent.child.done), (vec![1, 2], true));
///
/// let both = ["a", "b"].map(|node| (node.into(), Parent::update().child(Child::update().done(true))));
/// assert_eq!(Parent::default().reduce(both.into()).unwrap_err().field, "child.done");
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
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

    fn check(value: &T, writes: &NodeWrites<'_, &Self::Write>) -> Result<(), Refused> {
        // Cloning a state costs a pointer per field.
        Self::reduce(&mut value.clone(), writes.cloned()).map(drop)
    }

    fn reduce(value: &mut T, writes: NodeWrites<'_, Self::Write>) -> Result<Vec<Change>, Refused> {
        let mut writes: Vec<_> = writes.into_iter().collect();
        // Only the changes of these rules are resolved, and only then all writes are repeated beside them.
        let resolves =
            writes.len() > 1 || value.schema().fields.iter().any(|field| field.rule.resolves());
        let mut written = Changes::default();
        if resolves {
            for (_, write) in &writes {
                written.0.extend(write.0.to_changes()?.0);
            }
        }
        let mut updates: Vec<_> =
            writes.iter_mut().map(|(node, write)| (*node, &mut write.0)).collect();
        let resolved = value
            .merge_writes(&mut updates, true)
            .map_err(|error| Refused::Nested(Box::new(error)))?;
        if resolved.is_empty() {
            return Ok(Vec::new());
        }
        written.0.retain(|(field, _)| resolved.get(field).is_none());
        written.0.extend(resolved.0);
        Ok(vec![Change::Nested(written)])
    }

    fn complete(write: &mut Self::Write, ids: &mut dyn FnMut() -> String) {
        write.0.complete(ids);
    }
}

impl<T: State> Code<T> for Nested {
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
            other => Fields::from_stored(&other.to_stored())?,
        };
        T::from_fields(&mut fields)
    }

    fn from_json(json: Value) -> Result<Self::Write, InvalidJson> {
        T::Update::from_json(json).map(NestedWrite)
    }

    fn to_json(write: &Self::Write) -> Result<Vec<(&'static str, Value)>, NoJson> {
        Ok(vec![("nested", write.0.to_json()?)])
    }

    fn value_to_json(value: &T) -> Result<Option<Value>, NoJson> {
        value.to_json().map(Some)
    }
}

/// The update of one node to a nested state.
pub struct NestedWrite<T: State>(T::Update);

impl<T: State> NestedWrite<T> {
    /// Makes the write of `update`.
    pub fn new(update: T::Update) -> Self {
        Self(update)
    }
}

impl<T: State> Clone for NestedWrite<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: State> fmt::Debug for NestedWrite<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
