//! The messages of LangChain: what its `message_to_dict`, `dumpd` and `model_dump` write.

use serde_json::{Map, Value, json};

use super::{
    message::{Message, ToolCall},
    openai::{arguments_from, calls_from, content_from, content_to, shape},
    role::Role,
};
use crate::{error::MessageFormatError, json::Json};

impl Message {
    /// Writes the message as LangChain's `message_to_dict` does: `{"type": "human", "data": {…}}`.
    pub fn to_langchain(&self) -> Value {
        let kind = match self.role() {
            Role::System => "system",
            Role::User => "human",
            Role::Assistant => "ai",
            Role::Tool => "tool",
        };
        let mut data = Map::new();
        data.insert("content".into(), content_to(self.content()));
        data.insert("type".into(), kind.into());
        data.insert("name".into(), self.name().map_or(Value::Null, Value::from));
        data.insert("id".into(), self.id().map_or(Value::Null, Value::from));
        let metadata: Map<_, _> =
            self.metadata().iter().map(|(key, value)| (key.clone(), value.0.clone())).collect();
        data.insert("additional_kwargs".into(), metadata.into());
        data.insert("response_metadata".into(), json!({}));
        if self.role() == Role::Assistant {
            data.insert("tool_calls".into(), self.tool_calls().iter().map(call_to).collect());
        }
        if let Some(id) = self.tool_call_id() {
            data.insert("tool_call_id".into(), id.into());
        }
        json!({"type": kind, "data": data})
    }

    /// Reads a message of LangChain: `{"type", "data"}`, `{"lc", "type": "constructor", "id", "kwargs"}` or flat.
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
        let role = match kind.trim_end_matches("MessageChunk").trim_end_matches("Message") {
            "system" | "System" => Role::System,
            "human" | "Human" | "user" => Role::User,
            "ai" | "AI" | "assistant" => Role::Assistant,
            "tool" | "Tool" => Role::Tool,
            other => {
                return Err(MessageFormatError::UnknownRole {
                    role: other.to_owned(),
                    roles: "system, human, ai, tool",
                });
            }
        };
        let text = |key: &str| data.get(key).and_then(Value::as_str);
        let mut message = Self::new(role, content_from(data.get("content"))?);
        if let Some(id) = text("id") {
            message = message.with_id(id);
        }
        if let Some(name) = text("name") {
            message = message.with_name(name);
        }
        if let Some(id) = text("tool_call_id") {
            message = message.with_tool_call_id(id);
        }
        for (key, value) in
            data.get("additional_kwargs").and_then(Value::as_object).into_iter().flatten()
        {
            message = message.with_metadata(key, Json(value.clone()));
        }
        Ok(message.with_tool_calls(calls_from(data, call_from)?))
    }
}

fn kind_and_data(value: &Value) -> Result<(&str, &Value), MessageFormatError> {
    let Some(kind) = value.get("type").and_then(Value::as_str) else {
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

/// Writes a call. LangChain has its arguments as an object. A text that is no JSON stays a text.
fn call_to(call: &ToolCall) -> Value {
    let text = call.arguments.as_str();
    let args: Value = call.arguments.decode().unwrap_or_else(|_| text.into());
    json!({"name": call.name, "args": args, "id": call.id, "type": "tool_call"})
}

fn call_from(call: &Value) -> Result<ToolCall, MessageFormatError> {
    let text = |key: &str| call.get(key).and_then(Value::as_str);
    let Some(name) = text("name") else {
        return shape("`name` of a tool call", "a text");
    };
    let arguments = arguments_from(call.get("args"));
    Ok(ToolCall { id: text("id").unwrap_or_default().to_owned(), name: name.to_owned(), arguments })
}
