//! The messages of LangChain: what its `model_dump`, `message_to_dict` and `dumpd` write.
//!
//! What a message of ours has in other places there:
//!
//! | here | there |
//! | --- | --- |
//! | calls with a JSON object | `tool_calls` |
//! | other calls | `invalid_tool_calls`; an `error` that stands there is kept in the note of that name |
//! | a model's note `usage_metadata` | `usage_metadata` |
//! | the note `response_metadata` | `response_metadata` |
//! | a tool's note `fault` | `status`; `failed` is no more than that, and other faults stand in `additional_kwargs`, too |
//! | a tool's note `data` | `artifact` |
//! | other notes | `additional_kwargs` |
//! | whatever else the form has no place for | `additional_kwargs.hanok`: the whole message in its own form |

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    message::{Message, ToolCall},
    openai::{arguments_from, calls_from, content_from, content_to, shape},
    role::Role,
    update::MessageOp,
};
use crate::{arguments::Arguments, error::MessageFormatError, json::Json};

/// The member of `additional_kwargs` with the whole message, if the form does not hold all of it.
const WHOLE: &str = "hanok";

/// The id by which a removal removes all messages.
const ALL: &str = "__remove_all__";

/// The note `fault` of a tool's message, and what it is where only the status is known.
const FAULT: (&str, &str) = ("fault", "failed");

impl Message {
    /// Writes the message as LangChain's `message_to_dict` does: `{"type": "human", "data": {…}}`, with the
    /// [flat form](Message::to_langchain_flat) as the data.
    pub fn to_langchain(&self) -> Value {
        json!({"type": kind(self.role()), "data": self.to_langchain_flat()})
    }

    /// Writes the message as LangChain's `model_dump` does: `{"type": "human", "content": …, "id": …, …}`.
    ///
    /// Calls whose arguments are no JSON object are `invalid_tool_calls`. Of the metadata, `response_metadata`, `usage_metadata` of
    /// a model, and `data` of a tool have places of their own there (the last is the `artifact`), and a tool's `fault` makes its
    /// `status` an error. The rest is `additional_kwargs`. If the form does not hold all of the message, such as the exact text of
    /// arguments, `additional_kwargs.hanok` is the whole message in its own form. So [`from_langchain`](Message::from_langchain) reads
    /// the same message.
    ///
    /// ```
    /// use hanok_state::{Message, ToolCall};
    ///
    /// let message = Message::assistant("").with_tool_calls([ToolCall::new("c1", "now", "{}")]);
    /// let flat = message.to_langchain_flat();
    /// assert_eq!((&flat["type"], &flat["tool_calls"][0]["name"]), (&"ai".into(), &"now".into()));
    /// assert_eq!(Message::from_langchain(&flat)?, message);
    /// # Ok::<(), hanok_state::MessageFormatError>(())
    /// ```
    pub fn to_langchain_flat(&self) -> Value {
        let mut flat = flat(self);
        if Self::from_langchain(&flat).is_ok_and(|read| read == *self) {
            return flat;
        }
        // A message has no part that JSON has no form for.
        let whole = serde_json::to_value(self).unwrap_or_default();
        if let Some(Value::Object(notes)) = flat.get_mut("additional_kwargs") {
            notes.insert(WHOLE.into(), whole);
        }
        flat
    }

    /// Reads a message of LangChain: `{"type", "data"}`, `{"lc", "type": "constructor", "id", "kwargs"}` or flat, with a `role` in
    /// place of the `type`, too. Of a part of the content that is a text or a picture, it keeps the text or the URL alone.
    ///
    /// ```
    /// use hanok_state::{Message, Role};
    /// use serde_json::json;
    ///
    /// let message = Message::from_langchain(&json!({"type": "human", "data": {"content": "안녕"}}))?;
    /// assert_eq!((message.role(), message.text().as_ref()), (Role::User, "안녕"));
    /// assert_eq!(message.to_langchain()["type"], "human");
    /// # Ok::<(), hanok_state::MessageFormatError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MessageFormatError`] when the type is unknown or a part has another shape.
    pub fn from_langchain(value: &Value) -> Result<Self, MessageFormatError> {
        let (kind, data) = kind_and_data(value)?;
        let plain = plain(role(kind)?, data)?;
        let whole = plain.metadata().get(WHOLE).and_then(|Json(it)| Self::deserialize(it).ok());
        // Somebody may have changed the rest since.
        let is_same = |whole: &Self| {
            let again = self::plain(whole.role(), &flat(whole));
            again
                .is_ok_and(|it| it.without_metadata(WHOLE) == plain.clone().without_metadata(WHOLE))
        };
        Ok(whole.filter(is_same).unwrap_or(plain))
    }
}

