//! The JSON of people and of other programs, as operations on a conversation.

use serde::Deserialize;
use serde_json::Value;

use super::{langchain, message::Message, openai::shape, update::MessageOp};
use crate::{error::MessageFormatError, json_error::InvalidJson};

/// The faults of what is no operation on a conversation, each with its index. One that is not in a list has none.
#[derive(Debug)]
pub(crate) struct Unread {
    first: (Option<usize>, MessageFormatError),
    others: Vec<(Option<usize>, MessageFormatError)>,
}

impl Unread {
    pub(crate) fn into_invalid(self) -> InvalidJson {
        let all = std::iter::once(self.first).chain(self.others);
        let faults = all.flat_map(|(at, reason)| {
            let fault = InvalidJson::of(reason);
            if let Some(at) = at { fault.within(&at.to_string()).faults } else { fault.faults }
        });
        InvalidJson { faults: faults.collect() }
    }

    /// The first fault.
    pub(crate) fn into_first(self) -> MessageFormatError {
        self.first.1
    }
}

/// Reads one message or removal, or a list of them. A list of two texts of which the first is a role is one message.
pub(crate) fn operations(json: &Value) -> Result<Vec<MessageOp>, Unread> {
    let several = match json {
        Value::Array(several) if !is_pair(several) => several,
        one => {
            let op =
                operation(one).map_err(|fault| Unread { first: (None, fault), others: Vec::new() });
            return op.map(|op| vec![op]);
        }
    };
    let (mut ops, mut faults) = (Vec::new(), Vec::new());
    for (at, one) in several.iter().enumerate() {
        match operation(one) {
            Ok(op) => ops.push(op),
            Err(fault) => faults.push((Some(at), fault)),
        }
    }
    let mut faults = faults.into_iter();
    match faults.next() {
        None => Ok(ops),
        Some(first) => Err(Unread { first, others: faults.collect() }),
    }
}

fn is_pair(items: &[Value]) -> bool {
    matches!(items, [Value::String(role), Value::String(_)] if langchain::role(role).is_ok())
}

fn operation(json: &Value) -> Result<MessageOp, MessageFormatError> {
    match json {
        Value::String(text) => Ok(Message::user(text.as_str()).into()),
        Value::Array(pair) => langchain::pair(pair).map(MessageOp::from),
        Value::Object(_) if is_langchain(json) => langchain::operation(json),
        Value::Object(_) => message(json).map(MessageOp::from),
        _ => shape("a message", "a text, a pair of a role and a text, or an object"),
    }
}

/// Tells LangChain's objects by what only they have: a `type` without a role, or calls with `args`, or one of its own roles.
fn is_langchain(json: &Value) -> bool {
    let calls = json.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    match json.get("role").and_then(Value::as_str) {
        Some(role) => {
            matches!(role, "human" | "ai") || calls.into_iter().any(|it| it.get("args").is_some())
        }
        None => json.get("type").is_some(),
    }
}

/// Reads our own form, which alone keeps everything, or else OpenAI's.
fn message(json: &Value) -> Result<Message, MessageFormatError> {
    if let Ok(ours) = Message::deserialize(json) {
        return Ok(ours);
    }
    let message = Message::from_openai(json)?;
    Ok(match json.get("id").and_then(Value::as_str) {
        Some(id) => message.with_id(id),
        None => message,
    })
}
