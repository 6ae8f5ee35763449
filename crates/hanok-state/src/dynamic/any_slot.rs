//! A write to a field, under whichever rule the field has.

use std::{borrow::Cow, sync::Arc};

use hanok_core::{Changes, StoredError};
use serde_json::Value;

use super::{
    rule::DynamicRule,
    sum::{Add, Total},
};
use crate::{
    collections::{list::List, map::Map},
    error::ReduceError,
    json::Json,
    json_error::NoJson,
    messages::conversation::Messages,
    rules::{
        append::Append, last_value::LastValue, merge::Merge, messages::MessageIds,
        operations::Operations,
    },
    slot::{Slot, StoredSlot},
};

/// A JSON value whose clones share it.
pub(crate) type Item = Arc<Json>;

/// The slot of an update for a field.
#[derive(Debug, Clone)]
pub(crate) enum AnySlot {
    Last(Slot<Item, LastValue>),
    Append(Slot<List<Item>, Append>),
    Merge(Slot<Map<String, Item>, Merge>),
    Messages(Slot<Messages, MessageIds>),
    Sum(Slot<Total, Operations<Add>>),
}

/// One expression for a slot, whichever rule it has.
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

/// One slot of two that have the same rule; the second of two that have not, as no two of one field.
macro_rules! both {
    ($before:expr, $after:ident, $it:ident => $what:expr) => {
        both!(@ $before, $after, $it => $what, Last Append Merge Messages Sum)
    };
    (@ $before:expr, $after:ident, $it:ident => $what:expr, $($rule:ident)*) => {
        match ($before, $after) {
            $((AnySlot::$rule($it), AnySlot::$rule($after)) => AnySlot::$rule($what),)*
            (_, $after) => $after,
        }
    };
}

/// The variant of a type that has one for each rule.
macro_rules! of_rule {
    ($rule:expr, $type:ident, $value:expr) => {
        match $rule {
            DynamicRule::Last => $type::Last($value),
            DynamicRule::Append => $type::Append($value),
            DynamicRule::Merge => $type::Merge($value),
            DynamicRule::Messages => $type::Messages($value),
            DynamicRule::Sum => $type::Sum($value),
        }
    };
}
pub(super) use of_rule;

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
        Ok(of_rule!(rule, Self, Slot::load(name, changes)?))
    }

    pub(crate) fn store(&self, name: &str, changes: &mut Changes) -> Result<(), StoredError> {
        let name = Cow::Owned(name.to_owned());
        each!(self, slot => slot.store(name, changes))
    }

    pub(crate) fn to_json(
        &self,
        name: &str,
        json: &mut serde_json::Map<String, Value>,
    ) -> Result<(), NoJson> {
        each!(self, slot => slot.to_json(name, json))
    }

    pub(crate) fn complete(&mut self, ids: &mut dyn FnMut() -> String) {
        each!(self, slot => slot.complete(ids));
    }

    /// Joins two writes of one super-step: this, and then `after`.
    pub(crate) fn and(self, after: Self) -> Self {
        both!(self, after, before => before.and(after))
    }

    /// Joins the writes of two super-steps: this, and then `after`.
    pub(crate) fn then(self, field: &str, after: Self) -> Result<Self, ReduceError> {
        Ok(both!(self, after, before => before.then(field, after)?))
    }
}
