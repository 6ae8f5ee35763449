//! How the calls of a table are spelled.
//!
//! A table says what may follow a mark. Each such way is a [`Block`] here, so that grammars are printed from one description.

use serde_json::Value;

use crate::{
    constrain::no_grammar::NoGrammar,
    format::Format,
    policy::Mark,
    text::{
        formats::{self, Behind},
        marks::By,
        rule::{Otherwise, Shape},
        table::FormatTable,
        table_data::{MarkData, MarkKind, RuleData, TagsData, ThenData},
    },
};

/// Formats whose models write other words than their tables say: the grammar of these would be another format.
const UNTOLD: &[Format] = &[
    // `.call` behind the name.
    Format::LlamaBuiltin,
    // No mark at the end, which the table has.
    Format::Granite20bFc,
    // An object in the brackets of Python's calls.
    Format::CallingTool,
    // An id before the name, by keys of its own.
    Format::Cohere,
    // A type, and a fence round the arguments.
    Format::DeepseekV3,
    // An attribute that says whether a value is a string.
    Format::DeepseekV32,
    Format::DeepseekV4,
    Format::DeepseekV41,
    Format::Gigachat3,
    // Attributes for the type of a value, and for the place of a call.
    Format::KimiK3,
    // `functions.` and a number round the name.
    Format::KimiK2,
    // Tokens round a call, in an order that is not told.
    Format::Plamo3,
    // A header before the calls, and a key of its own.
    Format::Inkling,
    // Colons behind the marks.
    Format::QwenAgent,
    // Tokens and a type round the tags.
    Format::Step3,
];

/// A tool that is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool<'s> {
    /// Its place, by which its rules are named.
    pub(crate) at: usize,
    pub(crate) name: &'s str,
    pub(crate) schema: &'s Value,
}

/// How calls are spelled.
#[derive(Debug, Default)]
pub(crate) struct Spelling<'t> {
    pub(crate) blocks: Vec<Block<'t>>,
    /// What may stand round calls, its beginning and its end.
    pub(crate) wrappers: Vec<(String, String)>,
}

/// What a mark begins.
#[derive(Debug)]
pub(crate) struct Block<'t> {
    pub(crate) open: String,
    pub(crate) close: String,
    /// The mark counts at the start of a line.
    pub(crate) is_line: bool,
    pub(crate) body: Body<'t>,
}

/// What stands between the marks.
#[derive(Debug)]
pub(crate) enum Body<'t> {
    /// One call.
    Call(Call<'t>),
    /// Calls of JSON in a list, whose beginning is one of the first, and whose end one of the last.
    List(Vec<String>, Vec<Call<'t>>, Vec<String>),
    /// Calls as Python writes them.
    Python,
}

impl Body<'_> {
    /// Whether it may call the tool at this place.
    pub(crate) fn calls(&self, tool: usize) -> bool {
        match self {
            Self::Call(call) => call.tool == tool,
            Self::List(..) | Self::Python => true,
        }
    }
}

/// One call of a tool.
#[derive(Debug)]
pub(crate) struct Call<'t> {
    /// The place of the tool.
    pub(crate) tool: usize,
    /// One of these stands behind the mark.
    pub(crate) heads: Vec<String>,
    /// An id stands behind it, and then this.
    pub(crate) id: Option<String>,
    pub(crate) arguments: Arguments<'t>,
    /// One of these stands behind the arguments.
    pub(crate) tails: Vec<String>,
}

/// How arguments are written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arguments<'t> {
    Json,
    /// In tags. Whether there may be none.
    Tags(&'t TagsData, bool),
    /// In round brackets.
    Python,
    /// In Gemma's notation, with this around strings.
    Quoted(&'t str),
}

impl<'t> Spelling<'t> {
    /// How `table` says that calls of `tools` are spelled.
    pub(crate) fn of(table: &'t FormatTable, tools: &[Tool<'_>]) -> Result<Self, NoGrammar> {
        let format = || table.name().to_owned();
        if table.format().is_some_and(|own| UNTOLD.contains(&own)) {
            return Err(NoGrammar::Untold { format: format() });
        }
        let mut made = Maker { table, tools, spelling: Self::default(), answers: false };
        let lines = table.lines().iter().map(|mark| (mark, true));
        for (mark, is_line) in table.marks().iter().map(|mark| (mark, false)).chain(lines) {
            if let MarkKind::Open(rule) = &mark.mark {
                made.open(&mark.token, rule, is_line);
            }
        }
        let is_own = |mark: &MarkData| match &mark.mark {
            MarkKind::Open(rule) => {
                rule.name.iter().any(|(_, then)| matches!(then, ThenData::Words(_)))
            }
            MarkKind::Header(_) | MarkKind::Elements(_) | MarkKind::Suffixed(_) => true,
            MarkKind::Words { .. } | MarkKind::Attributes(_) => true,
            _ => false,
        };
        match made {
            Maker { spelling, .. } if !spelling.blocks.is_empty() => Ok(spelling),
            Maker { answers: true, .. } => Err(NoGrammar::Answers { format: format() }),
            _ if table.marks().iter().any(is_own) => {
                Err(NoGrammar::OwnGrammar { format: format() })
            }
            _ => Err(NoGrammar::Unmarked { format: format() }),
        }
    }
}

