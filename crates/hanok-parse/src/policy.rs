//! What counts as a call: which marks are trusted, and what the first call says of those behind it.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::text::template::Formats;

/// How a call was marked: how much it takes to write one by accident, or by quoting somebody.
///
/// ```
/// use hanok_parse::{Bare, Declared, Mark, Parser};
///
/// let parser = Parser::new(Declared::new().tool("find")).policy(Bare::On);
/// for (text, mark) in [
///     ("[TOOL_CALLS]find[ARGS]{}", Mark::Special),
///     ("<tool_call>{\"name\": \"find\", \"arguments\": {}}</tool_call>", Mark::Tag),
///     ("{\"name\": \"find\", \"arguments\": {}}", Mark::Bare),
/// ] {
///     assert_eq!(parser.parse(text).calls[0].mark, mark);
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Mark {
    /// By a token of the model's vocabulary: `<|tool_call|>`, `[TOOL_CALLS]`, `✿FUNCTION✿`.
    Special,
    /// By a tag, or by a label with a close: `<tool_call>`, a fence of `tool_code`.
    Tag,
    /// By nothing but JSON, Python's syntax, or a label at the start of a line: `Action:`, `[find()]`.
    Bare,
}

/// Whether forms without a mark are read: JSON, Python's calls, and labels such as `Action:`. Documents are full of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Bare {
    /// Never.
    Off,
    /// Those that the prompt asks for ([`Parser::asked`](crate::Parser::asked)), or that belong to a format that was told.
    #[default]
    Asked,
    /// All of them: for texts whose format nobody knows, where nothing that is read runs by itself.
    On,
}

/// What counts as a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Policy {
    /// Whether forms without a mark are read. Default: [`Bare::Asked`].
    pub bare: Bare,
    /// Whether the format of the first call holds for the rest of the reply. What looks like a call in another one is text,
    /// with a [note](crate::NoteKind::OtherFormat). Default: `true`.
    pub lock: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { bare: Bare::default(), lock: true }
    }
}

impl From<Bare> for Policy {
    /// The default but for the forms without a mark.
    fn from(bare: Bare) -> Self {
        Self { bare, ..Self::default() }
    }
}

/// The formats that a conversation has settled on: a value to store with it, and to give to the parser of its next reply.
///
/// ```
/// use hanok_parse::{Declared, Lock, Parser};
///
/// let parser = Parser::new(Declared::new().tool("find"));
/// let reply = parser.parse("<tool_call>{\"name\": \"find\", \"arguments\": {}}</tool_call>");
/// let parser = parser.locked(&reply.lock);
/// assert!(parser.parse("[TOOL_CALLS]find[ARGS]{}").calls.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Lock(Formats);

impl Lock {
    pub(crate) fn of(formats: Formats) -> Self {
        Self(formats)
    }

    /// The formats that still count. None says that nothing was called yet: all do.
    #[must_use]
    pub fn formats(&self) -> &Formats {
        &self.0
    }
}
