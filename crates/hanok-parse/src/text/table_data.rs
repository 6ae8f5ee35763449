//! What a table is made of: marks, rules and tags as data, and back.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::text::{
    grammar_data::{ElementsData, HeadersData, InputData, SuffixedData},
    marks::{Entry, Meaning},
    rule::{Attribute, Otherwise, Rule, Shape, Tags, Then},
};

/// A mark.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct MarkData {
    pub(crate) token: String,
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub(crate) mark: MarkKind,
}

pub(crate) type Words = Vec<String>;
/// Written as `true`: the mark needs no more words.
pub(crate) type Yes = bool;

/// What a mark means, as [`Meaning`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(crate) enum MarkKind {
    Think {
        closes: Words,
        #[cfg_attr(feature = "serde", serde(default))]
        until: Words,
    },
    EndThink(Yes),
    Open(Box<RuleData>),
    Header(Box<HeadersData>),
    Elements(ElementsData),
    Section {
        closes: Words,
    },
    Suffixed(Box<SuffixedData>),
    SuffixedThink {
        close: String,
    },
    SuffixedEndThink(Yes),
    SuffixedClose(Yes),
    Close(Yes),
    Foreign(Yes),
    Result {
        closes: Words,
    },
    Turn {
        own: Words,
    },
    Part {
        own: Words,
    },
    Stop(Yes),
    Answer(Yes),
    EndAnswer(Yes),
    Words {
        close: String,
    },
    Attributes(Yes),
    Comment {
        close: String,
    },
}

/// How a call goes on, as [`Rule`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct RuleData {
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) skips: Words,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) wraps: Words,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) json: Option<Shape>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) attribute: Option<AttributeData>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) name: Vec<(String, ThenData)>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) python: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) declared: bool,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) everybody: Option<String>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) between: Words,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) closes: Words,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) another: Option<String>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) otherwise: Otherwise,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct AttributeData {
    pub(crate) key: String,
    pub(crate) end: String,
    pub(crate) tags: TagsData,
}

/// What follows a name, as [`Then`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(crate) enum ThenData {
    Input(InputData),
    Json,
    Id,
    FromToken,
    Named,
    Words(InputData),
    Typed,
    Tags(TagsData),
    TagsHere(TagsData),
    Calls,
    Python,
    Quoted(String),
}

/// Parameters in tags, as [`Tags`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct TagsData {
    pub(crate) open: String,
    pub(crate) head: String,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) key: Option<String>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) value: Option<String>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) kind: Option<(String, String)>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) skips: Words,
    pub(crate) close: String,
    pub(crate) end: String,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) other_end: Option<String>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) behind: Words,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) cdata: Option<String>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) lines: bool,
}

pub(super) fn owned(words: &[&str]) -> Words {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(super) fn word(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

pub(super) fn words(list: &[String]) -> &'static [&'static str] {
    let list: Vec<&'static str> = list.iter().map(|text| word(text)).collect();
    Box::leak(list.into_boxed_slice())
}

fn optional(text: &Option<String>) -> Option<&'static str> {
    text.as_deref().map(word)
}

