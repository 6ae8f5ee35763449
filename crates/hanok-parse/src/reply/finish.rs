//! Why a text ended.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Why the text ended, as the server knows it.
///
/// ```
/// use hanok_parse::{Declared, ErrorKind, Finish, FinishReason, Format, ParamType, Parser};
///
/// let declared = Declared::new().tool_with("rm", [("path".to_owned(), ParamType::String, true)]);
/// let parser = Parser::new(declared).asked([Format::React]);
/// let text = "Action: rm\nAction Input: /home/us";
/// assert_eq!(parser.parse(text).calls.len(), 1);
///
/// let reply = parser.parse_finished(text, Finish::Length);
/// assert!(reply.calls.is_empty());
/// assert_eq!(reply.error.map(|error| error.kind), Some(ErrorKind::Truncated));
/// assert_eq!(reply.finish, FinishReason::Length);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Finish {
    /// The model ended it.
    #[default]
    Stop,
    /// There was no room for more. What has no end of its own is truncated, and does not run.
    Length,
    /// Somebody broke it off. What has no end of its own is truncated, and does not run.
    Abort,
}

/// The reason that a server may give for the end of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum FinishReason {
    /// The reply is text.
    #[default]
    Stop,
    /// The reply calls something.
    ToolCalls,
    /// There was no room for more, whatever was called before.
    Length,
    /// Somebody broke it off.
    Abort,
}

impl FinishReason {
    /// The reason as servers write it: `stop`, `tool_calls`, `length`, `abort`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::Abort => "abort",
        }
    }

    pub(crate) fn of(finish: Finish, calls: bool) -> Self {
        match finish {
            Finish::Stop if calls => Self::ToolCalls,
            Finish::Stop => Self::Stop,
            Finish::Length => Self::Length,
            Finish::Abort => Self::Abort,
        }
    }
}
