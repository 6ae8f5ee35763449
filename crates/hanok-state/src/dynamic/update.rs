//! The update of a state whose fields are declared at run time.

use std::{borrow::Cow, fmt, sync::Arc};

use hanok_core::{Changes, StoredError};
use serde::ser::Error as _;
use serde_json::{Map, Value};

use super::{
    bound::Bound, declared::Declared, json::JsonWrite, state::DynamicState, writes::DynamicWrites,
};
use crate::{
    error::ReduceError,
    json_error::{InvalidJson, NoJson},
    read_json::JsonFields,
    state::StateUpdate,
};

const UNBOUND: &str = "the update is not bound to the state that says its rules";

/// The update of a [`DynamicState`]: fields by name, each with JSON that its rule reads.
///
/// It has no rules until [`State::bind`](crate::State::bind) or [`State::reduce`](crate::State::reduce) binds it to those of a
/// state. Only these refuse a field that does not exist, or JSON that does not fit its rule. An update that is not bound cannot
/// be stored, and its messages have no ids.
///
/// ```
/// use hanok_state::{DynamicSchema, DynamicUpdate, DynamicRule, State};
///
/// let mut state = DynamicSchema::new("count").field("hits", DynamicRule::Sum).state()?;
/// state.reduce(vec![("a".into(), DynamicUpdate::new().set("hits", 2).set("hits", 3))])?;
/// assert_eq!(state.get("hits"), Some(5.into()));
///
/// let error = state.reduce(vec![("a".into(), DynamicUpdate::new().set("hit", 1))]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "field `hit`: `a` wrote it, and the state has no such field; there are `hits`"
/// );
/// # Ok::<(), hanok_core::BoxError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct DynamicUpdate(DynamicWrites);

impl DynamicUpdate {
    /// Makes an update that writes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes `value` to `field`, under the rule of the field. [`DynamicRule`](crate::DynamicRule) has the JSON that each takes.
    ///
    /// Messages and their removals are read as in [any other state](crate#json).
    pub fn set(self, field: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.write(field, JsonWrite::Value(value.into()))
    }

    /// Overwrites `field` with `value`, over every other write of the super-step: an array under `append` and `messages`, an
    /// object under `merge`, a number under `sum`. Under `last` it is a write like any other.
    ///
    /// ```
    /// use hanok_state::{DynamicRule, DynamicSchema, DynamicUpdate, State};
    ///
    /// let mut state = DynamicSchema::new("count").field("hits", DynamicRule::Sum).state()?;
    /// let (a, b) = (DynamicUpdate::new().set("hits", 5), DynamicUpdate::new().overwrite("hits", 1));
    /// state.reduce(vec![("a".into(), a), ("b".into(), b)])?;
    /// assert_eq!(state.get("hits"), Some(1.into()));
    /// # Ok::<(), hanok_core::BoxError>(())
    /// ```
    pub fn overwrite(self, field: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.write(field, JsonWrite::Overwrite(value.into()))
    }

    /// Removes a key of a `merge` field, or the message with this id. A key may be absent, a message has to be there.
    ///
    /// ```
    /// use hanok_state::{DynamicField, DynamicRule, DynamicSchema, DynamicUpdate, State};
    /// use serde_json::json;
    ///
    /// let field = DynamicField::new(DynamicRule::Merge).default(json!({"law": 12, "tax": 3}));
    /// let mut state = DynamicSchema::new("answers").field("articles", field).state()?;
    /// let update = DynamicUpdate::new().remove("articles", "tax").remove("articles", "visa");
    /// state.reduce(vec![("a".into(), update)])?;
    /// assert_eq!(state.get("articles"), Some(json!({"law": 12})));
    /// # Ok::<(), hanok_core::BoxError>(())
    /// ```
    pub fn remove(self, field: impl Into<Arc<str>>, key: impl Into<String>) -> Self {
        self.write(field, JsonWrite::Remove(key.into()))
    }

    fn write(self, field: impl Into<Arc<str>>, write: JsonWrite) -> Self {
        self.and(Self(DynamicWrites::Field(field.into(), write)))
    }