struct Maker<'t, 'a, 's> {
    table: &'t FormatTable,
    tools: &'a [Tool<'s>],
    spelling: Spelling<'t>,
    /// A mark that begins answers, too, was left out.
    answers: bool,
}

impl<'t> Maker<'t, '_, '_> {
    fn has(&self, token: &str) -> bool {
        self.table.marks().iter().any(|mark| mark.token == token)
    }

    /// The formats that are built in and have the mark, for a table that has the name of one.
    fn sharers(&self, token: &str) -> Option<(Format, &'static [Format])> {
        let own = self.table.format()?;
        let entry = formats::entries().find(|entry| entry.token == token)?;
        Some((own, entry.formats))
    }

    /// Whether calls of this format go on so behind the mark `token`. Others that have the mark may write it otherwise.
    fn goes_on(&self, token: &str, behind: Behind<'_>) -> bool {
        self.sharers(token).is_none_or(|(own, all)| {
            formats::narrowed(By::of(all, Mark::Bare), behind).list.contains(&own)
        })
    }

    /// The close marks of `rule` that are this format's: others that share the rule may have more.
    fn closes(&self, rule: &'t RuleData) -> impl DoubleEndedIterator<Item = &'t String> {
        let has_own = rule.closes.iter().any(|close| self.has(close));
        let is_builtin = self.table.format().is_some();
        let own: Vec<_> =
            rule.closes.iter().filter(|close| self.has(close) || !has_own && !is_builtin).collect();
        own.into_iter()
    }

    fn open(&mut self, token: &str, rule: &'t RuleData, is_line: bool) {
        if rule.otherwise == Otherwise::Drop || rule.everybody.is_some() {
            self.answers = true;
            return;
        }
        // Prose has the word.
        if is_line && rule.declared {
            return;
        }
        if rule.wraps.iter().any(|wrapped| self.has(wrapped)) {
            let close = self.closes(rule).next_back().cloned().unwrap_or_default();
            self.wrapper(token.to_owned(), close);
            return;
        }
        let close = self.closes(rule).next().cloned().unwrap_or_default();
        let begun = Begun { token, is_line, skips: &rule.skips, close: &close };
        if let Some(shape) = rule.json.filter(|_| self.goes_on(token, Behind::Json)) {
            self.json(begun, shape);
        }
        for (separator, then) in &rule.name {
            let ends_tags = rule.name.iter().any(|(other, then)| {
                matches!(then, ThenData::TagsHere(tags) if tags.end == *separator)
                    && self.goes_on(token, Behind::Name(other))
            });
            // A call without parameters: the others say it.
            let is_end = matches!(then, ThenData::Input(_)) && ends_tags;
            if self.goes_on(token, Behind::Name(separator)) && !is_end {
                self.named(begun, separator, then, rule);
            }
        }
        // Without an end it is not known when Python's calls are over.
        if rule.python && !close.is_empty() && self.goes_on(token, Behind::Python) {
            self.block(begun, &close, Body::Python);
        }
        if let Some(attribute) = rule.attribute.as_ref().filter(|own| !own.end.is_empty()) {
            let end = &attribute.end;
            let head = |name: &str| format!("{}=\"{name}\"{end}", attribute.key);
            self.tags(begun, &attribute.tags, true, head);
        }
    }

    fn wrapper(&mut self, open: String, close: String) {
        let wrapper = (open, close);
        if !self.spelling.wrappers.contains(&wrapper) {
            self.spelling.wrappers.push(wrapper);
        }
    }

    fn block(&mut self, begun: Begun<'_>, close: &str, body: Body<'t>) {
        let (open, close) = (begun.token.to_owned(), close.to_owned());
        self.spelling.blocks.push(Block { open, close, is_line: begun.is_line, body });
    }

    /// JSON calls, alone or in a list.
    fn json(&mut self, begun: Begun<'_>, shape: Shape) {
        let begin = |sign: &str| -> Vec<String> {
            let blanks = |skip| ["", "\n", " "].map(move |blank| format!("{skip}{blank}{sign}"));
            begun.skipped().flat_map(blanks).collect()
        };
        let end = |sign: &str| {
            let blanks: &[&str] = if begun.close.is_empty() { &[""] } else { &["", "\n"] };
            blanks.iter().map(|blank| format!("{sign}{blank}")).collect::<Vec<_>>()
        };
        let calls = |begins: &[String], tails: &[String]| -> Vec<Call<'t>> {
            let call = |tool: &Tool<'_>| {
                let key = |begin| keys(tool.name, shape).map(move |key| format!("{begin}{key}"));
                let (heads, tails) = (begins.iter().flat_map(key).collect(), tails.to_vec());
                Call { tool: tool.at, heads, id: None, arguments: Arguments::Json, tails }
            };
            self.tools.iter().map(call).collect()
        };
        let own = calls(&begin("{"), &end("}"));
        let items = calls(&["{".to_owned()], &["}".to_owned()]);
        for call in own {
            self.block(begun, begun.close, Body::Call(call));
        }
        self.block(begun, begun.close, Body::List(begin("["), items, end("]")));
    }

    /// A name, and what the mark behind it says.
    fn named(&mut self, begun: Begun<'_>, separator: &str, then: &'t ThenData, rule: &'t RuleData) {
        let between = rule.between.concat();
        match then {
            ThenData::Json | ThenData::Typed => {
                self.calls(begun, Arguments::Json, begun.close, |name| {
                    (format!("{name}{separator}{between}"), None)
                });
            }
            ThenData::FromToken => {
                let Some(separator) = separator.strip_suffix('{') else { return };
                self.calls(begun, Arguments::Json, begun.close, |name| {
                    (format!("{name}{separator}"), None)
                });
            }
            ThenData::Named => {
                self.calls(begun, Arguments::Json, begun.close, |name| {
                    (String::new(), Some(format!("{separator}{name}{between}")))
                });
            }
            ThenData::Id => {
                let behind = |(other, then): &(String, ThenData)| {
                    matches!(then, ThenData::Json).then(|| format!("{other}{between}"))
                };
                let Some(behind) = rule.name.iter().find_map(behind) else { return };
                self.calls(begun, Arguments::Json, begun.close, |name| {
                    (format!("{name}{separator}"), Some(behind.clone()))
                });
            }
            ThenData::Input(input) => {
                for line in ["", "\n"] {
                    self.calls(begun, Arguments::Json, &input.close, |name| {
                        (format!("{name}{separator}{line}{}", input.open), None)
                    });
                }
            }
            ThenData::Tags(tags) => {
                self.tags(begun, tags, true, |name| format!("{name}{separator}"));
                // Or JSON in their place.
                self.calls(begun, Arguments::Json, &tags.end, |name| {
                    (format!("{name}{separator}"), None)
                });
            }
            ThenData::TagsHere(tags) if tags.open == separator => {
                let ends = |(token, _): &(String, ThenData)| {
                    *token == tags.end || Some(token) == tags.other_end.as_ref()
                };
                self.tags(begun, tags, rule.name.iter().any(ends), str::to_owned);
            }
            ThenData::Python if separator == "(" => {
                self.calls(begun, Arguments::Python, begun.close, |name| (name.to_owned(), None));
            }
            ThenData::Quoted(quote) if separator == "{" => {
                self.calls(begun, Arguments::Quoted(quote), begun.close, |name| {
                    (name.to_owned(), None)
                });
            }
            // The end of tags, words that are no arguments, or what the arguments would begin with.
            _ => {}
        }
    }

    /// A call with parameters in tags.
    fn tags(
        &mut self,
        begun: Begun<'_>,
        tags: &'t TagsData,
        none: bool,
        head: impl Fn(&str) -> String,
    ) {
        let head = |name: &str| (head(name), None);
        self.calls(begun, Arguments::Tags(tags, none), &tags.end, head);
        for close in &tags.behind {
            let open = close.replacen("</", "<", 1);
            if open != *close && self.has(&open) && self.has(close) {
                self.wrapper(open, close.clone());
            }
        }
    }

    fn calls(
        &mut self,
        begun: Begun<'_>,
        arguments: Arguments<'t>,
        close: &str,
        head: impl Fn(&str) -> (String, Option<String>),
    ) {
        for Tool { at: tool, name, .. } in self.tools.iter().copied() {
            let (head, id) = head(name);
            let heads = begun.skipped().map(|skip| format!("{skip}{head}")).collect();
            let call = Call { tool, heads, id, arguments, tails: vec![String::new()] };
            self.block(begun, close, Body::Call(call));
        }
    }
}

/// A mark, what may stand behind it and means nothing, and what closes the call.
#[derive(Debug, Clone, Copy)]
struct Begun<'r> {
    token: &'r str,
    is_line: bool,
    skips: &'r [String],
    close: &'r str,
}

impl<'r> Begun<'r> {
    fn skipped(self) -> impl Iterator<Item = &'r str> {
        std::iter::once("").chain(self.skips.iter().map(String::as_str))
    }
}

/// What stands in an object of JSON before the arguments.
fn keys(name: &str, shape: Shape) -> impl Iterator<Item = String> {
    let keys: &[_] = match shape {
        Shape::Members => {
            &[("arguments", " "), ("arguments", ""), ("parameters", " "), ("parameters", "")]
        }
        Shape::Key => &[("", " ")],
    };
    keys.iter().map(move |(key, blank)| match shape {
        Shape::Members => format!("\"name\":{blank}\"{name}\",{blank}\"{key}\":{blank}"),
        Shape::Key => format!("\"{name}\":{blank}"),
    })
}
