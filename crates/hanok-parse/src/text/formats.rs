//! The formats, each a few lines of a table: which mark opens a call, and how it goes on.
//!
//! To add one, write its marks in the file of its family, or a file of its own, and list that file in [`entries`]. A mark
//! points to a [`Rule`]; where parameters stand in tags, the rule points to [`Tags`].

use crate::text::marks::{Entry, Meaning, common};

mod channels;
mod python;
mod results;
mod sections;
mod tagged;
mod tokens;
mod xml;

pub(crate) use channels::HEADERS;
pub(crate) use tagged::TOOL_CALL;

/// Either closes what either opened.
const RESPONSE: &[&str] = &["Here is my response:", "Here's my response:"];

/// Sentences that open reasoning, at the start of a line.
pub(crate) const SENTENCES: &[Entry] = &[
    common("Here is my thought process:", Meaning::Think(RESPONSE, &[])),
    common("Here's my thought process:", Meaning::Think(RESPONSE, &[])),
    common("Here are my reasoning steps:", Meaning::Think(&["[BEGIN FINAL RESPONSE]"], &[])),
];

/// The marks of all formats.
pub(crate) fn entries() -> impl Iterator<Item = &'static Entry> {
    let formats = [tagged::MARKS, tokens::MARKS, sections::MARKS, xml::MARKS, python::MARKS];
    formats.into_iter().chain([channels::MARKS, results::MARKS]).flatten()
}

/// The marks that say that text calls nothing, whichever formats are looked for.
pub(crate) fn guards() -> impl Iterator<Item = &'static Entry> {
    entries().filter(|entry| entry.mark.guards()).chain(channels::GUARDS)
}

/// The marks that count only at the start of a line: calls behind words that prose has, too.
pub(crate) fn line_entries() -> impl Iterator<Item = &'static Entry> {
    tagged::LINES.iter().chain(tokens::LINES).chain(python::LINES)
}
