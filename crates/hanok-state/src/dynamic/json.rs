//! The JSON that a program writes, as the write that a rule takes.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::Value;

use super::{
    any_slot::{AnySlot, Item},
    any_value::AnyValue,
    rule::DynamicRule,
    sum::Total,
};
use crate::{
    error::{MessageFormatError, Refused},
    json::Json,
    messages::{
        conversation::Messages,
        message::Message,
        update::{MessageOp, MessagesUpdate},
    },
    slot::Slot,
};

/// The number of levels to which a value may be nested: half of those to which JSON and the log are read, so that a stored value
/// can be read.
pub(super) const DEEPEST: usize = 64;

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
    Message(MessageFormatError),
    TooDeep,
}

impl Misfit {
    pub(crate) fn of(self, node: &Arc<str>) -> Refused {
        let node = Arc::clone(node);
        match self {
            Self::Shape(expected) => Refused::Misfit { node, expected },
            Self::Message(reason) => Refused::Message { node, reason: Box::new(reason) },
            Self::TooDeep => Refused::TooDeep { node, deepest: DEEPEST },
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

fn write(rule: DynamicRule, value: Value) -> Result<AnySlot, Misfit> {
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
        (DynamicRule::Messages, Value::Array(several)) => {
            let all = several.iter().map(message).collect::<Result<Vec<_>, _>>()?;
            AnySlot::Messages(Slot::plain(MessagesUpdate::new(all)))
        }
        (DynamicRule::Messages, one) => {
            AnySlot::Messages(Slot::plain(MessagesUpdate::new([message(&one)?])))
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
        (DynamicRule::Messages, Value::Array(several)) => {
            let all = several.iter().map(message).collect::<Result<Messages, _>>()?;
            AnyValue::Messages(all)
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

/// Reads a message as this crate, OpenAI or LangChain writes it. A text is a message of a person.
fn message(value: &Value) -> Result<Message, Misfit> {
    if let Some(text) = value.as_str() {
        return Ok(Message::user(text));
    }
    // Ours first: only it keeps everything, so what was read out of a state is written back unchanged.
    if let Ok(ours) = Message::deserialize(value) {
        return Ok(ours);
    }
    let openai = value.get("role").is_some() || value.get("type").is_none();
    let read = if openai { Message::from_openai(value) } else { Message::from_langchain(value) };
    let message = read.map_err(Misfit::Message)?;
    Ok(match value.get("id").and_then(Value::as_str) {
        Some(id) if message.id().is_none() => message.with_id(id),
        _ => message,
    })
}

/// Refuses a `value` that is nested deeper than a value may be.
fn within(value: Value) -> Result<Value, Misfit> {
    if is_deeper(&value, DEEPEST) { Err(Misfit::TooDeep) } else { Ok(value) }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let deeper = |part: &Value| levels == 0 || is_deeper(part, levels - 1);
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(deeper),
        Value::Object(entries) => levels == 0 || entries.values().any(deeper),
        _ => false,
    }
}
