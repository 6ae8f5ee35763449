//! Articles of the law on leases and brokers in short, read from `data/law.jsonl`.
//!
//! The texts are summaries. None is the wording of a law.

mod names;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use hanok_documents::ArticleNumber;
use jiff::civil::Date;
use serde::Deserialize;

use super::{DataError, Origin, lines};

pub use names::{Mention, Mentioned};

/// The file that ships with the program.
pub(super) const SHIPPED: &str = include_str!("../../data/law.jsonl");

/// The highest number of an article or of its branch.
const HIGHEST: u32 = 9_999;

/// The longest text, in bytes.
const LONGEST: usize = 8_000;

/// What a decree is called behind the name of its law.
const DECREE: &str = " 시행령";

/// An article in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LawArticle {
    /// The law: `주택임대차보호법 시행령`.
    pub law: String,
    /// The number: `제7조의2`.
    pub number: ArticleNumber,
    /// The title: `차임 등의 증감청구권`.
    pub title: String,
    /// What it says, in short.
    pub text: String,
    /// The day from which it holds as it is described.
    pub effective: Date,
    /// Words that people use for what it is about.
    pub words: Vec<String>,
}

impl LawArticle {
    /// `주택임대차보호법 제7조(차임 등의 증감청구권)`.
    #[must_use]
    pub fn cited(&self) -> String {
        format!("{} {}({})", self.law, self.number, self.title)
    }

    /// The law without the addition of a decree: of 주택임대차보호법 시행령 it is 주택임대차보호법.
    #[must_use]
    pub fn parent(&self) -> &str {
        self.law.strip_suffix(DECREE).unwrap_or(&self.law)
    }
}

/// The articles. Made by [`Law::parse`]: each stands once, and there is one at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Law {
    /// Where the summaries come from, and of which day they are.
    pub origin: Origin,
    articles: Vec<LawArticle>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    law: String,
    article: u32,
    branch: u32,
    title: String,
    text: String,
    effective: String,
    words: Vec<String>,
}

impl Law {
    /// The articles in `text`, which is as `data/law.jsonl`: one JSON object a line, of which the first says where they come from.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of an article that is wrong or stands there twice.
    pub fn parse(file: &str, text: &str) -> Result<Self, DataError> {
        let rows = lines::rows::<Row>(file, text)?;
        let mut places: HashMap<(String, ArticleNumber), usize> = HashMap::new();
        let mut articles = Vec::with_capacity(rows.rows.len());
        for (line, row) in rows.rows {
            let article = row.article().map_err(|reason| DataError::at(file, line, reason))?;
            if article.effective > rows.origin.as_of {
                let (day, as_of) = (article.effective, rows.origin.as_of);
                let reason = format!(
                    "the article holds from {day}, and the file is of {as_of}: it is not in force"
                );
                return Err(DataError::at(file, line, reason));
            }
            let name = (article.law.clone(), article.number);
            if let Some(first) = places.insert(name, line) {
                let reason =
                    format!("{} {} stands in line {first} already", article.law, article.number);
                return Err(DataError::at(file, line, reason));
            }
            articles.push(article);
        }
        Ok(Self { origin: rows.origin, articles })
    }

    /// The articles that ship with the program.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: the file is part of the program, and its tests read it.
    pub fn shipped() -> Result<Self, DataError> {
        Self::parse("data/law.jsonl", SHIPPED)
    }

    /// The articles, in the order of the file.
    #[must_use]
    pub fn articles(&self) -> &[LawArticle] {
        &self.articles
    }

    /// The names of the laws, in the order of the file.
    #[must_use]
    pub fn laws(&self) -> Vec<&str> {
        let mut laws: Vec<&str> = Vec::new();
        for article in &self.articles {
            if !laws.contains(&article.law.as_str()) {
                laws.push(&article.law);
            }
        }
        laws
    }

    /// The article of this number in the law of this whole name.
    #[must_use]
    pub fn article(&self, law: &str, number: ArticleNumber) -> Option<&LawArticle> {
        self.articles.iter().find(|article| article.law == law && article.number == number)
    }

    /// The laws that `text` names, in its order: by their whole names, by short ones (주임법), and some that are not in the data.
    #[must_use]
    pub fn mentions(&self, text: &str) -> Vec<Mention> {
        names::mentions(text, &self.laws())
    }
}

impl Row {
    fn article(self) -> Result<LawArticle, String> {
        let trimmed = |name: &str, text: &str| match text.trim() {
            "" => Err(format!("`{name}` is empty")),
            text if text.len() > LONGEST => {
                Err(format!("`{name}` has {} bytes; at most {LONGEST} are read", text.len()))
            }
            text if text.chars().any(char::is_control) => {
                Err(format!("`{name}` has a control character"))
            }
            text => Ok(text.to_owned()),
        };
        if !(1..=HIGHEST).contains(&self.article) {
            let reason = format!("`article` is {}; write 1 to {HIGHEST}", self.article);
            return Err(reason);
        }
        let sub = match self.branch {
            0 => None,
            branch @ 2..=HIGHEST => Some(branch),
            branch => {
                return Err(format!(
                    "`branch` is {branch}; write 0, or the number behind 의, which is 2 or more"
                ));
            }
        };
        let effective =
            self.effective.trim().parse().map_err(|_cause| {
                format!("`{}` is no day; write it as 2020-07-31", self.effective)
            })?;
        if self.words.is_empty() {
            return Err("`words` is empty; write what people call it".to_owned());
        }
        let words = self.words.iter().map(|word| trimmed("words", word));
        Ok(LawArticle {
            law: trimmed("law", &self.law)?,
            number: ArticleNumber { number: self.article, sub },
            title: trimmed("title", &self.title)?,
            text: trimmed("text", &self.text)?,
            effective,
            words: words.collect::<Result<_, _>>()?,
        })
    }
}
