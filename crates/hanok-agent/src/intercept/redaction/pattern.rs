//! Patterns of a program's own: what is personal there, such as the numbers of its customers.

use std::{fmt, ops::Range};

use hanok_core::Printable;
use regex::Regex;
use thiserror::Error;

use super::scan::PersonalData;

/// The most bytes of a name.
const LONGEST_NAME: usize = 32;

/// A pattern that [`Redaction::pattern`](super::Redaction::pattern) does not take.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The name cannot stand in a placeholder.
    #[error("a pattern cannot be named {name:?}: {why}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The pattern is no regular expression.
    #[error("the pattern `{name}` is no regular expression of the crate `regex`: {0}", Printable(&source.to_string()))]
    BadPattern {
        /// The pattern's name.
        name: String,
        /// Where it is wrong.
        source: regex::Error,
    },
    /// The pattern matches where nothing is.
    #[error("the pattern `{name}` matches the empty text; let it ask for at least one character")]
    MatchesNothing {
        /// The pattern's name.
        name: String,
    },
}

/// A name and what it stands for.
#[derive(Clone)]
pub(super) struct Pattern {
    pub(super) name: String,
    regex: Regex,
}

impl Pattern {
    pub(super) fn new(name: &str, pattern: &str) -> Result<Self, PatternError> {
        let why = |why| PatternError::BadName { name: name.to_owned(), why };
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Err(why("it has 1 to 32 letters"));
        }
        if !name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_') {
            return Err(why("it consists of `A` to `Z`, `0` to `9` and `_`"));
        }
        if PersonalData::ALL.iter().any(|kind| kind.label() == name) {
            return Err(why("a kind of personal data has that name"));
        }
        let name = name.to_owned();
        match Regex::new(pattern) {
            Ok(regex) if regex.is_match("") => Err(PatternError::MatchesNothing { name }),
            Ok(regex) => Ok(Self { name, regex }),
            Err(source) => Err(PatternError::BadPattern { name, source }),
        }
    }

    /// Where it matches, in time linear in the length of `text`.
    pub(super) fn find(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        self.regex.find_iter(text).map(|found| found.range()).filter(|range| !range.is_empty())
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.name).field(&self.regex.as_str()).finish()
    }
}
