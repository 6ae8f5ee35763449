//! The formats, each a few lines of a table: which mark opens a call, and how it goes on.
//!
//! To add one, write its marks in the file of its family, or a file of its own, and list that file in [`entries`]. A mark
//! points to a [`Rule`]; where parameters stand in tags, the rule points to [`Tags`].

use std::sync::OnceLock;

use crate::{
    format::Format,
    text::{
        marks::{By, Entry, Meaning, common},
        template::Formats,
    },
};

mod channels;
mod dsml;
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
    let formats = formats.into_iter().chain([channels::MARKS, results::MARKS]);
    formats.flatten().chain(dsml::MARKS.into_iter().flatten()).chain(values())
}

/// The marks of values, in all formats: behind one whose call did not begin stands data all the same.
fn values() -> &'static [Entry] {
    static VALUES: OnceLock<Vec<Entry>> = OnceLock::new();
    VALUES.get_or_init(|| {
        let formats = [tagged::MARKS, tokens::MARKS, xml::MARKS, python::MARKS, channels::MARKS];
        let entries = formats.into_iter().flatten().chain(dsml::MARKS.into_iter().flatten());
        let marks = entries.flat_map(|entry| entry.mark.values());
        let mut values: Vec<Entry> =
            marks.map(|(open, close)| common(open, Meaning::Comment(close))).collect();
        values.sort_by_key(|entry| entry.token);
        values.dedup_by_key(|entry| entry.token);
        values
    })
}

/// The marks that say that text calls nothing, whichever formats are looked for.
pub(crate) fn guards() -> impl Iterator<Item = &'static Entry> {
    entries().filter(|entry| entry.mark.guards()).chain(channels::GUARDS)
}

/// The marks that count only at the start of a line: calls behind words that prose has, too.
pub(crate) fn line_entries() -> impl Iterator<Item = &'static Entry> {
    tagged::LINES.iter().chain(tokens::LINES).chain(python::LINES)
}

/// How a call goes on behind its mark.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Behind<'a> {
    Json,
    Python,
    /// A name, and this token.
    Name(&'a str),
}

/// Those of the formats with the same mark that a call may be of which goes on so. Others that have the mark write it otherwise.
pub(crate) fn narrowed(by: By, behind: Behind<'_>) -> By {
    use Format::{
        Ernie45, Glm45, Glm47, Glm53, Granite4, Hermes, HyV3, Hyperclovax, Llama3Json,
        LlamaBuiltin, Mistral, MistralV11, Olmo3, ToolInputXml,
    };
    let (list, formats) = match (by.list, behind) {
        ([Hermes, ..], Behind::Json) => const { set(&[Hermes, Granite4, Ernie45]) },
        ([Hermes, ..], Behind::Python) => const { set(&[Hermes]) },
        ([Hermes, ..], Behind::Name("</tool_call>")) => {
            const { set(&[ToolInputXml, Glm45, Glm47, Glm53, Hyperclovax]) }
        }
        ([Hermes, ..], Behind::Name("<arg_key>")) => {
            const { set(&[Glm45, Glm47, Glm53, Hyperclovax]) }
        }
        ([Hermes, ..], Behind::Name("<tool_sep>" | "<end_of_tool_call>")) => const { set(&[HyV3]) },
        ([Hermes, ..], Behind::Name(_)) => const { set(&[Glm53]) },
        ([Llama3Json, ..], Behind::Json) => const { set(&[Llama3Json]) },
        ([Llama3Json, ..], Behind::Python) => const { set(&[LlamaBuiltin, Llama3Json]) },
        ([Mistral, ..], Behind::Json) => const { set(&[Mistral]) },
        ([Mistral, ..], Behind::Name(_)) => const { set(&[MistralV11]) },
        ([Olmo3, ..], Behind::Python) => const { set(&[Olmo3]) },
        _ => return by,
    };
    By { list, formats, ..by }
}

const fn set(list: &'static [Format]) -> (&'static [Format], Formats) {
    (list, Formats::of(list))
}
