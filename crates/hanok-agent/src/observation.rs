//! The result of a call, as the model reads it.

use hanok_model::{ToolOutput, ToolTarget};
use hanok_parse::Language;
use hanok_state::{Json, StateWrite};
use serde::{Deserialize, Serialize};

use crate::prompt;

/// The most bytes of a result that a model is shown.
pub(crate) const LONGEST_RESULT: usize = 256 * 1024;

/// The most bytes of the pictures of one result that a log keeps.
pub(crate) const LONGEST_IMAGES: usize = 8 * 1024 * 1024;

/// The result of a call, as the model reads it. Every call has exactly one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Observation {
    /// The words.
    pub text: String,
    /// The kind of the fault, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultKind>,
    /// The result for programs, where the tool gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// The pictures that the model sees beside the words: URLs, or bytes as `data:` URLs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// The name under which the whole result is stored, where the words are a part of it
    /// ([`LargeResults`](crate::LargeResults)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<String>,
}

/// An observation, and what the tool wants beside it.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) observation: Observation,
    pub(crate) update: Option<StateWrite>,
    pub(crate) target: Option<ToolTarget>,
}

impl Observed {
    /// The observation of a tool's output.
    pub(crate) fn of(mut output: ToolOutput, language: Language) -> Self {
        let (update, target) = (output.update.take(), output.target.take());
        Self { observation: prompt::result(output, language), update, target }
    }

    /// The same, the whole of which is stored under this name.
    pub(crate) fn stored(mut self, name: Option<String>) -> Self {
        self.observation.stored = name;
        self
    }

    /// True for a call that an interceptor does not let be made, or about which nobody can be asked.
    pub(crate) fn is_denied(&self) -> bool {
        self.observation.fault == Some(FaultKind::Denied)
    }

    /// True where there is no such tool.
    pub(crate) fn is_unknown_tool(&self) -> bool {
        self.observation.fault == Some(FaultKind::UnknownTool)
    }
}

impl From<Observation> for Observed {
    fn from(observation: Observation) -> Self {
        Self { observation, update: None, target: None }
    }
}

/// A kind of fault of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The model's text cannot be read as a call.
    Unreadable,
    /// The model wrote a call as text, where calls come another way, or one without a mark that may write.
    TextCall,
    /// The label of the call does not carry the conversation's key, or the tool that it names may write.
    UnkeyedLabel,
    /// The agent has no such tool.
    UnknownTool,
    /// The tool was offered in this turn and is not there any more.
    ToolGone,
    /// The tool has another definition than the one that was offered, so it was not called.
    ToolChanged,
    /// The arguments do not fit the tool.
    BadArguments,
    /// The reply asks for more calls than are made at once.
    TooMany,
    /// The tool failed, in its own words.
    Failed,
    /// The tool does not do this.
    Refused,
    /// An interceptor, or a person whom it asked, did not let the call be made.
    Denied,
    /// A person rejected the call, or one of the same tool with equal arguments before in the turn.
    Rejected,
    /// The tool took too long.
    TimedOut,
    /// The tool panicked.
    Panicked,
    /// Too many calls of blocking tools never ended, so this one was not made.
    Exhausted,
    /// The tool's server is not asked now.
    Unavailable,
    /// The turn ended before the call was made.
    NotMade,
    /// The run died while the call was made, and it must not be repeated: nobody knows whether it was made.
    InDoubt,
    /// The call was made, and what it wanted to write into the state, or where it wanted to go on, does not stand: a call of the
    /// same reply was before it, or the state cannot take it.
    NotApplied,
}

impl FaultKind {
    /// The stable code, as it is serialised.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::TextCall => "text_call",
            Self::UnkeyedLabel => "unkeyed_label",
            Self::UnknownTool => "unknown_tool",
            Self::ToolGone => "tool_gone",
            Self::ToolChanged => "tool_changed",
            Self::BadArguments => "bad_arguments",
            Self::TooMany => "too_many",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
            Self::TimedOut => "timed_out",
            Self::Panicked => "panicked",
            Self::Exhausted => "exhausted",
            Self::Unavailable => "unavailable",
            Self::NotMade => "not_made",
            Self::InDoubt => "in_doubt",
            Self::NotApplied => "not_applied",
        }
    }
}

impl Observation {
    /// A result.
    pub(crate) fn result(text: String, data: Option<Json>) -> Self {
        Self { text, fault: None, data, images: Vec::new(), stored: None }
    }

    /// Something that went wrong.
    pub(crate) fn fault(kind: FaultKind, text: impl Into<String>) -> Self {
        Self { text: text.into(), fault: Some(kind), data: None, images: Vec::new(), stored: None }
    }

    /// True for words from outside: a tool's, or those of a text that the tool read. The others are the agent's own.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        matches!(
            self.fault,
            None | Some(FaultKind::Failed | FaultKind::Refused | FaultKind::NotApplied)
        )
    }
}

/// The longest beginning of `text` that has at most `bytes`, and whether something is left.
pub(crate) fn cut(text: &str, bytes: usize) -> (&str, bool) {
    let end = text.floor_char_boundary(bytes);
    (text.get(..end).unwrap_or_default(), end < text.len())
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_cut_never_splits_a_character() {
        for (text, bytes, want) in [
            ("휴가", 3, ("휴", true)),
            ("휴가", 5, ("휴", true)),
            ("휴가", 6, ("휴가", false)),
            ("", 0, ("", false)),
        ] {
            assert_eq!(cut(text, bytes), want, "{text:?} {bytes}");
        }
    }
}
