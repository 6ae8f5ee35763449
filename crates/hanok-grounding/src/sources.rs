//! Where the figures of an answer may come from.

use std::collections::{BTreeMap, HashMap, HashSet};

use hanok_figures::{Article, Number};
use hanok_state::{Message, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::claim::Day;
use crate::law::Law;
use crate::unit::DataUnit;
use crate::{data, facts};

/// Where a figure comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The user gave it.
    User,
    /// A tool's data has it.
    Tool {
        /// The name of the tool.
        name: String,
        /// The place in its data, a JSON pointer (RFC 6901): `/items/0/price_won`. Empty for the value itself.
        path: String,
    },
}

/// The texts of a user and the data of tools, in which the figures of an answer are looked up.
///
/// Data are the JSON values of the results, and not the words in which a model was told of them. A number gets its unit from its
/// key ([`DataUnit`]), from a `unit` or `currency` beside it (`단위`, `price_unit`), or from the key above it; a text is read as an
/// answer is. What has no unit is money from 10,000 on, and else a plain number alone: a bare `5` supports no `5%`.
///
/// ```
/// use hanok_grounding::{DataUnit, Grounding, Sources};
/// use serde_json::json;
///
/// let sources = Sources::new()
///     .unit("jeonse", DataUnit::ManWon)
///     .user("보증금 5천만원인데 괜찮을까요?")
///     .tool("prices", &json!({"jeonse": 33_300, "limit": 5, "raise_rate": 0.05}));
/// let grounded = Grounding::new().check("전세는 약 3.3억원, 보증금 5,000만원, 상한은 5%입니다.", &sources);
/// assert!(grounded.unsupported().next().is_none());
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Sources {
    pub(crate) units: BTreeMap<String, DataUnit>,
    pub(crate) facts: Facts,
}

/// What the sources say, not yet in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) sources: Vec<Source>,
    pub(crate) numbers: Vec<(facts::Group, Number, usize)>,
    /// What stands in `numbers`, as it was before it was converted.
    pub(crate) before: HashSet<(Option<DataUnit>, String)>,
    pub(crate) days: Vec<(Day, usize)>,
    pub(crate) articles: HashMap<(u32, Option<u32>), Vec<ArticleFact>>,
    pub(crate) unread: HashMap<String, usize>,
}

/// An article that a source names, with the parts that are known of it.
#[derive(Debug, Clone)]
pub(crate) struct ArticleFact {
    pub(crate) law: Option<Law>,
    pub(crate) paragraphs: HashSet<u32>,
    pub(crate) items: HashSet<u32>,
    pub(crate) source: usize,
}

impl Sources {
    /// No source: every figure is unsupported.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says the unit of the numbers under `key` in the data of the tools that are added after. Default: what the key names.
    pub fn unit(mut self, key: impl Into<String>, unit: DataUnit) -> Self {
        self.units.insert(key.into(), unit);
        self
    }

    /// Adds what the user wrote. A user's figures are theirs: an answer may repeat them.
    pub fn user(mut self, text: &str) -> Self {
        data::text(&mut self.facts, text, &Source::User, None);
        self
    }

    /// Adds the data that the tool `name` gave.
    pub fn tool(mut self, name: &str, data: &Json) -> Self {
        data::json(&mut self.facts, &self.units, name, data);
        self
    }

    /// Adds the messages of a conversation: all that the user wrote, and the data of the tools since they last wrote, or of all
    /// tools where there is no message of a user.
    ///
    /// The data of a tool is what its message has in its metadata (`data`, `ToolOutput::data` of `hanok-model`).
    pub fn messages<'a>(mut self, messages: impl IntoIterator<Item = &'a Message>) -> Self {
        let mut turn: Vec<&Message> = Vec::new();
        for message in messages {
            let has = |key| message.metadata().contains_key(key);
            if has("tool") {
                turn.push(message);
            } else if message.role() == Role::User && !has("fault") && !has(NOTE) {
                turn.clear();
                self = self.user(&message.text());
            }
        }
        for message in turn {
            let name = message.metadata().get("tool").and_then(|name| name.0.as_str());
            if let Some(data) = message.metadata().get("data") {
                self = self.tool(name.unwrap_or_default(), &data.0);
            }
        }
        self
    }
}

impl Facts {
    /// The number of `source` in the list.
    pub(crate) fn source(&mut self, source: Source) -> usize {
        if self.sources.last() != Some(&source) {
            self.sources.push(source);
        }
        self.sources.len() - 1
    }

    /// Adds an article, unless there are many of its number already: what is one too many supports nothing.
    pub(crate) fn article(&mut self, article: &Article, fact: ArticleFact) {
        let facts = self.articles.entry((article.number, article.branch)).or_default();
        if facts.len() < MOST_ARTICLES {
            facts.push(fact);
        }
    }
}

/// The mark of a message that tells a model of its figures: nobody's words.
pub(crate) const NOTE: &str = "grounding";

/// The most places that are remembered of one article.
const MOST_ARTICLES: usize = 256;
