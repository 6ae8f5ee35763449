//! What a parser looks for.

use std::sync::{Arc, OnceLock};

use crate::{
    declared::Declared,
    format::Format,
    text::{
        formats,
        marks::{self, Entry, Marks},
    },
};

/// What may be called, and how it may be written.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) declared: Declared,
    pub(crate) marks: Arc<Marks>,
    pub(crate) format: Option<Format>,
    /// The marks that count at the start of a line.
    pub(crate) lines: Arc<Marks>,
    /// `Thought:`, `Action:`, `Final Answer:`, `Delegate:` and their relatives.
    pub(crate) labels: bool,
    /// JSON at the start of a line, bare or in a fence.
    pub(crate) json: bool,
    /// A message's header may have lost its first mark to the chat template.
    pub(crate) headers: bool,
    /// `[name(key="value")]` at the start of a line.
    pub(crate) python: bool,
    /// Fences of the language `tool_code`.
    pub(crate) tool_code: bool,
}

impl Setup {
    pub(crate) fn new(declared: Declared, format: Option<Format>) -> Self {
        static ALL: OnceLock<Arc<Marks>> = OnceLock::new();
        let has = |entry: &&Entry| format.is_none_or(|format| entry.formats.contains(&format));
        let marks = match format {
            None => Arc::clone(ALL.get_or_init(|| Arc::new(Marks::new(formats::entries())))),
            Some(_) => Arc::new(Marks::new(formats::entries().filter(has))),
        };
        let is = |formats: &[Format]| format.is_none_or(|format| formats.contains(&format));
        Self {
            declared,
            marks,
            format,
            lines: Arc::new(Marks::only(
                marks::SENTENCES.iter().chain(formats::line_entries().filter(has)),
            )),
            labels: is(&[
                Format::React,
                Format::Supervisor,
                Format::Smolagents,
                Format::JsonAction,
                Format::UiTars,
            ]),
            json: is(&[
                Format::React,
                Format::Smolagents,
                Format::JsonAction,
                Format::BareJson,
                Format::OpenaiJson,
                Format::Llama3Json,
                Format::Xlam,
            ]),
            headers: is(&[Format::Harmony]),
            tool_code: is(&[Format::ToolCode]),
            python: is(&[Format::Pythonic, Format::Olmo3, Format::Lfm2]),
        }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self::new(Declared::default(), None)
    }
}
