//! Prompts of servers.

use rmcp::model;
use serde::{Deserialize, Serialize};

use super::{
    block::block,
    resource::{LONGEST_CONTENT, description},
};
use crate::text::{line, shown};

/// A prompt that a server lists. Its texts are the server's, bounded and with hidden characters as escapes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// The name, exactly as the server has it: for [`prompt`](crate::McpClient::prompt), not for eyes.
    pub name: String,
    /// The title; the name where there is none.
    pub title: String,
    /// The description; empty where there is none.
    #[serde(default)]
    pub description: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name, exactly as the server has it.
    pub name: String,
    /// The description; empty where there is none.
    #[serde(default)]
    pub description: String,
    /// True for one that a prompt cannot be filled without.
    #[serde(default)]
    pub required: bool,
}

/// The one who speaks in a message of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PromptRole {
    /// The user.
    User,
    /// The assistant.
    Assistant,
}

/// A message of a prompt that was filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The one who speaks, as the server has it.
    pub role: PromptRole,
    /// The text, of at most 256 KiB and with hidden characters as escapes; a line for content that is no text.
    pub text: String,
}

impl Prompt {
    pub(crate) fn of(listed: &model::Prompt) -> Self {
        let arguments = listed.arguments.iter().flatten().take(256);
        let arguments = arguments.map(|argument| PromptArgument {
            name: argument.name.clone(),
            description: description(argument.description.as_deref()),
            required: argument.required == Some(true),
        });
        Self {
            name: listed.name.clone(),
            title: line(listed.title.as_deref().unwrap_or(&listed.name), 256),
            description: description(listed.description.as_deref()),
            arguments: arguments.collect(),
        }
    }
}

impl PromptMessage {
    pub(crate) fn of(message: &model::PromptMessage) -> Self {
        let role = match message.role {
            model::Role::Assistant => PromptRole::Assistant,
            _ => PromptRole::User,
        };
        Self { role, text: shown(&block(&message.content), LONGEST_CONTENT) }
    }
}
