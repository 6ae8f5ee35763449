//! What a parser looks for.

use std::sync::{Arc, OnceLock};

use crate::{
    declared::Declared,
    format::Format,
    text::{
        formats,
        marks::{self, Entry, Marks},
        template::Formats,
    },
};

/// What may be called, and how it may be written.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) declared: Declared,
    pub(crate) marks: Arc<Marks>,
    pub(crate) formats: Option<Formats>,
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
    /// The tool whose arguments the text is.
    pub(crate) named: Option<String>,
    /// Fences of the language `tool_code`.
    pub(crate) tool_code: bool,
}

impl Setup {
    pub(crate) fn new(declared: Declared, formats: Option<Formats>) -> Self {
        static ALL: OnceLock<Arc<Marks>> = OnceLock::new();
        let formats = formats.filter(|formats| !formats.is_empty());
        let has = |entry: &&Entry| {
            let any = |formats: &Formats| entry.formats.iter().any(|one| formats.contains(*one));
            entry.formats.is_empty() || formats.as_ref().is_none_or(any)
        };
        let marks = match &formats {
            None => Arc::clone(ALL.get_or_init(|| Arc::new(Marks::new(formats::entries())))),
            Some(_) => Arc::new(Marks::new(formats::entries().filter(has))),
        };
        let is = |some: &[Format]| {
            formats.as_ref().is_none_or(|formats| some.iter().any(|one| formats.contains(*one)))
        };
        Self {
            marks,
            lines: Arc::new(Marks::only(
                marks::SENTENCES.iter().chain(formats::line_entries()).filter(has),
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
            headers: is(&[Format::Harmony, Format::Muse]),
            tool_code: is(&[Format::ToolCode]),
            python: is(&[Format::Pythonic, Format::Olmo3, Format::Lfm2]),
            declared,
            formats,
            named: None,
        }
    }

    /// Looks for the arguments of `tool` alone.
    pub(crate) fn named(self, tool: String) -> Self {
        Self {
            marks: Arc::new(Marks::new(std::iter::empty())),
            lines: Arc::new(Marks::only(marks::SENTENCES.iter())),
            labels: false,
            json: false,
            headers: false,
            tool_code: false,
            python: false,
            named: Some(tool),
            ..self
        }
    }

    /// Whether the text is in this format, and in no other.
    pub(crate) fn is_only(&self, format: Format) -> bool {
        self.formats.as_ref().is_some_and(|formats| formats.iter().all(|one| one == format))
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self::new(Declared::default(), None)
    }
}
