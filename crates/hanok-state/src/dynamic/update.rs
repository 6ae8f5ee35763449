//! What a node writes to a state whose fields are declared at run time.

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::Arc};

use hanok_core::{Changes, StoredError};
use serde_json::Value;

use super::{DynamicState, declared::Declared, json::Said, slots::AnySlot};
use crate::{error::ReduceError, state::StateUpdate};

/// What a node writes to a [`DynamicState`]: fields by name, each with JSON that its rule reads.
///
/// It does not know the rules until [`State::bind`](crate::State::bind) or [`State::reduce`](crate::State::reduce)
/// says them, so it is there that a field that does not exist, or JSON that does not fit its rule, is refused. An update
/// that is not bound cannot be stored, and its messages have no ids.
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
pub struct DynamicUpdate(Told);

/// What an update was told so far.
#[derive(Clone)]
pub(crate) enum Told {
    /// By a program, to one field.
    Said(Arc<str>, Said),
    /// By a log.
    Stored(Changes),
    /// With the rules known.
    Bound(Bound),
    /// In one super-step.
    All(Vec<Told>),
    /// In one super-step after the other.
    Steps(Vec<Told>),
}

/// Writes by the place of their field in a schema.
#[derive(Clone)]
pub(crate) struct Bound {
    pub(crate) declared: Arc<Declared>,
    pub(crate) slots: BTreeMap<usize, AnySlot>,
}

impl Bound {
    /// This and `after`, which is of the same schema, in one super-step.
    pub(crate) fn and(mut self, after: Self) -> Self {
        for (at, slot) in after.slots {
            let slot = match self.slots.remove(&at) {
                Some(before) => before.and(slot),
                None => slot,
            };
            self.slots.insert(at, slot);
        }
        self
    }

    /// This, and then `after`, which is of the same schema.
    pub(crate) fn then(mut self, after: Self) -> Result<Self, ReduceError> {
        for (at, slot) in after.slots {
            let slot = match (self.slots.remove(&at), self.declared.fields.get(at)) {
                (Some(before), Some(field)) => before.then(&field.name, slot)?,
                _ => slot,
            };
            self.slots.insert(at, slot);
        }
        Ok(self)
    }

    /// The names of the fields that are written, with what is written.
    fn written(&self) -> impl Iterator<Item = (&Arc<str>, &AnySlot)> {
        let field = |at: &usize| self.declared.fields.get(*at);
        self.slots.iter().filter_map(move |(at, slot)| Some((&field(at)?.name, slot)))
    }
}

impl DynamicUpdate {
    /// An update that writes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes `value` to `field`, under the field's rule; [`DynamicRule`](crate::DynamicRule) says what each takes.
    ///
    /// A message is a text that a person says, or an object as [`Message`](crate::Message) is serialised, as OpenAI's
    /// chat completions have it, or LangChain; several are an array.
    pub fn set(self, field: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.said(field, Said::Write(value.into()))
    }

    /// Puts `value` in the place of `field`, over every other write of the super-step: an array under `append` and
    /// `messages`, an object under `merge`, a number under `sum`. Under `last` it is a write like any other.
    pub fn overwrite(self, field: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.said(field, Said::Overwrite(value.into()))
    }

    /// Removes a key of a `merge` field, if it is there, or the message with this id, which has to be.
    pub fn remove(self, field: impl Into<Arc<str>>, key: impl Into<String>) -> Self {
        self.said(field, Said::Remove(key.into()))
    }

    fn said(self, field: impl Into<Arc<str>>, said: Said) -> Self {
        self.and(Self(Told::Said(field.into(), said)))
    }

    pub(crate) fn of(bound: Bound) -> Self {
        Self(Told::Bound(bound))
    }

    pub(crate) fn told(self) -> Told {
        self.0
    }
}

impl Default for DynamicUpdate {
    fn default() -> Self {
        Self(Told::All(Vec::new()))
    }
}

impl Told {
    fn is_empty(&self) -> bool {
        match self {
            Self::Said(..) => false,
            Self::Stored(changes) => changes.is_empty(),
            Self::Bound(bound) => bound.slots.is_empty(),
            Self::All(several) | Self::Steps(several) => several.iter().all(Self::is_empty),
        }
    }

    fn written<'a>(&'a self, names: &mut Vec<Cow<'a, str>>) {
        let mut add = |name: &'a str| {
            if !names.iter().any(|known| known == name) {
                names.push(Cow::Borrowed(name));
            }
        };
        match self {
            Self::Said(field, _) => add(field),
            Self::Stored(changes) => changes.0.iter().for_each(|(field, _)| add(field)),
            Self::Bound(bound) => bound.written().for_each(|(field, _)| add(field)),
            Self::All(several) | Self::Steps(several) => {
                several.iter().for_each(|told| told.written(names));
            }
        }
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

    /// In the order they are declared once the update is bound, until then in the order they are written.
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
            (Told::Bound(before), Told::Bound(after)) if before.is_like(&after) => {
                Told::Bound(before.and(after))
            }
            (Told::All(mut all), after) => {
                all.push(after);
                Told::All(all)
            }
            (before, after) => Told::All(vec![before, after]),
        })
    }

    fn then(self, after: Self) -> Result<Self, ReduceError> {
        if self.is_empty() {
            return Ok(after);
        }
        Ok(Self(match (self.0, after.0) {
            (Told::Bound(before), Told::Bound(after)) if before.is_like(&after) => {
                Told::Bound(before.then(after)?)
            }
            (Told::Steps(mut steps), after) => {
                steps.push(after);
                Told::Steps(steps)
            }
            (before, after) => Told::Steps(vec![before, after]),
        }))
    }

    fn complete(&mut self, ids: &mut dyn FnMut() -> String) {
        if let Told::Bound(bound) = &mut self.0 {
            bound.slots.values_mut().for_each(|slot| slot.complete(ids));
        }
    }

    fn to_changes(&self) -> Result<Changes, StoredError> {
        match &self.0 {
            Told::Bound(bound) => {
                let mut changes = Changes::default();
                bound.written().try_for_each(|(name, slot)| slot.store(name, &mut changes))?;
                Ok(changes)
            }
            Told::Stored(changes) => Ok(changes.clone()),
            told if told.is_empty() => Ok(Changes::default()),
            _ => Err(StoredError::Encode {
                reason: "the update is not bound to the state that says its rules".to_owned(),
            }),
        }
    }

    fn from_changes(changes: &Changes) -> Result<Self, StoredError> {
        Ok(Self(Told::Stored(changes.clone())))
    }
}

impl Bound {
    fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.declared, &other.declared)
    }
}
