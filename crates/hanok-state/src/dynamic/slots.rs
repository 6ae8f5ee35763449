//! One field under one of the rules: its value, a write, and the writes of a super-step. What the rules do is what they
//! do for every other state.

use std::{borrow::Cow, sync::Arc};

use hanok_core::{Changes, Fields, StoredError};
use serde_json::Value;

use super::{
    DynamicRule,
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
    slot::{Resolved, Slot},
};

/// A JSON value whose clones share it.
pub(crate) type Item = Arc<Json>;

/// What a field holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AnyValue {
    Last(Item),
    Append(List<Item>),
    Merge(Map<String, Item>),
    Messages(Messages),
    Sum(Total),
}

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

/// The same of a value and the slots that have its rule, as all of a bound update have.
macro_rules! with_slots {
    ($value:expr, $slots:expr, ($it:ident, $written:ident) => $what:expr) => {
        with_slots!(@ $value, $slots, ($it, $written) => $what, Last Append Merge Messages Sum)
    };
    (@ $value:expr, $slots:expr, ($it:ident, $written:ident) => $what:expr, $($rule:ident)*) => {
        match $value {
            $(AnyValue::$rule($it) => {
                let $written = $slots.filter_map(|(node, slot)| match slot {
                    AnySlot::$rule(slot) => Some((*node, slot)),
                    _ => None,
                });
                $what
            })*
        }
    };
}

impl AnyValue {
    /// Checks that what nodes wrote can be merged into the value.
    pub(crate) fn check(
        &self,
        field: &str,
        slots: &[(&Arc<str>, AnySlot)],
    ) -> Result<(), ReduceError> {
        with_slots!(self, slots.iter(), (value, slots) => Slot::check_written(field, value, slots))
    }

    /// Merges what nodes wrote into the value.
    pub(crate) fn merge(
        &mut self,
        field: &str,
        slots: &mut [(&Arc<str>, AnySlot)],
        resolved: &mut Resolved,
    ) -> Result<(), ReduceError> {
        let field = Cow::Owned(field.to_owned());
        with_slots!(self, slots.iter_mut(), (value, slots) => Slot::merge(field, value, slots, resolved))
    }

    /// What the rule begins with.
    pub(crate) fn empty(rule: DynamicRule) -> Self {
        match rule {
            DynamicRule::Last => Self::Last(Item::default()),
            DynamicRule::Append => Self::Append(List::default()),
            DynamicRule::Merge => Self::Merge(Map::default()),
            DynamicRule::Messages => Self::Messages(Messages::default()),
            DynamicRule::Sum => Self::Sum(Total::default()),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Last(value) => value.0.clone(),
            Self::Append(items) => items.iter().map(|item| item.0.clone()).collect(),
            Self::Merge(entries) => {
                entries.iter().map(|(key, item)| (key.clone(), item.0.clone())).collect()
            }
            // A message has no part that JSON has no form for.
            Self::Messages(messages) => serde_json::to_value(messages).unwrap_or_default(),
            Self::Sum(Total(total)) => total.0.clone(),
        }
    }

    /// The write that puts this value over everything. A last value has no other.
    pub(crate) fn overwrite(self) -> AnySlot {
        match self {
            Self::Last(value) => AnySlot::Last(Slot::plain(value)),
            Self::Append(value) => AnySlot::Append(Slot::whole(value)),
            Self::Merge(value) => AnySlot::Merge(Slot::whole(value)),
            Self::Messages(value) => AnySlot::Messages(Slot::whole(value)),
            Self::Sum(value) => AnySlot::Sum(Slot::whole(value)),
        }
    }

    pub(crate) fn store(&self, name: &str, fields: &mut Fields) -> Result<(), StoredError> {
        match self {
            Self::Last(value) => Slot::<_, LastValue>::store_value(name, value, fields),
            Self::Append(value) => Slot::<_, Append>::store_value(name, value, fields),
            Self::Merge(value) => Slot::<_, Merge>::store_value(name, value, fields),
            Self::Messages(value) => Slot::<_, MessageIds>::store_value(name, value, fields),
            Self::Sum(value) => Slot::<_, Operations<Add>>::store_value(name, value, fields),
        }
    }

    /// Takes a stored value out of `fields`.
    pub(crate) fn load(
        rule: DynamicRule,
        name: &str,
        fields: &mut Fields,
    ) -> Result<Option<Self>, StoredError> {
        let names = [name];
        Ok(match rule {
            DynamicRule::Last => Slot::<_, LastValue>::load_value(&names, fields)?.map(Self::Last),
            DynamicRule::Append => Slot::<_, Append>::load_value(&names, fields)?.map(Self::Append),
            DynamicRule::Merge => Slot::<_, Merge>::load_value(&names, fields)?.map(Self::Merge),
            DynamicRule::Messages => {
                Slot::<_, MessageIds>::load_value(&names, fields)?.map(Self::Messages)
            }
            DynamicRule::Sum => {
                Slot::<_, Operations<Add>>::load_value(&names, fields)?.map(Self::Sum)
            }
        })
    }
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
