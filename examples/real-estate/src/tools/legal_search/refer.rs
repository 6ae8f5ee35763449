//! The laws and articles that a question names.

use std::ops::Range;

use hanok_documents::ArticleNumber;
use hanok_figures::{Figure, figures};

use super::Absent;
use crate::data::Law;
use crate::data::law::{LawArticle, Mention, Mentioned};

/// How many articles are looked up by their numbers.
const MOST: usize = 8;

/// What the last part of a law's name is.
const KINDS: [&str; 6] = ["법", "법률", "시행령", "시행규칙", "규칙", "조례"];

/// Words that end like a law and name none.
const NO_LAWS: [&str; 6] = ["이법", "그법", "동법", "본법", "같은법", "방법"];

/// What a question names.
#[derive(Debug)]
pub(super) struct Named {
    /// The articles, in the order of the question.
    pub(super) references: Vec<Reference>,
    /// What is searched.
    pub(super) scope: Scope,
    /// The laws that are not in the data and have no article with them.
    pub(super) absent: Vec<Absent>,
    /// The question without the names.
    pub(super) rest: String,
}

/// What is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scope {
    /// Every article.
    All,
    /// The articles of a law and its decree.
    Law(String),
}

/// An article by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    law: Option<Mentioned>,
    number: ArticleNumber,
}

impl Reference {
    /// Whether it names `article`.
    pub(super) fn names(&self, article: &LawArticle) -> bool {
        let is_law = match &self.law {
            None => true,
            Some(Mentioned::Known(law)) => *law == article.law,
            Some(Mentioned::Decrees) => article.law != article.parent(),
            Some(Mentioned::Unknown(_)) => false,
        };
        is_law && self.number == article.number
    }

    /// What is said of it where nothing is named.
    pub(super) fn absent(&self) -> Absent {
        let law = self.law.as_ref().map(|law| match law {
            Mentioned::Known(law) | Mentioned::Unknown(law) => law.clone(),
            Mentioned::Decrees => "시행령".to_owned(),
        });
        Absent { law, article: Some(self.number.to_string()) }
    }
}

/// What the arguments name.
///
/// # Errors
///
/// What to write instead of a number that is none.
pub(super) fn named(
    law: &Law,
    question: &str,
    law_argument: &str,
    article_argument: &str,
) -> Result<Named, String> {
    let mentions = law.mentions(question);
    let stated = stated(law, law_argument);
    let is_one = |mention: &&Mention| mentions.iter().all(|other| other.law == mention.law);
    let only = mentions.first().filter(is_one).map(|mention| mention.law.clone());
    let whole = stated.clone().or_else(|| only.clone());
    let (mut references, mut names) = articles(question, &mentions, whole.as_ref());
    names.extend(mentions.iter().map(|mention| mention.at.clone()));
    let rest = without(question, names);
    if !article_argument.is_empty() {
        let own = law.mentions(article_argument);
        let (mut stated, _) = articles(article_argument, &own, whole.as_ref());
        if stated.is_empty() {
            let number = article_argument.parse().map_err(|_cause| {
                let shown: String = article_argument.chars().take(40).collect();
                format!("`{shown}`에서 조 번호를 읽지 못했습니다. `제7조의2`처럼 적어 주십시오")
            })?;
            stated.push(Reference { law: whole.clone(), number });
        }
        // The argument is the model's reading of the question: what both name is one.
        references.retain(|one| !stated.iter().any(|other| other.number == one.number));
        stated.append(&mut references);
        references = stated;
    }
    references.truncate(MOST);
    let unknown = mentions.iter().map(|mention| &mention.law).chain(&stated);
    let absent = unknown.filter_map(|law| match law {
        Mentioned::Unknown(name) if !references.iter().any(|one| one.law.as_ref() == Some(law)) => {
            Some(Absent { law: Some(name.clone()), article: None })
        }
        _ => None,
    });
    let absent = absent.collect();
    let scope = match whole {
        Some(Mentioned::Known(name)) => {
            Scope::Law(name.strip_suffix(" 시행령").unwrap_or(&name).to_owned())
        }
        _ => Scope::All,
    };
    Ok(Named { references, scope, absent, rest })
}

