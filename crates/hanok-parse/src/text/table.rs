//! Formats as data: the marks of one, and how its calls go on.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{
    format::Format,
    text::{formats, marks::Entry, table_data::MarkData},
};

/// More marks than any format has.
const MOST: usize = 256;

/// The marks of a format as data, so that a new model of a known grammar is a file.
///
/// A table is closed: its marks and words are all that it says. [`Grammar`]s are code, and only the table of a format that is
/// built in may name those of this format.
///
/// [`FormatTable::builtin`] gives the tables of the formats that are known, `parse --table FORMAT` of the examples prints them.
///
/// ```
/// use hanok_parse::{Declared, FormatTable, Parser};
///
/// // GLM's pairs in tags of its own.
/// let table = FormatTable::from_json(r#"{
///     "name": "my_model",
///     "marks": [
///         {"token": "<my_call>", "open": {
///             "closes": ["</my_call>"],
///             "name": [["<k>", {"tags_here": {
///                 "open": "<k>", "head": "</k>", "value": "<v>", "close": "</v>", "end": "</my_call>"
///             }}]]
///         }},
///         {"token": "</my_call>", "close": true}
///     ]
/// }"#)?;
/// let parser = Parser::new(Declared::new().tool("find")).tables([&table])?;
/// let reply = parser.parse("<my_call>find<k>q</k><v>휴가</v></my_call>");
/// assert_eq!(reply.calls[0].arguments.as_str(), r#"{"q":"휴가"}"#);
/// # Ok::<(), hanok_parse::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct FormatTable {
    name: String,
    /// What counts anywhere.
    #[cfg_attr(feature = "serde", serde(default))]
    marks: Vec<MarkData>,
    /// What counts at the start of a line.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    lines: Vec<MarkData>,
    /// What has no marks.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    grammars: Vec<Grammar>,
}

/// A way to write calls that has no marks of its own. Each is code that is built in; a [`FormatTable`] that is read from a file
/// has none but those of the format of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Grammar {
    /// `Action:`, `Final Answer:`, `Delegate:` and their relatives.
    Labels,
    /// JSON at the start of a line, bare or in a fence.
    Json,
    /// `[name(key="value")]`.
    Python,
    /// gpt-oss's headers without their first mark.
    Headers,
    /// Fences of the language `tool_code`.
    ToolCode,
    /// GLM's pairs without their first mark.
    Pairs,
    /// A line `name(key="value")`. Prose shows code so: it is looked for only where it is named.
    Lines,
}

impl Grammar {
    /// Its name in a table.
    fn name(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Json => "json",
            Self::Python => "python",
            Self::Headers => "headers",
            Self::ToolCode => "tool_code",
            Self::Pairs => "pairs",
            Self::Lines => "lines",
        }
    }

    /// Whether nothing marks its calls.
    pub(crate) fn is_bare(self) -> bool {
        matches!(self, Self::Labels | Self::Json | Self::Python | Self::Lines)
    }
}

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// It is no JSON, or not that of a table.
    Json {
        /// What `serde_json` says.
        message: String,
    },
    /// A mark begins with a letter that prose has: it has to begin with `<`, `[`, `]` or a sign such as `✿`, and to be longer
    /// than one letter.
    Token {
        /// The mark.
        token: String,
    },
    /// A mark is the beginning of another one.
    Ambiguous {
        /// The shorter one.
        token: String,
        /// The longer one.
        other: String,
    },
    /// A word that belongs to a mark is empty, or begins with a letter by which it is not looked for.
    Word {
        /// The mark.
        token: String,
    },
    /// It names a grammar, which is code that is built in, and no format of its name has that.
    Grammar {
        /// The name of the table.
        name: String,
        /// The grammar.
        grammar: Grammar,
    },
    /// It has more marks than any format.
    TooLong {
        /// The name of the table.
        name: String,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json { message } => write!(f, "the table cannot be read: {message}"),
            Self::Token { token } => write!(
                f,
                "the mark `{}` has to begin with `<`, `[`, `]` or a sign such as `✿`",
                token.escape_debug()
            ),
            Self::Ambiguous { token, other } => write!(
                f,
                "the mark `{}` is the beginning of `{}`",
                token.escape_debug(),
                other.escape_debug()
            ),
            Self::Word { token } => {
                write!(
                    f,
                    "the mark `{}` has a word that cannot be looked for",
                    token.escape_debug()
                )
            }
            Self::Grammar { name, grammar } => write!(
                f,
                "the table `{}` names the grammar `{}`, which is code: no format of its name that is built in has it",
                name.escape_debug(),
                grammar.name()
            ),
            Self::TooLong { name } => {
                write!(f, "the table `{}` has more than {MOST} marks", name.escape_debug())
            }
        }
    }
}

