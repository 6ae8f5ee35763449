//! The JSON that a program writes, as the write that a rule takes.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    any_slot::{AnySlot, Item},
    any_value::AnyValue,
    rule::DynamicRule,
    sum::Total,
};
use crate::{
    error::Refused,
    json::Json,
    json_error::InvalidJson,
    messages::{
        conversation::Messages,
        message::Message,
        read::{Unread, operations},
        update::{MessageOp, MessagesUpdate},
    },
    read_json::{DEEPEST, shallow, too_deep},
    slot::Slot,
};

/// A write to one field, in JSON.
#[derive(Debug, Clone)]
pub(super) enum JsonWrite {
    Value(Value),
    Overwrite(Value),
    /// A key of an object, or the id of a message.
    Remove(String),
}

/// The fault of JSON that does not fit a rule.
#[derive(Debug)]
pub(crate) enum Misfit {
    Shape(&'static str),
    Messages(Unread),
    TooDeep,
}

impl Misfit {
    pub(crate) fn of(self, node: &Arc<str>) -> Refused {
        let node = Arc::clone(node);
        match self {
            Self::Shape(expected) => Refused::Misfit { node, expected },
            Self::Messages(unread) => {
                Refused::Message { node, reason: Box::new(unread.into_first()) }
            }
            Self::TooDeep => Refused::TooDeep { node, deepest: DEEPEST },
        }
    }

    pub(crate) fn into_invalid(self) -> InvalidJson {
        match self {
            Self::Shape(expected) => InvalidJson::of(format_args!("not {expected}")),
            Self::Messages(unread) => unread.into_invalid(),
            Self::TooDeep => too_deep(),
        }
    }
}

/// Makes a write under `rule`.
pub(crate) fn slot(rule: DynamicRule, json: JsonWrite) -> Result<AnySlot, Misfit> {
    match json {
        JsonWrite::Value(value) => write(rule, within(value)?),
        JsonWrite::Overwrite(value) => Ok(whole(rule, within(value)?)?.overwrite()),
        JsonWrite::Remove(key) => match rule {
            DynamicRule::Merge => Ok(AnySlot::Merge(Slot::plain([(key, None)].into()))),
            DynamicRule::Messages => {
                Ok(AnySlot::Messages(Slot::plain(MessagesUpdate::new([MessageOp::Remove(
                    key.into(),
                )]))))
            }
            DynamicRule::Last | DynamicRule::Append | DynamicRule::Sum => {
                Err(Misfit::Shape("a value: only `merge` and `messages` remove something"))
            }
        },
    }
}

/// Makes a plain write under `rule`.
pub(crate) fn write(rule: DynamicRule, value: Value) -> Result<AnySlot, Misfit> {
    Ok(match (rule, value) {
        (DynamicRule::Last, value) => AnySlot::Last(Slot::plain(item(value))),
        (DynamicRule::Append, Value::Array(items)) => {
            AnySlot::Append(Slot::plain(items.into_iter().map(item).collect()))
        }
        (DynamicRule::Append, one) => AnySlot::Append(Slot::plain(vec![item(one)])),
        (DynamicRule::Merge, Value::Object(entries)) => {
            let entry = |value: Value| (!value.is_null()).then(|| item(value));
            let entries = entries.into_iter().map(|(key, value)| (key, entry(value)));
            AnySlot::Merge(Slot::plain(entries.collect::<BTreeMap<_, _>>()))
        }
        (DynamicRule::Merge, _) => return Err(Misfit::Shape("an object, which `merge` needs")),
        (DynamicRule::Messages, value) => {
            let ops = operations(&value).map_err(Misfit::Messages)?;
            AnySlot::Messages(Slot::plain(MessagesUpdate::new(ops)))
        }
        (DynamicRule::Sum, number @ Value::Number(_)) => {
            AnySlot::Sum(Slot::plain(vec![Json(number)]))
        }
        (DynamicRule::Sum, _) => return Err(Misfit::Shape("a number, which `sum` needs")),
    })
}

/// Makes a whole value under `rule`, for an overwrite or a default.
pub(crate) fn whole(rule: DynamicRule, value: Value) -> Result<AnyValue, Misfit> {
    Ok(match (rule, within(value)?) {
        (DynamicRule::Last, value) => AnyValue::Last(item(value)),
        (DynamicRule::Append, Value::Array(items)) => {
            AnyValue::Append(items.into_iter().map(item).collect())
        }
        (DynamicRule::Append, _) => {
            return Err(Misfit::Shape("an array, which the whole of `append` needs"));
        }
        (DynamicRule::Merge, Value::Object(entries)) => {
            let present = entries.into_iter().filter(|(_, value)| !value.is_null());
            AnyValue::Merge(present.map(|(key, value)| (key, item(value))).collect())
        }
        (DynamicRule::Merge, _) => return Err(Misfit::Shape("an object, which `merge` needs")),
        (DynamicRule::Messages, several @ Value::Array(_)) => {
            let ops = operations(&several).map_err(Misfit::Messages)?;
            AnyValue::Messages(ops.into_iter().map(put).collect::<Result<Messages, _>>()?)
        }
        (DynamicRule::Messages, _) => {
            return Err(Misfit::Shape("an array of messages, which the whole of `messages` needs"));
        }
        (DynamicRule::Sum, number @ Value::Number(_)) => AnyValue::Sum(Total(Json(number))),
        (DynamicRule::Sum, _) => return Err(Misfit::Shape("a number, which `sum` needs")),
    })
}

fn item(value: Value) -> Item {
    Arc::new(Json(value))
}

fn put(op: MessageOp) -> Result<Message, Misfit> {
    match op {
        MessageOp::Put(message) => Ok(message),
        MessageOp::Remove(_) | MessageOp::Clear => {
            Err(Misfit::Shape("messages alone, as the whole of `messages` is"))
        }
    }
}

/// Refuses a `value` that is nested deeper than a value may be.
fn within(value: Value) -> Result<Value, Misfit> {
    shallow(value).ok_or(Misfit::TooDeep)
}
