//! A call as a reader hands it over.

use std::ops::Range;

use crate::{declared::CallKind, json::members::Members};

/// What is called, and where it stands.
#[derive(Debug)]
pub(crate) struct Called<'a> {
    pub(crate) kind: CallKind,
    /// The name as it was written.
    pub(crate) name: &'a str,
    /// The declared name that it means, where it was looked up.
    pub(crate) resolved: Option<&'a str>,
    /// From its marker to its end.
    pub(crate) span: Range<usize>,
    /// Where its input stands.
    pub(crate) written: Range<usize>,
    /// The id that its format carries.
    pub(crate) id: Option<String>,
    /// The id may stand behind the input: it is not told when the call begins.
    pub(crate) untold: bool,
    /// The members of its input, where they are known.
    pub(crate) members: Option<Members<'a>>,
}

impl<'a> Called<'a> {
    /// A call of a tool.
    pub(crate) fn tool(name: &'a str, span: Range<usize>, written: Range<usize>) -> Self {
        Self::of(CallKind::Tool, name, span, written)
    }

    /// A call of a tool, or a delegation.
    pub(crate) fn of(
        kind: CallKind,
        name: &'a str,
        span: Range<usize>,
        written: Range<usize>,
    ) -> Self {
        Self { kind, name, resolved: None, span, written, id: None, untold: false, members: None }
    }

    /// The same with an id.
    pub(crate) fn id(self, id: Option<String>) -> Self {
        Self { id, ..self }
    }

    /// The same, whose id is not told when it begins.
    pub(crate) fn untold(self, untold: bool) -> Self {
        Self { untold, ..self }
    }

    /// The same, whose declared name was looked up.
    pub(crate) fn resolved(self, resolved: Option<&'a str>) -> Self {
        Self { resolved, ..self }
    }

    /// The same, whose input has these members.
    pub(crate) fn members(self, members: Option<Members<'a>>) -> Self {
        Self { members, ..self }
    }
}
