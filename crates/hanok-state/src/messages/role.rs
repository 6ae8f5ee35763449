//! The speaker of a message.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::MessageFormatError;

/// The speaker of a message.
///
/// ```
/// use hanok_state::Role;
///
/// assert_eq!("assistant".parse::<Role>()?, Role::Assistant);
/// assert_eq!(Role::Tool.to_string(), "tool");
/// assert_eq!(
///     "human".parse::<Role>().unwrap_err().to_string(),
///     "`human` is no role of a message; there are system, user, assistant, tool"
/// );
/// # Ok::<(), hanok_state::MessageFormatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the program.
    System,
    /// A person.
    User,
    /// A model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        })
    }
}

/// Reads a role by its name: `system`, `user`, `assistant` or `tool`.
impl FromStr for Role {
    type Err = MessageFormatError;

    fn from_str(name: &str) -> Result<Self, MessageFormatError> {
        match name {
            "system" => Ok(Self::System),
            "user" => Ok(Self::User),
            "assistant" => Ok(Self::Assistant),
            "tool" => Ok(Self::Tool),
            other => Err(MessageFormatError::UnknownRole {
                role: other.to_owned(),
                roles: "system, user, assistant, tool",
            }),
        }
    }
}
