//! Questions about the sample contracts, and the articles that an answer has to name.

use std::path::{Path, PathBuf};

use crate::{ContractState, Origin};

/// The questions, a line each: the question, which contract, what kind, the articles.
const QUESTIONS: &str = include_str!("questions.tsv");

/// What kind of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It names an article or its title.
    Names,
    /// It names neither.
    Plain,
    /// It names an article that is not there.
    Missing,
    /// It is about something else.
    Scope,
}

/// A question about a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: &'static str,
    /// `service` or `lease`.
    pub contract: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// The articles that an answer has to name: `5,7의2`.
    pub articles: &'static str,
}

impl Question {
    /// Every question, in an order in which those that go on from another stand behind it.
    pub fn all() -> impl Iterator<Item = Self> {
        QUESTIONS.lines().filter_map(Self::read)
    }

    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.split('\t').filter(|_| !line.starts_with('#'));
        let (text, contract) = (columns.next()?, columns.next()?);
        let kind = match columns.next()? {
            "names" => Kind::Names,
            "plain" => Kind::Plain,
            "missing" => Kind::Missing,
            "scope" => Kind::Scope,
            _ => return None,
        };
        Some(Self { text, contract, kind, articles: columns.next().unwrap_or_default() })
    }

    /// Whether it goes on from the one before.
    #[must_use]
    pub fn follows(&self) -> bool {
        self.text.starts_with("그럼")
    }

    /// The file of its contract.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        let name = match self.contract {
            "lease" => "임대차계약서.docx",
            _ => "용역계약서.md",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts").join(name)
    }

    /// The articles that an answer has to name.
    pub fn wanted(&self) -> impl Iterator<Item = &'static str> {
        self.articles.split(',').filter(|article| !article.is_empty())
    }

    /// Whether a turn that ended in `state` is right.
    #[must_use]
    pub fn is_right(&self, state: &ContractState) -> bool {
        let given = cited(state);
        match self.kind {
            Kind::Names | Kind::Plain => self.wanted().all(|article| given.contains(&article)),
            Kind::Missing => {
                let answer = state.answer.as_deref().unwrap_or_default();
                answer.contains("이 계약서에 없습니다") && given.is_empty()
            }
            Kind::Scope => state.in_scope == Some(false),
        }
    }
}

/// The articles of the contract that an answer was taken from.
#[must_use]
pub fn cited(state: &ContractState) -> Vec<&str> {
    let of_contract = state.sources.iter().filter(|it| it.origin == Origin::Contract);
    of_contract.filter_map(|it| it.article.as_deref()).collect()
}
