//! The formats, each a few lines of a table: which mark opens a call, and how it goes on.
//!
//! To add one, write its marks in the file of its family, or a file of its own, and list that file in [`entries`].

use crate::marks::Entry;

mod tagged;

/// How what a mark opens goes on. The alternatives are tried in the order of the fields.
#[derive(Debug)]
pub(crate) struct Rule {
    /// These marks begin the call, and the mark before was its wrapper.
    pub(crate) wraps: &'static [&'static str],
    /// `{` or `[` begins calls in JSON.
    pub(crate) json: Option<Shape>,
    /// A name, and what may follow it.
    pub(crate) name: &'static [(&'static str, Then)],
    /// What closes the call.
    pub(crate) closes: &'static [&'static str],
    /// The mark is a token that no prose has: what does not fit is malformed, and not text.
    pub(crate) strict: bool,
}

/// How JSON says what is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// By members for name and arguments.
    Members,
    /// The key is the name, its value the arguments.
    Key,
}

/// What the mark behind a name means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    /// The name was in a tag, and `<tool_input>` may follow.
    Input,
    /// JSON arguments follow.
    Json,
}

impl Rule {
    pub(crate) const NEW: Self =
        Self { wraps: &[], json: None, name: &[], closes: &[], strict: false };
}

/// The marks of all formats.
pub(crate) fn entries() -> impl Iterator<Item = &'static Entry> {
    [tagged::MARKS].into_iter().flatten()
}
