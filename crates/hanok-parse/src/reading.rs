//! What is being read besides text: the state that waits for more of the text.

use crate::{
    after::After, calls::Calls, elements::Elements, given::Given, header::Header, lead::Lead,
    look::Look, lost::Lost, name::Named, opening::Opening, params::Params, python::Python,
    skip::Skip, suffixed::Suffixed, think::Think, tool_input::ToolInput, walk::Walk,
};

/// What is being read.
#[derive(Debug, Clone, Default)]
pub(crate) enum Reading {
    /// Text.
    #[default]
    Text,
    /// Reasoning.
    Think(Box<Think>),
    /// What a mark opened.
    Opening(Opening),
    /// JSON calls.
    Calls(Box<Calls>),
    /// The JSON arguments of a call whose name is known.
    Given(Box<Given>),
    /// What belongs to a name in a tag.
    Input(Box<ToolInput>),
    /// What stands between a name and its JSON arguments.
    Lead(Box<Lead>),
    /// Parameters in tags.
    Params(Box<Params>),
    /// Nested elements.
    Elements(Box<Elements>),
    /// Calls as Python writes them.
    Python(Box<Python>),
    /// Text among calls that is none.
    Lost(Lost),
    /// A tag with a suffix.
    Suffixed(Suffixed),
    /// The header of a message.
    Header(Header),
    /// A name behind a label.
    Name(Box<Named>),
    /// JSON that could not be read, up to where its brackets balance.
    Skip(Box<Skip>),
    /// What belongs to a call that was read.
    After(After),
}

/// Whether reading came to where the text stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Moved,
    More,
}

impl Reading {
    /// Reads on. What is left to read is in the walk afterwards.
    pub(crate) fn read(self, walk: &mut Walk, look: Look<'_>) -> Progress {
        match self {
            Self::Text => Progress::Moved,
            Self::Think(think) => think.read(walk, look),
            Self::Opening(opening) => opening.read(walk, look),
            Self::Calls(calls) => calls.read(walk, look),
            Self::Given(given) => given.read(walk, look),
            Self::Input(input) => input.read(walk, look),
            Self::Lead(lead) => lead.read(walk, look),
            Self::Params(params) => params.read(walk, look),
            Self::Elements(elements) => elements.read(walk, look),
            Self::Python(python) => python.read(walk, look),
            Self::Lost(lost) => lost.read(walk, look),
            Self::Suffixed(tag) => tag.read(walk, look),
            Self::Header(header) => header.read(walk, look),
            Self::Name(name) => name.read(walk, look),
            Self::Skip(skip) => skip.read(walk, look),
            Self::After(after) => after.read(walk, look),
        }
    }
}
