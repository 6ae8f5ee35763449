//! A request to a model.

use hanok_state::{Json, Message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ToolSpec, spec::schema_of};

/// The choice whether a model has to call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    /// No tool, though they are shown.
    None,
    /// At least one tool. Some local servers ignore it.
    Required,
    /// The tool of this name.
    Tool(String),
}

/// The form of a reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResponseFormat {
    /// Text.
    #[default]
    Text,
    /// JSON of this schema.
    JsonSchema {
        /// Names the schema: 1 to 64 letters, digits, `_` and `-`.
        name: String,
        /// The schema.
        schema: Json,
    },
}

impl ResponseFormat {
    /// JSON that is a `T`.
    ///
    /// ```
    /// use hanok_model::{ChatRequest, ResponseFormat};
    /// use schemars::JsonSchema;
    ///
    /// #[derive(JsonSchema)]
    /// struct Days {
    ///     /// The days of leave.
    ///     days: u32,
    /// }
    ///
    /// let request = ChatRequest::new(["연차는?"]).response_format(ResponseFormat::of::<Days>("days"));
    /// assert!(matches!(request.response_format, ResponseFormat::JsonSchema { .. }));
    /// ```
    pub fn of<T: JsonSchema>(name: impl Into<String>) -> Self {
        Self::JsonSchema { name: name.into(), schema: Json(schema_of::<T>()) }
    }
}

/// A request to a model.
///
/// ```
/// use hanok_model::ChatRequest;
/// use hanok_state::Message;
///
/// let request = ChatRequest::new([Message::system("Answer briefly."), Message::user("안녕")])
///     .temperature(0.0)
///     .stop(["\nObservation:"]);
/// assert_eq!(request.messages.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The tools that the model may call natively. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// The choice whether it has to call one. Default: as it likes.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The form of the reply. Default: text.
    #[serde(default)]
    pub response_format: ResponseFormat,
    /// The sampling temperature, from 0. Default: the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most tokens that it may write. Default: the server's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts that end the reply where they would stand. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
}

impl ChatRequest {
    /// Asks for the next message of a conversation.
    pub fn new<M: Into<Message>>(messages: impl IntoIterator<Item = M>) -> Self {
        Self { messages: messages.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds a message at the end.
    #[must_use]
    pub fn message(mut self, message: impl Into<Message>) -> Self {
        self.messages.push(message.into());
        self
    }

    /// The tools that the model may call natively. Default: none.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = ToolSpec>) -> Self {
        Self { tools: tools.into_iter().collect(), ..self }
    }

    /// Sets whether the model has to call a tool. Default: as it likes.
    #[must_use]
    pub fn tool_choice(self, tool_choice: ToolChoice) -> Self {
        Self { tool_choice, ..self }
    }

    /// The form of the reply. Default: text.
    #[must_use]
    pub fn response_format(self, response_format: ResponseFormat) -> Self {
        Self { response_format, ..self }
    }

    /// Sets the sampling temperature, from 0. Default: the server's.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// Limits the tokens of the reply. Default: the server's limit.
    #[must_use]
    pub fn max_tokens(self, max_tokens: u32) -> Self {
        Self { max_tokens: Some(max_tokens), ..self }
    }

    /// Texts that end the reply where they would stand. Default: none.
    #[must_use]
    pub fn stop<S: Into<String>>(self, stop: impl IntoIterator<Item = S>) -> Self {
        Self { stop: stop.into_iter().map(Into::into).collect(), ..self }
    }
}
