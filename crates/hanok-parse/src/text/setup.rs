//! What a parser looks for.

use std::sync::{Arc, OnceLock};

use crate::{
    declared::Declared,
    format::Format,
    policy::{Bare, Mark},
    text::{
        formats,
        grammar::Headers,
        marks::{self, Entry, Marks, Meaning},
        table::{self, FormatTable, Grammar, TableError},
        template::Formats,
    },
};

/// What may be called, and how it may be written.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) declared: Declared,
    /// What is looked for does not depend on a policy: tables say it, or the one tool that has to be called.
    pub(crate) is_fixed: bool,
    pub(crate) marks: Arc<Marks>,
    pub(crate) formats: Option<Formats>,
    /// The marks that count at the start of a line.
    pub(crate) lines: Arc<Marks>,
    /// `Thought:`, `Action:`, `Final Answer:`, `Delegate:` and their relatives. Without them only `Observation:` counts.
    pub(crate) labels: bool,
    /// The word that labels of calls have behind them, if they have to.
    pub(crate) key: Option<Arc<str>>,
    /// `Thought:` and `Final Answer:` say what is no call.
    pub(crate) answers: bool,
    /// JSON at the start of a line, bare or in a fence.
    pub(crate) json: bool,
    /// A message's header may have lost its first mark to the chat template.
    pub(crate) headers: Option<&'static Headers>,
    /// `[name(key="value")]` at the start of a line.
    pub(crate) python: bool,
    /// One format was told: its forms without a mark count behind prose on their line, too.
    pub(crate) is_free: bool,
    /// The tool whose arguments the text is.
    pub(crate) named: Option<String>,
    /// Fences of the language `tool_code`.
    pub(crate) tool_code: bool,
    /// GLM's pairs may have lost their first mark to the chat template.
    pub(crate) pairs: bool,
    /// `name(key="value")` at the start of a line.
    pub(crate) code_lines: bool,
}

/// Which formats are looked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sought {
    /// Those that the model was told to write. None: all that have a mark.
    pub(crate) told: Option<Formats>,
    /// Those whose forms without a mark the prompt asks for.
    pub(crate) asked: Formats,
    pub(crate) bare: Bare,
    /// No label says what is thought, and what the answer is.
    pub(crate) is_plain: bool,
}

impl Sought {
    /// The formats whose forms without a mark are read.
    fn bare(self) -> Formats {
        match (self.bare, self.told) {
            (Bare::Off, _) => Formats::default(),
            (Bare::On, None) => Formats::of(Format::ALL),
            (_, told) => told.unwrap_or_default().or(self.asked),
        }
    }
}

impl Setup {
    pub(crate) fn new(declared: Declared, sought: Sought) -> Self {
        static ALL: OnceLock<Arc<Marks>> = OnceLock::new();
        let sought = Sought { told: sought.told.filter(|told| !told.is_empty()), ..sought };
        let (formats, bare) = (sought.told, sought.bare());
        let any = |list: &[Format], of: Formats| !Formats::of(list).and(of).is_empty();
        let has = |entry: &&Entry| {
            let is_bare = marks::trust(entry.token) == Mark::Bare && entry.mark.opens();
            let of = if is_bare { Some(bare) } else { formats };
            entry.formats.is_empty() || of.is_none_or(|of| any(entry.formats, of))
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
            let of = if grammar.is_bare() { Some(bare) } else { formats };
            of.is_none_or(|of| any(table::formats_of(grammar), of))
        };
        let is_named = formats.is_some() || sought.asked.contains(Format::GranitePythonic);
        Self {
            marks,
            lines: Arc::new(Marks::only(
                formats::SENTENCES.iter().chain(formats::line_entries()).filter(has).copied(),
            )),
            labels: is(Grammar::Labels),
            answers: !sought.is_plain && (formats.is_none() || is(Grammar::Labels)),
            json: is(Grammar::Json),
            headers: is(Grammar::Headers).then_some(&formats::HEADERS),
            tool_code: is(Grammar::ToolCode),
            pairs: is(Grammar::Pairs),
            code_lines: is_named && is(Grammar::Lines),
            python: is(Grammar::Python),
            declared,
            key: None,
            is_fixed: false,
            is_free: formats.is_some_and(|told| told.iter().count() == 1),
            formats,
            named: None,
        }
    }

    /// The same for other formats.
    pub(crate) fn seeking(&self, sought: Sought) -> Self {
        Self::new(self.declared.clone(), sought).keyed(self.key.clone())
    }

    /// The same with labels that carry `key`. No other form without a mark could.
    pub(crate) fn keyed(self, key: Option<Arc<str>>) -> Self {
        match key {
            None => self,
            key => Self { key, json: false, python: false, code_lines: false, ..self },
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
        // Tables that have the names of formats are of these.
        let builtin: Option<Formats> = tables.iter().map(|table| table.format()).collect();
        Ok(Self {
            declared,
            key: None,
            is_fixed: true,
            marks: Arc::new(marks),
            formats: Some(builtin.unwrap_or_default()),
            lines: Arc::new(lines),
            labels: has(Grammar::Labels),
            answers: has(Grammar::Labels),
            json: has(Grammar::Json),
            headers: has(Grammar::Headers).then_some(headers),
            tool_code: has(Grammar::ToolCode),
            pairs: has(Grammar::Pairs),
            code_lines: has(Grammar::Lines),
            python: has(Grammar::Python),
            is_free: tables.len() == 1,
            named: None,
        })
    }

    /// The word that labels of calls have behind them, if they have to.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Looks for the arguments of `tool` alone.
    pub(crate) fn named(self, tool: String) -> Self {
        Self { named: Some(tool), ..self.without_calls() }
    }

    /// Looks for no call, and for no label of an answer.
    pub(crate) fn without_calls(self) -> Self {
        static GUARDS: OnceLock<Arc<Marks>> = OnceLock::new();
        let guards = || Arc::new(Marks::new(formats::guards().copied()));
        Self {
            is_fixed: true,
            is_free: false,
            marks: Arc::clone(GUARDS.get_or_init(guards)),
            lines: Arc::new(Marks::only(formats::SENTENCES.iter().copied())),
            labels: false,
            answers: false,
            json: false,
            headers: None,
            tool_code: false,
            pairs: false,
            code_lines: false,
            python: false,
            named: None,
            ..self
        }
    }

    /// The formats that count in every reply, with those that are `asked` for. None: all do.
    pub(crate) fn told(&self, asked: Formats) -> Formats {
        match self.formats {
            Some(told) if self.is_told() => told.or(asked),
            _ => Formats::default(),
        }
    }

    /// Whether formats were told.
    pub(crate) fn is_told(&self) -> bool {
        self.formats.is_some_and(|told| !told.is_empty())
    }

    /// Whether a form without a mark may begin with `bytes` within a line.
    pub(crate) fn may_begin_inside(&self, bytes: &[u8]) -> bool {
        self.is_free
            && (self.json && bytes.first() == Some(&b'{') || self.lines.may_begin_line(bytes))
    }

    /// Whether a line that begins with `bytes` may be a call, besides what may be a label. A line of code begins with any letter.
    #[inline]
    pub(crate) fn may_begin_line(&self, bytes: &[u8]) -> bool {
        self.code_lines || self.lines.may_begin_line(bytes)
    }

    /// Whether the text is in this format, and in no other.
    pub(crate) fn is_only(&self, format: Format) -> bool {
        self.formats == Some(Formats::of(&[format]))
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self::new(Declared::default(), Sought::default())
    }
}