    pub(crate) fn of(bound: Bound) -> Self {
        Self(DynamicWrites::Bound(bound))
    }

    /// Binds what `node` wrote to the rules of `declared`, and leaves an update that writes nothing.
    pub(crate) fn take_bound(
        &mut self,
        declared: &Arc<Declared>,
        node: &Arc<str>,
    ) -> Result<Bound, ReduceError> {
        std::mem::take(self).0.bind(declared, node)
    }
}

impl Default for DynamicUpdate {
    fn default() -> Self {
        Self(DynamicWrites::Together(Vec::new()))
    }
}

impl fmt::Debug for DynamicUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicUpdate").field(&self.written()).finish()
    }
}

impl StateUpdate for DynamicUpdate {
    type State = DynamicState;

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names are in the order of the schema once the update is bound, and until then in that of the writes.
    fn written(&self) -> Vec<Cow<'_, str>> {
        let mut names = Vec::new();
        self.0.written(&mut names);
        names
    }

    fn and(self, after: Self) -> Self {
        if self.is_empty() {
            return after;
        }
        Self(match (self.0, after.0) {
            (DynamicWrites::Bound(before), DynamicWrites::Bound(after))
                if before.is_of(&after.declared) =>
            {
                DynamicWrites::Bound(before.and(after))
            }
            (DynamicWrites::Together(mut all), after) => {
                all.push(after);
                DynamicWrites::Together(all)
            }
            (before, after) => DynamicWrites::Together(vec![before, after]),
        })
    }

    fn then(self, after: Self) -> Result<Self, ReduceError> {
        if self.is_empty() {
            return Ok(after);
        }
        Ok(Self(match (self.0, after.0) {
            (DynamicWrites::Bound(before), DynamicWrites::Bound(after))
                if before.is_of(&after.declared) =>
            {
                DynamicWrites::Bound(before.then(after)?)
            }
            (DynamicWrites::Steps(mut steps), after) => {
                steps.push(after);
                DynamicWrites::Steps(steps)
            }
            (before, after) => DynamicWrites::Steps(vec![before, after]),
        }))
    }

    fn complete(&mut self, ids: &mut dyn FnMut() -> String) {
        if let DynamicWrites::Bound(bound) = &mut self.0 {
            bound.slots.values_mut().for_each(|slot| slot.complete(ids));
        }
    }

    fn to_changes(&self) -> Result<Changes, StoredError> {
        match &self.0 {
            DynamicWrites::Bound(bound) => {
                let mut changes = Changes::default();
                bound.written().try_for_each(|(name, slot)| slot.store(name, &mut changes))?;
                Ok(changes)
            }
            DynamicWrites::Stored(changes) => Ok(changes.clone()),
            writes if writes.is_empty() => Ok(Changes::default()),
            _ => Err(StoredError::Encode { reason: UNBOUND.to_owned() }),
        }
    }

    fn from_changes(changes: &Changes) -> Result<Self, StoredError> {
        Ok(Self(DynamicWrites::Stored(changes.clone())))
    }

    /// The update is not bound: what does not fit the rules shows when it is. [`State::read_update`](crate::State::read_update)
    /// says all of it at once.
    fn from_json(json: Value) -> Result<Self, InvalidJson> {
        let fields = JsonFields::new(json)?.into_unread();
        Ok(fields.into_iter().fold(Self::new(), |update, (field, value)| update.set(field, value)))
    }

    /// An update that is not bound has none, unless it writes nothing.
    fn to_json(&self) -> Result<Value, NoJson> {
        let mut json = Map::new();
        match &self.0 {
            DynamicWrites::Bound(bound) => {
                bound.written().try_for_each(|(name, slot)| slot.to_json(name, &mut json))?;
            }
            _ => {
                if let Some(field) = self.written().first() {
                    return Err(NoJson::of(serde_json::Error::custom(UNBOUND)).within(field));
                }
            }
        }
        Ok(json.into())
    }
}
