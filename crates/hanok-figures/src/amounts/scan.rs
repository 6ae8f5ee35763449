//! The walk over a text.

use super::amount::{in_digits, in_hangul};
use super::article::article;
use super::date::date;
use super::digits::digit;
use super::figure::Figure;
use super::numeral::Reading;
use super::words::{char_at, char_before, hangul_end, is_hangul, rest};

/// Words that stand before an amount without a space: `총삼억원`, `일금 삼억원`.
const PREFIXES: &[&str] =
    &["일금", "금", "총", "약", "합계", "매월", "월", "연", "각", "보증금", "대금"];

/// The amounts, dates and articles of a text, in its order.
///
/// Korean and Arabic numerals with 십, 백, 천, 만, 억 and 조, decimals, commas and full-width digits are read as exact values.
/// `3억5천` and `삼억오천` are 3억 5천만, as they are spoken.
///
/// What has no certain value is left out and never 0: `천만에` and `일만 하다` are words, `3억 5천원` has two readings, and so has
/// `5조`, an article or five trillion; numbers of telephones, times and versions are none. Numerals in Hangul need 원, a per cent or
/// an area behind them, or 만 or 억 inside and a clear end. Ranges of bytes are in order, do not overlap, and are on the
/// boundaries of characters. The walk takes time by the length of the text.
///
/// ```
/// use hanok_figures::{AmountUnit, Figure, figures};
///
/// let text = "제7조에 따라 보증금 3억 5천만원의 5%를 2025년 3월 1일까지 낸다.";
/// let read: Vec<Figure> = figures(text).collect();
/// let written: Vec<String> = read.iter().map(Figure::to_string).collect();
/// assert_eq!(written, ["제7조", "350,000,000원", "5%", "2025-03-01"]);
/// assert_eq!(&text[read[1].at()], "3억 5천만원");
///
/// let question: Vec<_> = figures("1억 2천만원을 12로 나누면?").filter_map(Figure::into_amount).collect();
/// assert_eq!((question[0].value.to_string().as_str(), question[0].unit), ("120000000", AmountUnit::Won));
/// assert_eq!((question[1].value.to_string().as_str(), question[1].unit), ("12", AmountUnit::Plain));
/// ```
pub fn figures(text: &str) -> Figures<'_> {
    Figures { text, at: 0 }
}

/// An iterator over what [`figures`] reads.
///
/// ```
/// use hanok_figures::figures;
///
/// let mut figures = figures("32평을 만약 판다면");
/// assert_eq!(figures.next().map(|figure| figure.to_string()), Some("32평".to_owned()));
/// assert_eq!(figures.next(), None);
/// ```
#[derive(Debug, Clone)]
pub struct Figures<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Figures<'_> {
    type Item = Figure;

    fn next(&mut self) -> Option<Figure> {
        while let Some(c) = char_at(self.text, self.at) {
            let behind = self.at + c.len_utf8();
            match begins(self.text, self.at, c) {
                Reading::Read(figure) => {
                    self.at = figure.at().end.max(behind);
                    return Some(figure);
                }
                Reading::Unclear(end) => self.at = end.max(behind),
                Reading::Nothing => self.at = behind,
            }
        }
        None
    }
}

/// What begins with the character `c` at `at`.
fn begins(text: &str, at: usize, c: char) -> Reading<Figure> {
    if digit(c).is_some() {
        return date(text, at).or(|| article(text, at)).or(|| in_digits(text, at));
    }
    if matches!(c, '-' | '−' | '－' | '₩' | '￦') {
        return in_digits(text, at);
    }
    if !is_hangul(c) {
        return Reading::Nothing;
    }
    if char_before(text, at).is_some_and(char::is_alphanumeric) {
        // `민법제7조`, but neither `문제3` nor `이제 3조`.
        let is_direct = c == '제' && char_at(text, at + c.len_utf8()).and_then(digit).is_some();
        return match is_direct.then(|| article(text, at)) {
            Some(Reading::Read(figure)) => Reading::Read(figure),
            _ => Reading::Nothing,
        };
    }
    let article = if c == '제' { article(text, at) } else { Reading::Nothing };
    article.or(|| in_hangul(text, at)).or(|| behind_prefix(text, at))
}

/// The amount in a word that begins with one of [`PREFIXES`] at `at`.
fn behind_prefix(text: &str, at: usize) -> Reading<Figure> {
    let word = text.get(at..hangul_end_within(text, at)).unwrap_or_default();
    for prefix in PREFIXES {
        if word.len() > prefix.len()
            && word.starts_with(prefix)
            && let Reading::Read(figure) = in_hangul(text, at + prefix.len())
        {
            return Reading::Read(figure);
        }
    }
    Reading::Nothing
}

/// The end of the Hangul at `at`, of which a prefix and one syllable matter.
fn hangul_end_within(text: &str, at: usize) -> usize {
    let few: usize = rest(text, at).chars().take(4).map(char::len_utf8).sum();
    hangul_end(text.get(..at + few).unwrap_or_default(), at)
}

impl<T> Reading<T> {
    fn or(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Nothing => other(),
            read => read,
        }
    }
}