impl MarkData {
    pub(crate) fn of(entry: &Entry) -> Self {
        let mark = match entry.mark {
            Meaning::Think(closes, until) => {
                MarkKind::Think { closes: owned(closes), until: owned(until) }
            }
            Meaning::EndThink => MarkKind::EndThink(true),
            Meaning::Open(rule) => MarkKind::Open(Box::new(RuleData::of(rule))),
            Meaning::Header(headers) => MarkKind::Header(Box::new(HeadersData::of(headers))),
            Meaning::Elements(elements) => MarkKind::Elements(ElementsData::of(elements)),
            Meaning::Section(closes) => MarkKind::Section { closes: owned(closes) },
            Meaning::Suffixed(call) => MarkKind::Suffixed(Box::new(SuffixedData::of(call))),
            Meaning::SuffixedThink(close) => MarkKind::SuffixedThink { close: close.to_owned() },
            Meaning::SuffixedEndThink => MarkKind::SuffixedEndThink(true),
            Meaning::SuffixedClose => MarkKind::SuffixedClose(true),
            Meaning::Close => MarkKind::Close(true),
            Meaning::Foreign => MarkKind::Foreign(true),
            Meaning::Result(closes) => MarkKind::Result { closes: owned(closes) },
            Meaning::Turn(own) => MarkKind::Turn { own: owned(own) },
            Meaning::Part(own) => MarkKind::Part { own: owned(own) },
            Meaning::Stop => MarkKind::Stop(true),
            Meaning::Answer => MarkKind::Answer(true),
            Meaning::EndAnswer => MarkKind::EndAnswer(true),
            Meaning::Words(close) => MarkKind::Words { close: (*close).to_owned() },
            Meaning::Attributes => MarkKind::Attributes(true),
            Meaning::Comment(close) => MarkKind::Comment { close: close.to_owned() },
        };
        Self { token: entry.token.to_owned(), mark }
    }

    pub(crate) fn entry(&self) -> Entry {
        let mark = match &self.mark {
            MarkKind::Think { closes, until } => Meaning::Think(words(closes), words(until)),
            MarkKind::EndThink(_) => Meaning::EndThink,
            MarkKind::Open(rule) => Meaning::Open(Box::leak(Box::new(rule.rule()))),
            MarkKind::Header(headers) => Meaning::Header(headers.headers()),
            MarkKind::Elements(elements) => Meaning::Elements(elements.elements()),
            MarkKind::Section { closes } => Meaning::Section(words(closes)),
            MarkKind::Suffixed(call) => Meaning::Suffixed(call.suffixed()),
            MarkKind::SuffixedThink { close } => Meaning::SuffixedThink(word(close)),
            MarkKind::SuffixedEndThink(_) => Meaning::SuffixedEndThink,
            MarkKind::SuffixedClose(_) => Meaning::SuffixedClose,
            MarkKind::Close(_) => Meaning::Close,
            MarkKind::Foreign(_) => Meaning::Foreign,
            MarkKind::Result { closes } => Meaning::Result(words(closes)),
            MarkKind::Turn { own } => Meaning::Turn(words(own)),
            MarkKind::Part { own } => Meaning::Part(words(own)),
            MarkKind::Stop(_) => Meaning::Stop,
            MarkKind::Answer(_) => Meaning::Answer,
            MarkKind::EndAnswer(_) => Meaning::EndAnswer,
            MarkKind::Words { close } => Meaning::Words(Box::leak(Box::new(word(close)))),
            MarkKind::Attributes(_) => Meaning::Attributes,
            MarkKind::Comment { close } => Meaning::Comment(word(close)),
        };
        Entry { token: word(&self.token), mark, formats: &[] }
    }

    /// Whether the words of its grammar can be looked for.
    #[cfg(feature = "serde")]
    pub(crate) fn is_whole(&self) -> bool {
        match &self.mark {
            MarkKind::Header(headers) => headers.is_whole(),
            MarkKind::Elements(elements) => elements.is_whole(),
            MarkKind::Suffixed(call) => call.is_whole(),
            MarkKind::SuffixedThink { close } => super::grammar_data::may_begin(close),
            MarkKind::Open(rule) => rule.name.iter().all(|(_, then)| match then {
                ThenData::Input(tags) | ThenData::Words(tags) => tags.is_whole(),
                _ => true,
            }),
            _ => true,
        }
    }
}

