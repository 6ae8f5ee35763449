//! A write to a field, under whichever rule the field has.

use std::{borrow::Cow, sync::Arc};

use hanok_core::{Changes, StoredError};

use super::{
    rule::DynamicRule,
    sum::{Add, Total},
};
use crate::{
    collections::{list::List, map::Map},
    error::ReduceError,
    json::Json,
    messages::conversation::Messages,
    rules::{
        append::Append, last_value::LastValue, merge::Merge, messages::MessageIds,
        operations::Operations,
    },
    slot::Slot,
};

/// A JSON value whose clones share it.
pub(crate) type Item = Arc<Json>;

/// What an update holds for a field.
#[derive(Debug, Clone)]
pub(crate) enum AnySlot {
    Last(Slot<Item, LastValue>),
    Append(Slot<List<Item>, Append>),
    Merge(Slot<Map<String, Item>, Merge>),
    Messages(Slot<Messages, MessageIds>),
    Sum(Slot<Total, Operations<Add>>),
}

/// The same of a slot, whichever rule it has.
macro_rules! each {
    ($slot:expr, $it:ident => $what:expr) => {
        match $slot {
            AnySlot::Last($it) => $what,
            AnySlot::Append($it) => $what,
            AnySlot::Merge($it) => $what,
            AnySlot::Messages($it) => $what,
            AnySlot::Sum($it) => $what,
        }
    };
}

impl AnySlot {
    pub(crate) fn rule(&self) -> DynamicRule {
        match self {
            Self::Last(_) => DynamicRule::Last,
            Self::Append(_) => DynamicRule::Append,
            Self::Merge(_) => DynamicRule::Merge,
            Self::Messages(_) => DynamicRule::Messages,
            Self::Sum(_) => DynamicRule::Sum,
        }
    }

    pub(crate) fn load(
        rule: DynamicRule,
        name: &str,
        changes: &Changes,
    ) -> Result<Self, StoredError> {
        Ok(match rule {
            DynamicRule::Last => Self::Last(Slot::load(name, changes)?),
            DynamicRule::Append => Self::Append(Slot::load(name, changes)?),
            DynamicRule::Merge => Self::Merge(Slot::load(name, changes)?),
            DynamicRule::Messages => Self::Messages(Slot::load(name, changes)?),
            DynamicRule::Sum => Self::Sum(Slot::load(name, changes)?),
        })
    }

    pub(crate) fn store(&self, name: &str, changes: &mut Changes) -> Result<(), StoredError> {
        let name = Cow::Owned(name.to_owned());
        each!(self, slot => slot.store(name, changes))
    }

    pub(crate) fn complete(&mut self, ids: &mut dyn FnMut() -> String) {
        each!(self, slot => slot.complete(ids));
    }

    /// This and `after` in one super-step.
    pub(crate) fn and(self, after: Self) -> Self {
        match (self, after) {
            (Self::Last(a), Self::Last(b)) => Self::Last(a.and(b)),
            (Self::Append(a), Self::Append(b)) => Self::Append(a.and(b)),
            (Self::Merge(a), Self::Merge(b)) => Self::Merge(a.and(b)),
            (Self::Messages(a), Self::Messages(b)) => Self::Messages(a.and(b)),
            (Self::Sum(a), Self::Sum(b)) => Self::Sum(a.and(b)),
            (_, after) => after,
        }
    }

    /// This, and then `after` in a later super-step.
    pub(crate) fn then(self, field: &str, after: Self) -> Result<Self, ReduceError> {
        Ok(match (self, after) {
            (Self::Last(a), Self::Last(b)) => Self::Last(a.then(field, b)?),
            (Self::Append(a), Self::Append(b)) => Self::Append(a.then(field, b)?),
            (Self::Merge(a), Self::Merge(b)) => Self::Merge(a.then(field, b)?),
            (Self::Messages(a), Self::Messages(b)) => Self::Messages(a.then(field, b)?),
            (Self::Sum(a), Self::Sum(b)) => Self::Sum(a.then(field, b)?),
            (_, after) => after,
        })
    }
}
