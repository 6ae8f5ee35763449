//! The messages of OpenAI's chat completions (<https://platform.openai.com/docs/api-reference/chat>).

use serde_json::{Map, Value, json};

use super::{
    content::{Content, Part},
    message::{Message, ToolCall},
    role::Role,
};
use crate::{arguments::Arguments, error::MessageFormatError};

impl Message {
    /// Writes the message as OpenAI's chat completions take it. Ids and metadata are not part of that shape.
    ///
    /// ```
    /// use hanok_state::Message;
    /// use serde_json::json;
    ///
    /// let message = Message::user("안녕").with_id("1");
    /// assert_eq!(message.to_openai(), json!({"role": "user", "content": "안녕"}));
    /// ```
    pub fn to_openai(&self) -> Value {
        let mut object = Map::new();
        object.insert("role".into(), self.role().to_string().into());
        let silent = self.text().is_empty() && !self.tool_calls().is_empty();
        let content = if silent { Value::Null } else { content_to(self.content()) };
        object.insert("content".into(), content);
        if let Some(name) = self.name() {
            object.insert("name".into(), name.into());
        }
        if !self.tool_calls().is_empty() {
            object.insert("tool_calls".into(), self.tool_calls().iter().map(call_to).collect());
        }
        // Only a tool's message has this: in the text protocol a user's message carries it for us alone.
        if let (Role::Tool, Some(id)) = (self.role(), self.tool_call_id()) {
            object.insert("tool_call_id".into(), id.into());
        }
        Value::Object(object)
    }

    /// Reads a message of OpenAI's chat completions. A `developer` message is a system message.
    ///
    /// ```
    /// use hanok_state::Message;
    /// use serde_json::json;
    ///
    /// let call = json!({"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}});
    /// let message = Message::from_openai(&json!({"role": "assistant", "tool_calls": [call]}))?;
    /// assert_eq!(message.tool_calls()[0].name, "now");
    /// # Ok::<(), hanok_state::MessageFormatError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MessageFormatError`] when the role is unknown or a part has another shape.
    pub fn from_openai(value: &Value) -> Result<Self, MessageFormatError> {
        let Some(role) = value.get("role").and_then(Value::as_str) else {
            return shape("`role`", "a text");
        };
        let role = match role {
            "system" | "developer" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            other => {
                return Err(MessageFormatError::UnknownRole {
                    role: other.to_owned(),
                    roles: "system, developer, user, assistant, tool",
                });
            }
        };
        let mut message = Self::new(role, content_from(value.get("content"))?);
        if let Some(name) = value.get("name").and_then(Value::as_str) {
            message = message.with_name(name);
        }
        if let Some(id) = value.get("tool_call_id").and_then(Value::as_str) {
            message = message.with_tool_call_id(id);
        }
        Ok(message.with_tool_calls(calls_from(value, "tool_calls", call_from)?))
    }
}

pub(super) fn content_to(content: &Content) -> Value {
    match content {
        Content::Text(text) => text.as_ref().into(),
        Content::Parts(parts) => parts.iter().map(part_to).collect(),
    }
}

pub(super) fn part_to(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({"type": "text", "text": text}),
        Part::Image { url } => json!({"type": "image_url", "image_url": {"url": url}}),
        Part::Other { json } => json.decode().unwrap_or_default(),
    }
}

fn call_to(call: &ToolCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments.as_str()},
    })
}

pub(super) fn content_from(content: Option<&Value>) -> Result<Content, MessageFormatError> {
    match content {
        None | Some(Value::Null) => Ok(Content::default()),
        Some(Value::String(text)) => Ok(text.as_str().into()),
        Some(Value::Array(parts)) => Ok(Content::Parts(parts.iter().map(part_from).collect())),
        Some(_) => shape("`content`", "a text or a list of parts"),
    }
}

fn part_from(part: &Value) -> Part {
    if let Some(text) = part.as_str() {
        return Part::Text { text: text.to_owned() };
    }
    let text = |pointer: &str| part.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    match part.get("type").and_then(Value::as_str) {
        Some("text") => text("/text").map(|text| Part::Text { text }),
        Some("image_url") => {
            text("/image_url/url").or_else(|| text("/image_url")).map(|url| Part::Image { url })
        }
        _ => None,
    }
    .unwrap_or_else(|| Part::Other { json: Arguments::new(part.to_string()) })
}

/// The calls of `message` under this name, each read by `read`.
pub(super) fn calls_from(
    message: &Value,
    name: &'static str,
    read: fn(&Value) -> Result<ToolCall, MessageFormatError>,
) -> Result<Vec<ToolCall>, MessageFormatError> {
    match message.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(calls)) => calls.iter().map(read).collect(),
        Some(_) => shape(name, "a list"),
    }
}

pub(super) fn arguments_from(arguments: Option<&Value>) -> Arguments {
    match arguments {
        None | Some(Value::Null) => Arguments::default(),
        Some(Value::String(text)) => Arguments::new(text.as_str()),
        Some(value) => Arguments::new(value.to_string()),
    }
}

fn call_from(call: &Value) -> Result<ToolCall, MessageFormatError> {
    let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str);
    let Some(name) = text("/function/name") else {
        return shape("`function.name` of a tool call", "a text");
    };
    let arguments = arguments_from(call.pointer("/function/arguments"));
    Ok(ToolCall {
        id: text("/id").unwrap_or_default().to_owned(),
        name: name.to_owned(),
        arguments,
    })
}

pub(super) fn shape<T>(
    what: &'static str,
    expected: &'static str,
) -> Result<T, MessageFormatError> {
    Err(MessageFormatError::Shape { what, expected })
}
