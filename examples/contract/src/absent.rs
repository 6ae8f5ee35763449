//! What was looked for and is not there.

use serde::{Deserialize, Serialize};

use crate::{Origin, question::articles};

/// What was looked for and is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absent {
    /// What it is.
    pub what: Missing,
    /// The same as a sentence.
    pub text: String,
}

/// What is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// An article of this number (`5`, `7의2`).
    Article(Origin, String),
    /// A standard contract, or what in it would be like an article.
    Counterpart,
    /// What a search or a title looked for: a matter of the model's own words.
    Found,
    /// A call failed. It may be made again.
    Fault,
}

impl Absent {
    /// Something that is not there, said as `text`.
    pub(crate) fn new(what: Missing, text: impl Into<String>) -> Self {
        Self { what, text: text.into() }
    }

    /// Whether users are told it, who ask `question`: an article that a model looked for by itself is none of theirs.
    pub(crate) fn is_told(&self, question: &str) -> bool {
        match &self.what {
            Missing::Article(origin, key) => {
                articles(question, *origin).iter().any(|number| number.key() == *key)
            }
            Missing::Counterpart => true,
            Missing::Found | Missing::Fault => false,
        }
    }
}
