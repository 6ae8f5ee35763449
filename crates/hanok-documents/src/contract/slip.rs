//! Numbers that do not follow each other.

use std::{collections::BTreeSet, fmt};

use super::{Article, ArticleNumber, Clause};
use crate::work;

/// A slip in the numbers of a contract: the text is as it is, and a reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slip {
    /// The article that it is at, or in.
    pub article: ArticleNumber,
    /// Where it is in the text, in bytes.
    pub at: usize,
    /// What is wrong.
    pub kind: SlipKind,
}

/// What is wrong with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SlipKind {
    /// Numbers are missing before this article. `None`: it is the first.
    Skipped(Option<ArticleNumber>),
    /// An article before it has the same number.
    Doubled,
    /// The number is lower than that of the article before it.
    Backwards(ArticleNumber),
    /// Of the clauses in one list, `0` is followed by `1`, further on.
    ClauseSkipped(u32, u32),
    /// Two clauses of one list have this number.
    ClauseDoubled(u32),
}

impl fmt::Display for Slip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let article = self.article;
        match self.kind {
            SlipKind::Skipped(None) => write!(f, "the first article is {article}"),
            SlipKind::Skipped(Some(last)) => write!(f, "{article} follows {last}"),
            SlipKind::Doubled => write!(f, "{article} stands more than once"),
            SlipKind::Backwards(last) => write!(f, "{article} stands behind {last}"),
            SlipKind::ClauseSkipped(last, next) => {
                write!(f, "in {article}, number {next} follows number {last}")
            }
            SlipKind::ClauseDoubled(number) => {
                write!(f, "in {article}, number {number} stands twice")
            }
        }
    }
}

/// The slips of `articles`, in the order of the text.
pub(crate) fn slips(articles: &[Article]) -> Vec<Slip> {
    let mut slips = Vec::new();
    let mut seen = BTreeSet::new();
    let mut last = None;
    work::count(articles.len());
    for article in articles {
        let number = article.number;
        let is_new = seen.insert(number);
        let kind = match last {
            _ if !is_new => Some(SlipKind::Doubled),
            _ if number.follows(last) => None,
            Some(last) if number < last => Some(SlipKind::Backwards(last)),
            last => Some(SlipKind::Skipped(last)),
        };
        slips.extend(kind.map(|kind| Slip { article: number, at: article.heading.start, kind }));
        in_list(number, &article.clauses, &mut slips);
        last = Some(number);
    }
    slips
}

fn in_list(article: ArticleNumber, list: &[Clause], slips: &mut Vec<Slip>) {
    let mut last: Option<&Clause> = None;
    work::count(list.len());
    for clause in list {
        let before = last.filter(|last| last.mark == clause.mark).map_or(0, |last| last.number);
        let kind = match clause.number {
            1 => None,
            number if number == before => Some(SlipKind::ClauseDoubled(number)),
            number if number != before + 1 => Some(SlipKind::ClauseSkipped(before, number)),
            _ => None,
        };
        slips.extend(kind.map(|kind| Slip { article, at: clause.span.start, kind }));
        in_list(article, &clause.items, slips);
        last = Some(clause);
    }
}