/// Reads a message, or a removal of one or all.
pub(super) fn operation(value: &Value) -> Result<MessageOp, MessageFormatError> {
    let (kind, data) = kind_and_data(value)?;
    if !matches!(kind, "remove" | "RemoveMessage") {
        return Message::from_langchain(value).map(MessageOp::from);
    }
    match data.get("id").and_then(Value::as_str) {
        Some(ALL) => Ok(MessageOp::Clear),
        Some(id) => Ok(MessageOp::Remove(id.into())),
        None => shape("`id` of a removal", "a text"),
    }
}

/// Reads a pair of a role and a content.
pub(super) fn pair(pair: &[Value]) -> Result<Message, MessageFormatError> {
    match pair {
        [Value::String(name), content] => {
            Ok(Message::new(role(name)?, content_from(Some(content))?))
        }
        _ => shape("a pair", "a role and a text"),
    }
}

fn kind(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "human",
        Role::Assistant => "ai",
        Role::Tool => "tool",
    }
}

pub(super) fn role(kind: &str) -> Result<Role, MessageFormatError> {
    match kind.trim_end_matches("MessageChunk").trim_end_matches("Message") {
        "system" | "System" | "developer" => Ok(Role::System),
        "human" | "Human" | "user" => Ok(Role::User),
        "ai" | "AI" | "assistant" => Ok(Role::Assistant),
        "tool" | "Tool" => Ok(Role::Tool),
        other => Err(MessageFormatError::UnknownRole {
            role: other.to_owned(),
            roles: "system, human, ai, tool",
        }),
    }
}

fn kind_and_data(value: &Value) -> Result<(&str, &Value), MessageFormatError> {
    let kind = value.get("role").or_else(|| value.get("type")).and_then(Value::as_str);
    let Some(kind) = kind else {
        return shape("`type`", "a text");
    };
    if kind == "constructor" {
        let class = value.get("id").and_then(Value::as_array).and_then(|id| id.last());
        return match (class.and_then(Value::as_str), value.get("kwargs")) {
            (Some(class), Some(kwargs)) => Ok((class, kwargs)),
            _ => shape("a constructor", "`id` and `kwargs`"),
        };
    }
    Ok((kind, value.get("data").unwrap_or(value)))
}

/// Writes as much of a message as the form has places for.
fn flat(message: &Message) -> Value {
    let notes = message.metadata().iter().map(|(key, Json(value))| (key.clone(), value.clone()));
    let mut notes: Map<_, _> = notes.collect();
    let mut flat = Map::new();
    let mut add = |name: &str, value: Value| flat.insert(name.to_owned(), value);
    add("content", content_to(message.content()));
    add("type", kind(message.role()).into());
    add("name", message.name().into());
    add("id", message.id().into());
    add("response_metadata", object(&mut notes, "response_metadata").unwrap_or_else(|| json!({})));
    let is_tool = message.role() == Role::Tool;
    if let Some(id) = message.tool_call_id().or(is_tool.then_some("")) {
        add("tool_call_id", id.into());
    }
    match message.role() {
        Role::Assistant => {
            let errors = notes.remove("invalid_tool_calls").unwrap_or_default();
            let (valid, invalid): (Vec<_>, Vec<_>) =
                message.tool_calls().iter().map(|call| call_to(call, &errors)).partition(is_valid);
            add("tool_calls", valid.into());
            add("invalid_tool_calls", invalid.into());
            add("usage_metadata", object(&mut notes, "usage_metadata").into());
        }
        Role::Tool => {
            let (fault, failed) = FAULT;
            let status = if notes.contains_key(fault) { "error" } else { "success" };
            if notes.get(fault).is_some_and(|it| it == failed) {
                notes.remove(fault);
            }
            add("status", status.into());
            add("artifact", notes.remove("data").unwrap_or_default());
        }
        Role::System | Role::User => {}
    }
    add("additional_kwargs", notes.into());
    Value::Object(flat)
}

