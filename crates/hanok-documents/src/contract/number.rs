//! The number of an article, and how numbers are written.

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::work;

/// Longer numbers are years, sums of money or noise.
const MAX_DIGITS: usize = 4;

/// How many articles a contract may have lost in one place: a number further on is a reference.
const MAX_SKIPPED: u32 = 2;

/// What is counted, and not a part of an article's number: `제3조의 2개 항목`.
const COUNTED: [&str; 14] =
    ["개", "명", "인", "회", "배", "건", "년", "월", "일", "차", "분의", "항", "호", "가지"];

/// The number of an article: `제7조의2` is 7 and 2.
///
/// ```
/// use hanok_documents::ArticleNumber;
///
/// let number: ArticleNumber = "제 7 조의 2".parse()?;
/// assert_eq!(number, ArticleNumber::inserted(7, 2));
/// assert_eq!((number.to_string(), number.key()), ("제7조의2".to_owned(), "7의2".to_owned()));
/// assert!(ArticleNumber::new(7) < number && number < ArticleNumber::new(8));
/// # Ok::<(), hanok_documents::ArticleNumberError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArticleNumber {
    /// The 7 of `제7조의2`.
    pub number: u32,
    /// The 2 of `제7조의2`: an article that was put in later.
    pub sub: Option<u32>,
}

/// A text that names no article.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no article's number; write `5`, `7의2` or `제7조의2`")]
pub struct ArticleNumberError;

impl ArticleNumber {
    /// `제N조`.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self { number, sub: None }
    }

    /// `제N조의M`.
    #[must_use]
    pub const fn inserted(number: u32, sub: u32) -> Self {
        Self { number, sub: Some(sub) }
    }

    /// The short form, for metadata and keys: `5`, `7의2`.
    #[must_use]
    pub fn key(self) -> String {
        match self.sub {
            Some(sub) => format!("{}의{sub}", self.number),
            None => self.number.to_string(),
        }
    }

    /// Whether few numbers are missing between `last` and this.
    pub(crate) fn skips(self, last: Self) -> bool {
        let far = self.number.saturating_sub(last.number);
        self.sub.is_none() && (1..=MAX_SKIPPED + 1).contains(&far)
    }

    /// Whether this is the number that comes after `last`.
    pub(crate) fn follows(self, last: Option<Self>) -> bool {
        let Some(last) = last else { return self == Self::new(1) };
        let next =
            self.number == last.number.saturating_add(1) && self.sub.is_none_or(|sub| sub <= 2);
        let inserted = self.number == last.number
            && match (last.sub, self.sub) {
                (None, Some(sub)) => sub <= 2,
                (Some(last), Some(sub)) => sub == last.saturating_add(1),
                (_, None) => false,
            };
        next || inserted
    }
}

impl fmt::Display for ArticleNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "제{}조", self.number)?;
        self.sub.map_or(Ok(()), |sub| write!(f, "의{sub}"))
    }
}

/// Reads `5`, `5조`, `제5조`, `제5조의2`, `5의2`, `Article 5`, with spaces and full-width digits.
impl FromStr for ArticleNumber {
    type Err = ArticleNumberError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let text = ["제", "Article", "article"]
            .into_iter()
            .find_map(|mark| text.strip_prefix(mark))
            .map_or(text, skip_spaces);
        let (number, rest) = digits(text).ok_or(ArticleNumberError)?;
        let rest = skip_spaces(rest);
        let rest = rest.strip_prefix('조').unwrap_or(rest);
        let (sub, rest) = sub(rest).map_or((None, rest), |(sub, rest)| (Some(sub), rest));
        if rest.trim().is_empty() { Ok(Self { number, sub }) } else { Err(ArticleNumberError) }
    }
}

/// `text` from the first character on that is no space of its line.
pub(crate) fn skip_spaces(text: &str) -> &str {
    work::stripped(text, text.trim_start_matches(|c: char| c.is_whitespace() && c != '\n'))
}

/// A digit, full-width ones too.
fn digit(c: char) -> Option<u32> {
    c.to_digit(10).or_else(|| match c {
        '０'..='９' => Some(u32::from(c) - u32::from('０')),
        _ => None,
    })
}

/// The number that `text` begins with, and what follows.
pub(crate) fn digits(text: &str) -> Option<(u32, &str)> {
    let (mut number, mut count, mut rest) = (0_u32, 0, text);
    while let Some((value, after)) = rest.chars().next().and_then(|c| {
        let after = rest.get(c.len_utf8()..)?;
        digit(c).map(|value| (value, after))
    }) {
        count += 1;
        work::count(1);
        if count > MAX_DIGITS {
            return None;
        }
        (number, rest) = (number * 10 + value, after);
    }
    (count > 0).then_some((number, rest))
}

/// `제5조`, `제 3 장`: the number, what it numbers, and what follows.
pub(crate) fn ordinal(text: &str) -> Option<(u32, char, &str)> {
    let (number, rest) = digits(skip_spaces(text.strip_prefix('제')?))?;
    let rest = skip_spaces(rest);
    let unit = rest.chars().next()?;
    Some((number, unit, rest.get(unit.len_utf8()..)?))
}

/// The `의2` that may follow `제5조`, and what follows.
pub(crate) fn sub(rest: &str) -> Option<(u32, &str)> {
    let after = skip_spaces(rest).strip_prefix('의')?;
    let (number, rest) = digits(skip_spaces(after))?;
    let glued = after.starts_with(|c| digit(c).is_some());
    let next = rest.chars().next();
    let counted = COUNTED.iter().any(|unit| rest.starts_with(unit))
        || next.is_some_and(|c| matches!(c, '%' | '.' | '/'));
    let free = glued || next.is_none_or(|c| !c.is_alphanumeric());
    (free && !counted).then_some((number, rest))
}

/// `제5조의2`: the number and what follows.
pub(crate) fn article(text: &str) -> Option<(ArticleNumber, &str)> {
    let (number, unit, rest) = ordinal(text)?;
    if unit != '조' {
        return None;
    }
    Some(match sub(rest) {
        Some((sub, rest)) => (ArticleNumber::inserted(number, sub), rest),
        None => (ArticleNumber::new(number), rest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_people_write_it() {
        let (five, inserted) = (ArticleNumber::new(5), ArticleNumber::inserted(7, 2));
        for (text, want) in [
            ("5", Some(five)),
            ("제5조", Some(five)),
            (" 제 ５ 조 ", Some(five)),
            ("5조", Some(five)),
            ("Article 5", Some(five)),
            ("7의2", Some(inserted)),
            ("제7조 의 2", Some(inserted)),
            ("7조의２", Some(inserted)),
            ("", None),
            ("다섯", None),
            ("5항", None),
            ("12345", None),
            ("제5조에", None),
        ] {
            assert_eq!(text.parse().ok(), want, "{text:?}");
        }
    }

    #[test]
    fn an_inserted_number_is_told_from_a_count() {
        for (text, want) in [
            ("제3조의2", Some((ArticleNumber::inserted(3, 2), ""))),
            ("제3조의2에 따라", Some((ArticleNumber::inserted(3, 2), "에 따라"))),
            ("제3조의 2개 항목", Some((ArticleNumber::new(3), "의 2개 항목"))),
            ("제3조의 2분의 1", Some((ArticleNumber::new(3), "의 2분의 1"))),
            ("제3항", None),
            ("3조", None),
        ] {
            assert_eq!(article(text), want, "{text:?}");
        }
    }
}
