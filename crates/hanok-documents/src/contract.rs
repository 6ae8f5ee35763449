//! A contract's text to its articles.

mod clause;
mod compare;
mod counterpart;
mod excerpt;
mod heading;
mod lines;
mod lookup;
mod mention;
mod number;
mod outline;
mod passages;
mod refer;
mod slip;

use std::ops::Range;

use self::{
    lines::{Kind, Line, trimmed},
    outline::{Begun, Part},
};
use crate::work;

pub use clause::{Clause, Mark};
pub use compare::{Comparison, Difference};
pub use excerpt::Excerpt;
pub use lookup::{NoArticle, TitleFit, TitleMatch};
pub use mention::ArticleMention;
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
/// use hanok_documents::Contract;
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
/// # Ok::<(), hanok_documents::NoArticle>(())
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
    /// Reads `text`, as [`Document::text`](hanok_retrieval::Document::text) has it: in NFC and with `\n` as its line end.
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
    let from = heading.end + said.len() - work::stripped(said, said.trim_start()).len();
    let body = from.min(end)..from + trimmed(said).len();
    let first = lines.partition_point(|line| {
        work::count(1);
        line.span.end <= body.start
    });
    let after = lines.partition_point(|line| {
        work::count(1);
        line.span.start < body.end
    });
    let within = lines.get(first..after).unwrap_or_default();
    let clauses = clause::clauses(text, body.clone(), within, number.number);
    Article { number, title, chapter, span: start..end, heading, body, clauses, english }
}

#[cfg(test)]
mod tests {
    use super::Contract;
    use crate::work;

    /// How much of a text is looked at that has `piece` so many times, each with its number for `N`; `before` stands before it,
    /// and `behind` follows as often.
    fn looked_at(before: &str, piece: &str, behind: &str, times: usize) -> usize {
        let pieces = (1..=times).map(|n| piece.replace('N', &n.to_string()));
        let text = before.to_owned() + &pieces.collect::<String>() + &behind.repeat(times);
        work::take();
        let _ = Contract::parse(text.as_str());
        let looked_at = work::take();
        // Nothing would be in proportion, too.
        assert!(looked_at >= text.len(), "{before:?} {piece:?}: {looked_at} of {}", text.len());
        looked_at
    }

    /// Twice the text takes some twice the work, however much of it looks like a heading.
    #[test]
    fn a_long_text_takes_work_in_proportion() {
        for piece in [
            "제1조\n",
            "제1조(가)\n",
            "①\n",
            "① 갑.\n",
            "1. 갑\n가. 을\n",
            "(",
            "제1조(",
            "제",
            "부칙\n",
            "\n",
            "- 3 -\n",
            "갑의 계약서\n",
            "제1장 총칙\n",
            "**",
            "제1조\n\n",
            "한다. ① ",
            "| a |\n",
            "이 계약",
            "제1조(가) 갑\n[별표]\n제2조(나) 을\n",
            "제1조 ",
            "①",
            "갑N의 계약서\n",
            "제N조(가\n",
            "제N조(가)\n① 갑은 을에게 준다.\n1. 갑\n가. 을\n② 을은 갑에게 준다.\n",
            "제N조\n목적\n갑은 을에게 준다.\n",
            "제N조\n\n(목적\n과 뜻)\n",
            "제N조(가) ........ 3\n",
            "제N조(가) 갑\n- N -\n",
            "제N조(가) 갑\n[별표 N] 나\n",
            "제1장 가\n제1절 나\n제N조(다) 갑\n",
            "Article N Term\n",
            "이 계약을 증명하기 위하여\n",
        ] {
            // Alone, and in an article before empty lines.
            for (before, behind) in [("", ""), ("제1조(가)\n", "\n")] {
                let times = (1 << 15) / piece.len();
                let [once, twice] =
                    [times, 2 * times].map(|times| looked_at(before, piece, behind, times));
                assert!(
                    10 * twice <= 21 * once,
                    "{before:?} {piece:?}: {once} for 32 KiB, {twice} for 64 KiB"
                );
            }
        }
    }
}