impl RuleData {
    fn of(rule: &Rule) -> Self {
        let attribute = rule.attribute.as_ref().map(|attribute| AttributeData {
            key: attribute.key.to_owned(),
            end: attribute.end.to_owned(),
            tags: TagsData::of(attribute.tags),
        });
        let then = |(token, then): &(&str, Then)| ((*token).to_owned(), ThenData::of(*then));
        Self {
            skips: owned(rule.skips),
            wraps: owned(rule.wraps),
            json: rule.json,
            attribute,
            name: rule.name.iter().map(then).collect(),
            python: rule.python,
            declared: rule.declared,
            everybody: rule.everybody.map(str::to_owned),
            between: owned(rule.between),
            closes: owned(rule.closes),
            another: rule.another.map(str::to_owned),
            otherwise: rule.otherwise,
        }
    }

    fn rule(&self) -> Rule {
        let attribute = self.attribute.as_ref().map(|attribute| Attribute {
            key: word(&attribute.key),
            end: word(&attribute.end),
            tags: attribute.tags.tags(),
        });
        let name: Vec<_> =
            self.name.iter().map(|(token, then)| (word(token), then.then())).collect();
        Rule {
            skips: words(&self.skips),
            wraps: words(&self.wraps),
            json: self.json,
            attribute,
            name: Box::leak(name.into_boxed_slice()),
            python: self.python,
            declared: self.declared,
            everybody: optional(&self.everybody),
            between: words(&self.between),
            closes: words(&self.closes),
            another: optional(&self.another),
            otherwise: self.otherwise,
        }
    }
}

impl ThenData {
    fn of(then: Then) -> Self {
        match then {
            Then::Input(tags) => Self::Input(InputData::of(tags)),
            Then::Json => Self::Json,
            Then::Id => Self::Id,
            Then::FromToken => Self::FromToken,
            Then::Named => Self::Named,
            Then::Words(tags) => Self::Words(InputData::of(tags)),
            Then::Typed => Self::Typed,
            Then::Tags(tags) => Self::Tags(TagsData::of(tags)),
            Then::TagsHere(tags) => Self::TagsHere(TagsData::of(tags)),
            Then::Calls => Self::Calls,
            Then::Python => Self::Python,
            Then::Quoted(quote) => Self::Quoted(quote.to_owned()),
        }
    }

    fn then(&self) -> Then {
        match self {
            Self::Input(tags) => Then::Input(tags.tags()),
            Self::Json => Then::Json,
            Self::Id => Then::Id,
            Self::FromToken => Then::FromToken,
            Self::Named => Then::Named,
            Self::Words(tags) => Then::Words(tags.tags()),
            Self::Typed => Then::Typed,
            Self::Tags(tags) => Then::Tags(tags.tags()),
            Self::TagsHere(tags) => Then::TagsHere(tags.tags()),
            Self::Calls => Then::Calls,
            Self::Python => Then::Python,
            Self::Quoted(quote) => Then::Quoted(word(quote)),
        }
    }
}

impl TagsData {
    pub(super) fn of(tags: &Tags) -> Self {
        let text = |text: Option<&str>| text.map(str::to_owned);
        Self {
            open: tags.open.to_owned(),
            head: tags.head.to_owned(),
            key: text(tags.key),
            value: text(tags.value),
            kind: tags.kind.map(|(open, close)| (open.to_owned(), close.to_owned())),
            skips: owned(tags.skips),
            close: tags.close.to_owned(),
            end: tags.end.to_owned(),
            other_end: text(tags.other_end),
            behind: owned(tags.behind),
            cdata: text(tags.cdata),
            lines: tags.lines,
        }
    }

    pub(super) fn tags(&self) -> &'static Tags {
        let kind = self.kind.as_ref();
        Box::leak(Box::new(Tags {
            open: word(&self.open),
            head: word(&self.head),
            key: optional(&self.key),
            value: optional(&self.value),
            kind: kind.map(|(open, close)| (word(open), word(close))),
            skips: words(&self.skips),
            close: word(&self.close),
            end: word(&self.end),
            other_end: optional(&self.other_end),
            behind: words(&self.behind),
            cdata: optional(&self.cdata),
            lines: self.lines,
        }))
    }
}
