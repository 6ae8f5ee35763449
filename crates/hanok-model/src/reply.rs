//! The reply of a model.

use hanok_core::Spent;
use hanok_state::Message;
use serde::{Deserialize, Serialize};

/// The tokens of one exchange.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote, its reasoning included.
    pub output_tokens: u64,
    /// Of the tokens that it read, those that the server had read before and charges less for. 0 if it does not say.
    #[serde(default)]
    pub cached_tokens: u64,
    /// True for tokens that were counted here, because the server did not say.
    #[serde(default)]
    pub estimated: bool,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            estimated: self.estimated || other.estimated,
        }
    }

    /// The spending of a call with this usage, itself included.
    pub fn spent(self) -> Spent {
        Spent {
            model_calls: 1,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            ..Spent::default()
        }
    }
}

/// The reason for which a model stopped writing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// It was done, or came to a stop text.
    #[default]
    Stop,
    /// It may not write more tokens: the reply, and any call at its end, may be cut off.
    Length,
    /// It asks for tools.
    ToolCalls,
    /// The server kept back what it wrote.
    ContentFilter,
    /// It refused to answer; its text says so.
    Refused,
    /// A reason of the server's own, or none.
    Other,
}

/// The reply of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChatReply {
    /// The message of the model, with the calls it asks for.
    pub message: Message,
    /// The model's reasoning, where the server separates it from the answer. It is no part of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The tokens.
    #[serde(default)]
    pub usage: Usage,
    /// The reason for which it stopped.
    #[serde(default)]
    pub finish: Finish,
    /// The model, as the server names it.
    #[serde(default)]
    pub model: String,
    /// True for a reply from a cache. It has no usage.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

impl ChatReply {
    /// A reply of `model` that is done (or asks for tools, where `message` does), with nothing said about tokens.
    pub fn new(message: Message, model: impl Into<String>) -> Self {
        let finish = if message.tool_calls().is_empty() { Finish::Stop } else { Finish::ToolCalls };
        Self {
            message,
            reasoning: None,
            usage: Usage::default(),
            finish,
            model: model.into(),
            cached: false,
        }
    }

    /// Sets the model's reasoning. Default: none.
    #[must_use]
    pub fn reasoning(self, reasoning: impl Into<String>) -> Self {
        Self { reasoning: Some(reasoning.into()), ..self }
    }

    /// Sets the tokens. Default: none.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// Sets the reason to stop. Default: [`Finish::Stop`], or [`Finish::ToolCalls`] where the model asks for tools.
    #[must_use]
    pub fn finish(self, finish: Finish) -> Self {
        Self { finish, ..self }
    }
}
