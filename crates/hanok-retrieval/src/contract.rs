//! A contract's text to its articles.

mod clause;
mod heading;
mod lines;
mod lookup;
mod number;
mod outline;
mod passages;
mod refer;
mod slip;

use std::ops::Range;

use self::{
    lines::{Kind, Line},
    outline::{Begun, Part},
};

pub use clause::{Clause, Mark};
pub use lookup::{NoArticle, TitleFit, TitleMatch};
pub use number::{ArticleNumber, ArticleNumberError};
pub use passages::contract_passages;
pub use slip::{Slip, SlipKind};

/// A contract in Korean, by its articles (`제5조(해지)`, `제7조의2`) and appendices (`별표`, `부칙`); one in English by `Article 5`.
///
/// Reading never fails: a text without articles is all preamble. It takes time in proportion to the text, and clauses are
/// nested four deep at most. Every byte of the text is of the preamble or of exactly one article or appendix.
///
/// A line that only refers to an article (`제5조에 따라`) heads none, wherever a page broke it. Numbers that are skipped or doubled
/// are read as they are, and noted as [`Slip`]s.
///
/// ```
/// use hanok_retrieval::Contract;
///
/// let contract = Contract::parse(
///     "용역계약서\n\n제1조(목적) 이 계약은 용역의 내용을 정한다.\n\n\
///      제 2 조 [해지]\n① 갑은 제1조에 따라 해지할 수 있다.\n② 을은 다음의 경우 해지할 수 있다.\n1. 대금을 주지 않은 때\n",
/// );
/// assert_eq!(contract.text(&contract.preamble), "용역계약서\n\n");
///
/// let article = contract.article(2, None)?;
/// assert_eq!(article.title.as_deref(), Some("해지"));
/// assert_eq!(contract.text(&article.clauses[1].items[0].span).trim(), "1. 대금을 주지 않은 때");
///
/// let error = contract.article(9, None).unwrap_err();
/// assert_eq!(error.to_string(), "no article 제9조; the nearest are 제2조, 제1조");
/// # Ok::<(), hanok_retrieval::NoArticle>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contract {
    /// What stands before the first article, in bytes.
    pub preamble: Range<usize>,
    /// The articles, in the order of the text.
    pub articles: Vec<Article>,
    /// What stands behind the articles or between them, in the order of the text.
    pub appendices: Vec<Appendix>,
    /// What is wrong with the numbers, in the order of the text.
    pub notes: Vec<Slip>,
    text: String,
    /// The heads and feet of pages, in bytes.
    pages: Vec<Range<usize>>,
}

/// An article of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Article {
    /// Its number.
    pub number: ArticleNumber,
    /// Its title, without brackets. `None` when it has none.
    pub title: Option<String>,
    /// The headings of the chapter it is in, outermost first, joined by ` > `: `제2장 대금`.
    pub chapter: Option<String>,
    /// Its share of the text, in bytes. With the chapter's heading, if it is the first of the chapter.
    pub span: Range<usize>,
    /// Its heading, in bytes: the number and the title.
    pub heading: Range<usize>,
    /// What follows the heading, in bytes, without white space around it.
    pub body: Range<usize>,
    /// Its clauses. What stands before the first belongs to all of them.
    pub clauses: Vec<Clause>,
    english: bool,
}

impl Article {
    /// `제5조(해지)`, however it is written in the text; `Article 5 (Term)` in an English contract.
    #[must_use]
    pub fn label(&self) -> String {
        let title = self.title.as_deref();
        match (self.english, title) {
            (false, Some(title)) => format!("{}({title})", self.number),
            (false, None) => self.number.to_string(),
            (true, Some(title)) => format!("Article {} ({title})", self.number.key()),
            (true, None) => format!("Article {}", self.number.key()),
        }
    }
}

/// A part of a contract that is no article.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Appendix {
    /// What it is.
    pub kind: AppendixKind,
    /// Its heading as it is written, in one line. Empty for the closing words.
    pub label: String,
    /// Its share of the text, in bytes, with its heading. Articles of its own (`부칙 제1조`) are in it.
    pub span: Range<usize>,
}

/// What a part of a contract is that is no article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AppendixKind {
    /// `별표`: a table.
    Table,
    /// `별지`: a form.
    Form,
    /// `부칙`: when and for whom the contract begins.
    Supplement,
    /// `특약사항`: what was agreed beside the articles.
    Special,
    /// `첨부`, `별첨`, `붙임`, `부록`: what is attached.
    Attachment,
    /// The words before the signatures, and these.
    Closing,
}

impl Contract {
    /// Reads `text`, as [`Document::text`](crate::Document::text) has it: in NFC and with `\n` as its line end.
    #[must_use]
    pub fn parse(text: impl Into<String>) -> Self {
        let text = text.into();
        let lines = lines::lines(&text);
        let parts = outline::outline(&text, &lines);
        let starts = parts.iter().map(Part::start).skip(1).chain([text.len()]).collect::<Vec<_>>();
        let preamble = 0..parts.first().map_or(text.len(), Part::start);

        let (mut articles, mut appendices) = (Vec::new(), Vec::new());
        for (part, end) in parts.into_iter().zip(starts) {
            match part {
                Part::Article(begun) => articles.push(article(&text, &lines, begun, end)),
                Part::Appendix { start, kind, label } => {
                    appendices.push(Appendix { kind, label, span: start..end });
                }
            }
        }
        let notes = slip::slips(&articles);
        let pages = lines.into_iter().filter(|line| line.kind == Kind::Page).map(|line| line.span);
        Self { preamble, articles, appendices, notes, pages: pages.collect(), text }
    }

    /// The text at `span`, word for word. Empty when the text has no such place.
    #[must_use]
    pub fn text(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The text at `span` without the heads, feet and numbers of pages in it.
    #[must_use]
    pub fn without_pages(&self, span: &Range<usize>) -> String {
        let first = self.pages.partition_point(|page| page.end <= span.start);
        let within = self.pages.iter().skip(first).take_while(|page| page.start < span.end);
        let (mut shown, mut from) = (String::new(), span.start);
        for page in within {
            shown.push_str(self.text(&(from..page.start.max(from))));
            from = page.end.min(span.end);
        }
        shown.push_str(self.text(&(from..span.end)));
        shown
    }
}

fn article(text: &str, lines: &[Line], begun: Begun, end: usize) -> Article {
    let Begun { start, heading, number, title, english, chapter, .. } = begun;
    let said = text.get(heading.end..end).unwrap_or_default();
    let from = heading.end + said.len() - said.trim_start().len();
    let body = from.min(end)..from + said.trim().len();
    let first = lines.partition_point(|line| line.span.end <= body.start);
    let after = lines.partition_point(|line| line.span.start < body.end);
    let within = lines.get(first..after).unwrap_or_default();
    let clauses = clause::clauses(text, body.clone(), within, number.number);
    Article { number, title, chapter, span: start..end, heading, body, clauses, english }
}
