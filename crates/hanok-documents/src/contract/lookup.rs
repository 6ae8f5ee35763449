//! Articles by their numbers and titles.

use std::cmp::Reverse;

use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

use super::{Article, ArticleNumber, Contract};

/// How many articles are named instead of one that is not there.
const NEAREST: usize = 3;

/// The contract has no article of this number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no article {asked}{}", near(nearest))]
pub struct NoArticle {
    /// What was asked for.
    pub asked: ArticleNumber,
    /// The articles whose numbers are nearest, the nearest first; three at most.
    pub nearest: Vec<ArticleNumber>,
}

fn near(nearest: &[ArticleNumber]) -> String {
    let names: Vec<_> = nearest.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        return "; there are none".to_owned();
    }
    format!("; the nearest are {}", names.join(", "))
}

/// How a title fits what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TitleFit {
    /// It is the same, but for spaces, case and the particles that join its words: `보증금의 반환` for `보증금 반환`.
    Exact,
    /// It has what was asked for in it: `계약의 해지` for `해지`.
    Contains,
    /// It stands in what was asked for: `해지` for `해지 조항`.
    Within,
}

/// An article whose title fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TitleMatch<'a> {
    /// The article.
    pub article: &'a Article,
    /// How its title fits.
    pub fit: TitleFit,
}

impl Contract {
    /// The article of this number, with `sub` that was put in later (`제7조의2` is 7 and 2); the first one where a number stands
    /// twice.
    ///
    /// # Errors
    ///
    /// [`NoArticle`] when there is none.
    pub fn article(&self, number: u32, sub: Option<u32>) -> Result<&Article, NoArticle> {
        let number = ArticleNumber { number, sub };
        let missing = || NoArticle { asked: number, nearest: self.nearest(number) };
        self.numbered(number).next().ok_or_else(missing)
    }

    /// Every article of this number, in the order of the text: more than one where a number is doubled.
    pub fn numbered(&self, number: ArticleNumber) -> impl Iterator<Item = &Article> {
        self.articles.iter().filter(move |article| article.number == number)
    }

    /// The articles whose title fits `title`, the best first: exact ones, those that contain it (the shortest first), those that
    /// stand in it (the longest first).
    ///
    /// ```
    /// use hanok_documents::{Contract, TitleFit};
    ///
    /// let contract = Contract::parse("제1조(해지의 효과)\n제2조(해지)\n제3조(목적)\n");
    /// let found = contract.by_title("해지");
    /// let found: Vec<_> = found.iter().map(|found| (found.article.label(), found.fit)).collect();
    /// assert_eq!(
    ///     found,
    ///     [("제2조(해지)".into(), TitleFit::Exact), ("제1조(해지의 효과)".into(), TitleFit::Contains)]
    /// );
    /// ```
    #[must_use]
    pub fn by_title(&self, title: &str) -> Vec<TitleMatch<'_>> {
        let asked = plain(title);
        if asked.is_empty() {
            return Vec::new();
        }
        let stems = stems(title);
        let mut found: Vec<(TitleFit, usize, &Article)> = Vec::new();
        for article in &self.articles {
            let whole = article.title.as_deref().unwrap_or_default();
            let title = plain(whole);
            let fits = [fit(&asked, &title), fit(&stems, &self::stems(whole))];
            if let Some(fit) = fits.into_iter().flatten().min() {
                found.push((fit, asked.chars().count().abs_diff(title.chars().count()), article));
            }
        }
        found.sort_by_key(|(fit, far, _)| (*fit, *far));
        found.into_iter().map(|(fit, _, article)| TitleMatch { article, fit }).collect()
    }

    /// The articles whose titles stand in `text`, with or without the particles that join the words of a title; the longest title
    /// first, and none that is part of a longer one that was found. A title of one syllable is none.
    ///
    /// ```
    /// use hanok_documents::Contract;
    ///
    /// let contract = Contract::parse("제1조(해지)\n제2조(보증금의 반환)\n제3조(보증금)\n");
    /// let named: Vec<_> = contract.titled_in("보증금 반환과 해지는?").iter().map(|it| it.label()).collect();
    /// assert_eq!(named, ["제2조(보증금의 반환)", "제1조(해지)"]);
    /// ```
    #[must_use]
    pub fn titled_in(&self, text: &str) -> Vec<&Article> {
        let titled = self.articles.iter().filter_map(|it| Some((it.title.as_deref()?, it)));
        let mut titles: Vec<(&str, &Article)> = titled.collect();
        titles.retain(|(title, _)| title.chars().nth(1).is_some() && stands_in(title, text));
        titles.sort_by_key(|(title, _)| Reverse(title.chars().count()));
        let mut found: Vec<(&str, &Article)> = Vec::new();
        for (title, article) in titles {
            if !found.iter().any(|(known, _)| known.contains(title)) {
                found.push((title, article));
            }
        }
        found.into_iter().map(|(_, article)| article).collect()
    }

    fn nearest(&self, asked: ArticleNumber) -> Vec<ArticleNumber> {
        let mut numbers: Vec<_> = self.articles.iter().map(|article| article.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let sub = |number: &ArticleNumber| number.sub.unwrap_or(1);
        numbers.sort_by_key(|number| {
            (number.number.abs_diff(asked.number), sub(number).abs_diff(sub(&asked)))
        });
        numbers.truncate(NEAREST);
        numbers
    }
}

fn fit(asked: &str, title: &str) -> Option<TitleFit> {
    // One syllable stands in too many words.
    let is_word = title.chars().nth(1).is_some();
    if title == asked {
        Some(TitleFit::Exact)
    } else if title.contains(asked) {
        Some(TitleFit::Contains)
    } else {
        (is_word && asked.contains(title)).then_some(TitleFit::Within)
    }
}

/// Whether `title` stands in `text`, with and without the particles between its words: `보증금의 반환` in `보증금 반환은 언제 해?`.
fn stands_in(title: &str, text: &str) -> bool {
    let words = title.split_whitespace().filter(|word| *word != "및");
    let words: Vec<&str> = words.map(stem).collect();
    let Some((first, others)) = words.split_first() else { return false };
    let joins = |c: char| c.is_whitespace() || c == '및' || c == '·' || JOINING.contains(&c);
    text.match_indices(first).any(|(at, _)| {
        let mut rest = text.get(at + first.len()..).unwrap_or_default();
        others.iter().all(|word| {
            let next = rest.trim_start_matches(joins).strip_prefix(word);
            rest = next.unwrap_or_default();
            next.is_some()
        })
    })
}

/// Particles that join the words of a title.
const JOINING: [char; 3] = ['의', '과', '와'];

/// A word of a title without the particle that joins it to the next one.
fn stem(word: &str) -> &str {
    let short = word.strip_suffix(JOINING).unwrap_or(word);
    if short.chars().nth(1).is_some() { short } else { word }
}

/// A title without the particles that join its words either: `보증금의 반환` as `보증금반환`.
fn stems(title: &str) -> String {
    title.split_whitespace().map(|word| stem(&plain(word)).to_owned()).collect()
}

/// A title without what may differ: spaces, dots between words, case.
fn plain(title: &str) -> String {
    let kept = title.nfkc().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}
