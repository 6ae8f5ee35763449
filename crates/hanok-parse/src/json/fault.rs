//! Faults of JSON that are mended.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// One fault of JSON that was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Repair {
    /// What was wrong.
    pub kind: RepairKind,
    /// The byte where it stands.
    pub at: usize,
}

/// What was wrong with the JSON of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
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
