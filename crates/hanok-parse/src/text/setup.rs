//! What a parser looks for.

use std::sync::{Arc, OnceLock};

use crate::{
    declared::Declared,
    format::Format,
    text::{
        formats,
        grammar::Headers,
        marks::{Entry, Marks, Meaning},
        table::{FormatTable, GRAMMARS, Grammar, TableError},
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
    /// `Thought:`, `Action:`, `Final Answer:`, `Delegate:` and their relatives. Without them only `Observation:` counts.
    pub(crate) labels: bool,
    /// JSON at the start of a line, bare or in a fence.
    pub(crate) json: bool,
    /// A message's header may have lost its first mark to the chat template.
    pub(crate) headers: Option<&'static Headers>,
    /// `[name(key="value")]` at the start of a line.
    pub(crate) python: bool,
    /// The tool whose arguments the text is.
    pub(crate) named: Option<String>,
    /// Fences of the language `tool_code`.
    pub(crate) tool_code: bool,
    /// GLM's pairs may have lost their first mark to the chat template.
    pub(crate) pairs: bool,
    /// `name(key="value")` at the start of a line.
    pub(crate) code_lines: bool,
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
            None => {
                Arc::clone(ALL.get_or_init(|| Arc::new(Marks::new(formats::entries().copied()))))
            }
            Some(_) => {
                let own = formats::entries().filter(has).copied();
                Arc::new(Marks::guarded(own, formats::guards().copied()))
            }
        };
        let is = |grammar: Grammar| {
            let some = GRAMMARS.iter().filter(|(one, _)| *one == grammar);
            let mut some = some.flat_map(|(_, formats)| formats.iter());
            formats.as_ref().is_none_or(|formats| some.any(|one| formats.contains(*one)))
        };
        Self {
            marks,
            lines: Arc::new(Marks::only(
                formats::SENTENCES.iter().chain(formats::line_entries()).filter(has).copied(),
            )),
            labels: is(Grammar::Labels),
            json: is(Grammar::Json),
            headers: is(Grammar::Headers).then_some(&formats::HEADERS),
            tool_code: is(Grammar::ToolCode),
            pairs: is(Grammar::Pairs),
            code_lines: formats.is_some() && is(Grammar::Lines),
            python: is(Grammar::Python),
            declared,
            formats,
            named: None,
        }
    }

    /// What the tables say. Of what is built in only what guards: marks of reasoning, results and turns.
    pub(crate) fn of_tables(
        declared: Declared,
        tables: &[&FormatTable],
    ) -> Result<Self, TableError> {
        let entries: Vec<Entry> = tables.iter().flat_map(|table| table.entries()).collect();
        let headers = entries.iter().find_map(|entry| match entry.mark {
            Meaning::Header(headers) => Some(headers),
            _ => None,
        });
        let headers = headers.unwrap_or(&formats::HEADERS);
        let marks = Marks::guarded(entries.into_iter(), formats::guards().copied());
        let lines = tables.iter().flat_map(|table| table.line_entries());
        let lines = Marks::only(lines.chain(formats::SENTENCES.iter().copied()));
        if let Some((token, other)) = marks.ambiguous().or_else(|| lines.ambiguous()) {
            let (token, other) = (token.to_owned(), other.to_owned());
            return Err(TableError::Ambiguous { token, other });
        }
        let has = |grammar: Grammar| tables.iter().any(|table| table.has(grammar));
        Ok(Self {
            declared,
            marks: Arc::new(marks),
            formats: Some(Formats::default()),
            lines: Arc::new(lines),
            labels: has(Grammar::Labels),
            json: has(Grammar::Json),
            headers: has(Grammar::Headers).then_some(headers),
            tool_code: has(Grammar::ToolCode),
            pairs: has(Grammar::Pairs),
            code_lines: has(Grammar::Lines),
            python: has(Grammar::Python),
            named: None,
        })
    }

    /// Looks for the arguments of `tool` alone.
    pub(crate) fn named(self, tool: String) -> Self {
        Self {
            marks: Arc::new(Marks::new(formats::guards().copied())),
            lines: Arc::new(Marks::only(formats::SENTENCES.iter().copied())),
            labels: false,
            json: false,
            headers: None,
            tool_code: false,
            pairs: false,
            code_lines: false,
            python: false,
            named: Some(tool),
            ..self
        }
    }

    /// Whether a line that begins with `bytes` may be a call, besides what may be a label. A line of code begins with any letter.
    #[inline]
    pub(crate) fn may_begin_line(&self, bytes: &[u8]) -> bool {
        self.code_lines || self.lines.may_begin_line(bytes)
    }

    /// Whether the text is in this format, and in no other.
    pub(crate) fn is_only(&self, format: Format) -> bool {
        self.formats
            .as_ref()
            .is_some_and(|formats| !formats.is_empty() && formats.iter().all(|one| one == format))
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self::new(Declared::default(), None)
    }
}
