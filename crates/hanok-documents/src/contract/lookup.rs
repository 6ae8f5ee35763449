//! Articles by their numbers and titles.

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

/// A title without the particles that join its words either: `보증금의 반환` as `보증금반환`.
fn stems(title: &str) -> String {
    let stem = |word: &str| {
        let word = plain(word);
        let short = word.strip_suffix(['의', '과', '와']).unwrap_or(&word);
        if short.chars().nth(1).is_some() { short.to_owned() } else { word }
    };
    title.split_whitespace().map(stem).collect()
}

/// A title without what may differ: spaces, dots between words, case.
fn plain(title: &str) -> String {
    let kept = title.nfkc().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}