impl std::error::Error for TableError {}

impl FormatTable {
    /// The table of a format that is known.
    #[must_use]
    pub fn builtin(format: Format) -> Self {
        let own = |entry: &&'static Entry| entry.formats.contains(&format);
        let has = |grammar: &(Grammar, &[Format])| grammar.1.contains(&format);
        Self {
            name: format.as_str().to_owned(),
            marks: formats::entries().filter(own).map(MarkData::of).collect(),
            lines: formats::line_entries().filter(own).map(MarkData::of).collect(),
            grammars: GRAMMARS.iter().filter(|it| has(it)).map(|(grammar, _)| *grammar).collect(),
        }
    }

    /// Reads a table. With the feature `serde`.
    ///
    /// # Errors
    ///
    /// [`TableError`], when it is none, when one of its marks cannot be one, or when it names a [`Grammar`] that the format of its
    /// name does not have.
    #[cfg(feature = "serde")]
    pub fn from_json(json: &str) -> Result<Self, TableError> {
        let table: Self = serde_json::from_str(json)
            .map_err(|error| TableError::Json { message: error.to_string() })?;
        if table.marks.len() + table.lines.len() > MOST {
            return Err(TableError::TooLong { name: table.name });
        }
        let format = table.format();
        let is_own =
            |grammar: Grammar| format.is_some_and(|own| formats_of(grammar).contains(&own));
        if let Some(grammar) = table.grammars.iter().copied().find(|grammar| !is_own(*grammar)) {
            return Err(TableError::Grammar { name: table.name, grammar });
        }
        let is_mark = |mark: &&MarkData| {
            let first = mark.token.bytes().next();
            mark.token.len() > 1 && first.is_some_and(crate::text::marks::may_begin)
        };
        let bad = table.marks.iter().find(|mark| !is_mark(mark));
        let bad = bad.or_else(|| table.lines.iter().find(|mark| mark.token.len() < 2));
        if let Some(mark) = bad {
            return Err(TableError::Token { token: mark.token.clone() });
        }
        match table.marks.iter().chain(&table.lines).find(|mark| !mark.is_whole()) {
            Some(mark) => Err(TableError::Word { token: mark.token.clone() }),
            None => Ok(table),
        }
    }

    /// The table as JSON, which [`from_json`](Self::from_json) reads as an equal one. With the feature `serde`.
    #[cfg(feature = "serde")]
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The name of the format.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format that has its name, if there is one.
    pub(crate) fn format(&self) -> Option<Format> {
        self.name.parse().ok()
    }

    /// What counts anywhere.
    pub(crate) fn marks(&self) -> &[MarkData] {
        &self.marks
    }

    /// What counts at the start of a line.
    pub(crate) fn lines(&self) -> &[MarkData] {
        &self.lines
    }

    pub(crate) fn has(&self, grammar: Grammar) -> bool {
        self.grammars.contains(&grammar)
    }

    /// Its entries. What they hold stays as long as the process: a table is made once, like a parser.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.made(&self.marks)
    }

    fn made(&self, marks: &[MarkData]) -> Vec<Entry> {
        let place = self.format().and_then(|own| Format::ALL.iter().position(|one| *one == own));
        let formats = place.and_then(|at| Format::ALL.get(at..=at)).unwrap_or_default();
        marks.iter().map(|mark| Entry { formats, ..mark.entry() }).collect()
    }

    pub(crate) fn line_entries(&self) -> Vec<Entry> {
        self.made(&self.lines)
    }
}

/// The formats of `grammar`.
pub(crate) fn formats_of(grammar: Grammar) -> &'static [Format] {
    let own = GRAMMARS.iter().find(|(one, _)| *one == grammar);
    own.map(|(_, formats)| *formats).unwrap_or_default()
}

/// The formats of each grammar.
pub(crate) const GRAMMARS: &[(Grammar, &[Format])] = &[
    (
        Grammar::Labels,
        &[
            Format::React,
            Format::Supervisor,
            Format::Smolagents,
            Format::JsonAction,
            Format::UiTars,
        ],
    ),
    (
        Grammar::Json,
        &[
            Format::BareJson,
            Format::JsonAction,
            Format::OpenaiJson,
            Format::React,
            Format::Smolagents,
            Format::Llama3Json,
            Format::Sarashina,
            Format::Hyperclovax,
            Format::Xlam,
        ],
    ),
    (Grammar::Headers, &[Format::Harmony, Format::Muse]),
    (Grammar::ToolCode, &[Format::ToolCode]),
    (Grammar::Pairs, &[Format::Glm45, Format::Glm47, Format::Glm53]),
    (Grammar::Lines, &[Format::GranitePythonic]),
    (Grammar::Python, &[Format::Pythonic, Format::Olmo3, Format::Lfm2]),
];