/// Takes the note of this name, if it is an object.
fn object(notes: &mut Map<String, Value>, name: &str) -> Option<Value> {
    notes.get(name).filter(|it| it.is_object())?;
    notes.remove(name)
}

/// Reads a message by the places that the form has, and `additional_kwargs` as its notes.
fn plain(role: Role, data: &Value) -> Result<Message, MessageFormatError> {
    let text = |key: &str| data.get(key).and_then(Value::as_str);
    let notes = data.get("additional_kwargs").and_then(Value::as_object).into_iter().flatten();
    let message = Message::new(role, content_from(data.get("content"))?);
    let mut message = notes.fold(message, |it, (key, note)| it.with_metadata(key, note.clone()));
    if let Some(id) = text("id") {
        message = message.with_id(id);
    }
    if let Some(name) = text("name") {
        message = message.with_name(name);
    }
    if let Some(id) = text("tool_call_id") {
        message = message.with_tool_call_id(id);
    }
    let (fault, failed) = FAULT;
    if text("status") == Some("error") && !message.metadata().contains_key(fault) {
        message = message.with_metadata(fault, failed);
    }
    let mut calls = calls_from(data, "tool_calls", call_from)?;
    calls.extend(calls_from(data, "invalid_tool_calls", invalid_from)?);
    let errors = data.pointer("/invalid_tool_calls").and_then(Value::as_array);
    let has_errors = errors.is_some_and(|all| all.iter().any(|call| !call["error"].is_null()));
    let places = [
        ("usage_metadata", "usage_metadata", true),
        ("response_metadata", "response_metadata", true),
        ("artifact", "data", true),
        ("invalid_tool_calls", "invalid_tool_calls", has_errors),
    ];
    for (place, note, is_kept) in places {
        let value = data.get(place).filter(|it| is_kept && !it.is_null() && **it != json!({}));
        if let Some(value) = value {
            message = message.with_metadata(note, value.clone());
        }
    }
    Ok(message.with_tool_calls(calls))
}

/// Writes a call. One whose arguments are no JSON object has their text, and the error that was noted of it.
fn call_to(call: &ToolCall, errors: &Value) -> Value {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let ToolCall { id, name, arguments } = call;
    match arguments.decode::<Map<_, _>>() {
        Ok(args) => json!({"name": name, "args": args, "id": some(id), "type": "tool_call"}),
        Err(_) => {
            let mut noted = errors.as_array().into_iter().flatten();
            let noted = noted.find(|it| it["id"].as_str() == some(id).as_deref());
            json!({
                "name": some(name),
                "args": some(arguments.as_str()),
                "id": some(id),
                "error": noted.map(|it| &it["error"]),
                "type": "invalid_tool_call",
            })
        }
    }
}

fn is_valid(call: &Value) -> bool {
    call["type"] == "tool_call"
}

fn call_from(call: &Value) -> Result<ToolCall, MessageFormatError> {
    let text = |key: &str| call.get(key).and_then(Value::as_str);
    let Some(name) = text("name") else {
        return shape("`name` of a tool call", "a text");
    };
    Ok(ToolCall::new(text("id").unwrap_or_default(), name, arguments_from(call.get("args"))))
}

/// Reads a call that LangChain could not. It stays one that cannot be made.
fn invalid_from(call: &Value) -> Result<ToolCall, MessageFormatError> {
    let text = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default();
    Ok(ToolCall::new(text("id"), text("name"), Arguments::new(text("args"))))
}