/// The law that the argument names: one that is not known stays what it is called, and of several none is meant alone.
fn stated(law: &Law, argument: &str) -> Option<Mentioned> {
    if argument.is_empty() {
        return None;
    }
    let mut laws: Vec<Mentioned> = law.mentions(argument).into_iter().map(|it| it.law).collect();
    laws.dedup();
    match laws.as_slice() {
        [] => Some(Mentioned::Unknown(argument.to_owned())),
        [law] => Some(law.clone()),
        _ => None,
    }
}

/// `text` with a space for each of `names`.
fn without(text: &str, mut names: Vec<Range<usize>>) -> String {
    names.sort_by_key(|name| name.start);
    let (mut rest, mut end) = (String::with_capacity(text.len()), 0);
    for name in names {
        rest.push_str(text.get(end..name.start).unwrap_or_default());
        rest.push(' ');
        end = end.max(name.end);
    }
    rest.push_str(text.get(end..).unwrap_or_default());
    rest
}

/// The articles that `text` names, each with the law before it, else with `otherwise`; and where each stands.
fn articles(
    text: &str,
    mentions: &[Mention],
    otherwise: Option<&Mentioned>,
) -> (Vec<Reference>, Vec<Range<usize>>) {
    let marked = Marked::new(text);
    let mut references: Vec<Reference> = Vec::new();
    let mut places = Vec::new();
    for figure in figures(&marked.text) {
        let Figure::Article(article) = figure else { continue };
        let at = marked.original(article.at.start);
        places.push(at..marked.original(article.at.end));
        let before = mentions.iter().rfind(|mention| mention.at.end <= at);
        let law = match unknown_before(text.get(..at).unwrap_or_default(), before) {
            Some(name) => Some(Mentioned::Unknown(name)),
            None => before.map(|mention| mention.law.clone()).or_else(|| otherwise.cloned()),
        };
        let number = ArticleNumber { number: article.number, sub: article.branch };
        let reference = Reference { law, number };
        if !references.contains(&reference) {
            references.push(reference);
        }
    }
    (references, places)
}

/// The law right before an article that none of the names is: `외국환거래법 제3조`.
fn unknown_before(before: &str, mention: Option<&Mention>) -> Option<String> {
    let before = before.trim_end().trim_end_matches(['」', '\'', '"', '”']);
    if mention.is_some_and(|mention| mention.at.end >= before.len()) {
        return None;
    }
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next()?;
    let is_law = KINDS.iter().any(|kind| word.ends_with(kind) && word != *kind);
    (is_law && !NO_LAWS.contains(&word)).then(|| word.to_owned())
}

/// A text in which 제 stands before every number of an article: without it 640조 is an amount.
struct Marked {
    text: String,
    /// Where each 제 was put, in bytes of `text`.
    marks: Vec<usize>,
}

impl Marked {
    fn new(text: &str) -> Self {
        let mut marked = Self { text: String::with_capacity(text.len()), marks: Vec::new() };
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = match rest.find(|c: char| !c.is_ascii_digit()) {
                Some(0) => first.len_utf8(),
                Some(end) => end,
                None => rest.len(),
            };
            let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            if first.is_ascii_digit() && marked.opens_article(piece, after) {
                marked.marks.push(marked.text.len());
                marked.text.push('제');
            }
            marked.text.push_str(piece);
            rest = after;
        }
        marked
    }

    /// Whether the digits between what is written so far and `after` count an article and no won.
    fn opens_article(&self, digits: &str, after: &str) -> bool {
        let before = self.text.trim_end();
        let is_part = self.text.ends_with([',', '.']) || before.ends_with(['제', '억', '만', '천']);
        let behind = after.trim_start().strip_prefix('조').map(|behind| behind.trim_start());
        let is_money = |behind: &str| {
            behind
                .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '원' | '억' | '만' | '천'))
        };
        digits.len() <= 4 && !is_part && behind.is_some_and(|behind| !is_money(behind))
    }

    /// Where in the text without the marks `at` is.
    fn original(&self, at: usize) -> usize {
        let marks = self.marks.iter().filter(|mark| **mark < at).count();
        at.saturating_sub(marks * '제'.len_utf8())
    }
}
