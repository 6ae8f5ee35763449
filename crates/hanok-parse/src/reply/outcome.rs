//! What a model's text says, once read.

use std::ops::Range;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{
    declared::CallKind,
    format::Format,
    policy::{Lock, Mark},
    reply::{arguments::Arguments, error::ParseError, finish::FinishReason, note::Note},
};

/// What a model's text says.
///
/// At most one of a call and an answer: when a call comes first, the answer was written without its result and is
/// dropped, with a [`Note`]. A text with neither call nor answer nor error has [`content`](Self::content) alone.
/// All spans are byte ranges of the parsed text, on character boundaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Reply {
    /// The calls, in the order of the text. All of them name a declared tool or agent.
    pub calls: Vec<Call>,
    /// The final answer, trimmed.
    pub answer: Option<String>,
    /// What stands after `Thought:` labels. Several are joined by a line break.
    pub thought: Option<String>,
    /// The text outside calls, labels and reasoning, trimmed.
    pub content: String,
    /// The text between reasoning marks. Several pieces are joined by a line break.
    pub reasoning: Option<String>,
    /// The first thing in the text that was meant as a call and cannot be one. Good calls stay beside it.
    pub error: Option<ParseError>,
    /// Calls that were read whole and may not run, each with the reason.
    pub rejected: Vec<Rejected>,
    /// What was repaired or left out.
    pub notes: Vec<Note>,
    /// What was recognised, and where, in the order of the text.
    pub parts: Vec<Part>,
    /// The reason that a server may give for the end.
    pub finish: FinishReason,
    /// The formats that count in the next reply of the same conversation ([`Parser::locked`](crate::Parser::locked)).
    #[cfg_attr(feature = "serde", serde(default))]
    pub lock: Lock,
}

/// A part of the text that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Where it stands.
    pub span: Range<usize>,
}

/// What a part of the text is. What is no part, and no error, is content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PartKind {
    /// Text between reasoning marks, without the marks.
    Reasoning,
    /// A thought, with its label.
    Thought,
    /// A call, with its marks.
    Call,
    /// The arguments of a call, as they were written.
    Arguments,
    /// The final answer, with its label.
    Answer,
}

/// One call that the text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Call {
    /// A tool call or a delegation.
    pub kind: CallKind,
    /// The name as it was declared, not as it was decorated.
    pub name: String,
    /// What the tool gets. A delegation has `{"task": text}`.
    pub arguments: Arguments,
    /// The id that the text gives the call, where its format has one: `functions.find:0` of Kimi, `[CALL_ID]` of Mistral,
    /// the `id` or `tool_call_id` of a JSON call.
    pub id: Option<String>,
    /// The format by which it was read. Formats that share its mark are told apart by what follows, as far as that goes; none is
    /// that of a table of one's own.
    pub format: Option<Format>,
    /// How it was marked.
    pub mark: Mark,
    /// Where the call stands, from its marker to the end of its arguments.
    pub span: Range<usize>,
    /// Where its arguments stand.
    pub written: Range<usize>,
}

/// A call that was read whole and may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Rejected {
    /// The name as the model wrote it, without decoration.
    pub name: String,
    /// The arguments; a JSON string when the model gave plain text.
    pub arguments: Arguments,
    /// Why it may not run.
    pub error: ParseError,
}
