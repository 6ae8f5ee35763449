//! What was repaired or left out.

use std::ops::Range;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::json::fault::Repair;

/// Something that was repaired or left out, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Note {
    /// What happened.
    pub kind: NoteKind,
    /// The bytes it is about.
    pub span: Range<usize>,
    /// What was mended, one by one, up to 64 of an object.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub repairs: Vec<Repair>,
    /// Where the values stand that contradict their types, `rows[0].id`, up to 8 of a call.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub paths: Vec<String>,
}

impl Note {
    pub(crate) fn new(kind: NoteKind, span: Range<usize>) -> Self {
        Self { kind, span, repairs: Vec::new(), paths: Vec::new() }
    }
}

/// What happened to a part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
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
    /// A value contradicts the declared type of its parameter, or of its place in one: a number that was written as a string is handed on as the
    /// number, anything else as it came.
    Mistyped,
    /// What looks like a call in a format that is not known. It is text.
    UnknownMark,
    /// A call's mark that is quoted or shown: in quotation marks, inline code, a comment, a blockquote, the value of a parameter
    /// whose call did not begin. It is text. Up to 8 of a reply are noted.
    Quoted,
    /// What looks like a call in another format than the first one, or than those of the conversation. It is text.
    OtherFormat,
    /// A list of calls of declared tools, in which one cannot be read. It is text.
    Unreadable,
    /// Letters other than ASCII were written as `\u` escapes. Models misspell them so; nothing was changed.
    Escaped,
}
