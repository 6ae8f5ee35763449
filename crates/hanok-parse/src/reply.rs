//! What a model's text says, once read.

use std::ops::Range;

use serde::Serialize;

use crate::{Arguments, ParseError};

/// What a model's text says.
///
/// At most one of a call and an answer: when a call comes first, the answer was written without its result and is
/// dropped, with a [`Note`]. A text with neither call nor answer nor error has [`content`](Self::content) alone.
/// All spans are byte ranges of the parsed text, on character boundaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
}

/// A part of the text that was recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Where it stands.
    pub span: Range<usize>,
}

/// What a part of the text is. What is no part, and no error, is content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
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
#[non_exhaustive]
pub struct Call {
    /// A tool call or a delegation.
    pub kind: CallKind,
    /// The name as it was declared, not as it was decorated.
    pub name: String,
    /// What the tool gets. A delegation has `{"task": text}`.
    pub arguments: Arguments,
    /// Where the call stands, from its marker to the end of its arguments.
    pub span: Range<usize>,
    /// Where its arguments stand.
    pub given: Range<usize>,
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// A tool.
    Tool,
    /// Another agent, which gets a task.
    Delegate,
}

/// A call that was read whole and may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// The name as the model wrote it, without decoration.
    pub name: String,
    /// The arguments; a JSON string when the model gave plain text.
    pub arguments: Arguments,
    /// Why it may not run.
    pub error: ParseError,
}

/// Something that was repaired or left out, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// What happened.
    pub kind: NoteKind,
    /// The bytes it is about.
    pub span: Range<usize>,
    /// What was mended, one by one, up to 64 of an object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
}

/// One fault of JSON that was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Repair {
    /// What was wrong.
    pub kind: RepairKind,
    /// The byte where it stands.
    pub at: usize,
}

/// What was wrong with the JSON of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// A comma is missing, or one too many.
    Comma,
    /// Quotes other than `"`, or `"` unescaped in a string.
    Quotes,
    /// A word of another language: `True`, `None`.
    Literal,
    /// A key without quotes.
    Key,
    /// A comment.
    Comment,
    /// A control character in a string.
    Control,
    /// An escape that JSON does not know.
    Escape,
    /// A brace or bracket too many, or doubled.
    Brace,
    /// Closers are missing, and the format's own end follows.
    Closer,
    /// Another sign in place of the colon.
    Colon,
}

/// What happened to a part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoteKind {
    /// The arguments were not valid JSON and were mended; no string changed.
    Repaired,
    /// A final answer after a call was dropped: it was written without the call's result.
    DroppedAnswer,
    /// The model invented an observation or a turn. Nothing after it counts.
    InventedObservation,
    /// A reasoning mark was closed that was never opened: everything before it became reasoning.
    Retracted,
    /// The calls come out of the reasoning, because nothing followed it.
    Promoted,
    /// A call's mark stands in reasoning, where it calls nothing.
    Decoy,
    /// Letters other than ASCII were written as `\u` escapes. Models misspell them so; nothing was changed.
    Escaped,
}
