//! The value of a field, under whichever rule the field has. The rules do what they do for every other state.

use std::{borrow::Cow, sync::Arc};

use hanok_core::{Fields, StoredError};
use serde_json::Value;

use super::{
    any_slot::{AnySlot, Item, of_rule},
    rule::DynamicRule,
    sum::{Add, Total},
};
use crate::{
    collections::{list::List, map::Map},
    error::ReduceError,
    messages::{conversation::Messages, message::Message},
    rules::{
        append::Append, last_value::LastValue, merge::Merge, messages::MessageIds,
        operations::Operations,
    },
    slot::{Resolved, Slot, StoredSlot},
};

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AnyValue {
    Last(Item),
    Append(List<Item>),
    Merge(Map<String, Item>),
    Messages(Messages),
    Sum(Total),
}

/// One expression for a value and the slots that have its rule, as all of a bound update have.
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
    /// Checks that the writes of nodes can be merged into the value.
    pub(crate) fn check(
        &self,
        field: &str,
        slots: &[(&Arc<str>, AnySlot)],
    ) -> Result<(), ReduceError> {
        with_slots!(self, slots.iter(), (value, slots) => Slot::check_written(field, value, slots))
    }

    /// Merges the writes of nodes into the value.
    pub(crate) fn merge(
        &mut self,
        field: &str,
        slots: &mut [(&Arc<str>, AnySlot)],
        resolved: &mut Resolved,
    ) -> Result<(), ReduceError> {
        let field = Cow::Owned(field.to_owned());
        with_slots!(self, slots.iter_mut(), (value, slots) => Slot::merge(field, value, slots, resolved))
    }

    /// The value that the rule begins with.
    pub(crate) fn empty(rule: DynamicRule) -> Self {
        of_rule!(rule, Self, Default::default())
    }

    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Last(value) => value.0.clone(),
            Self::Append(items) => items.iter().map(|item| item.0.clone()).collect(),
            Self::Merge(entries) => {
                entries.iter().map(|(key, item)| (key.clone(), item.0.clone())).collect()
            }
            Self::Messages(messages) => messages.iter().map(Message::to_langchain_flat).collect(),
            Self::Sum(Total(total)) => total.0.clone(),
        }
    }

    /// Makes the write that overwrites a field with this value. Of a last value it is a plain write.
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
