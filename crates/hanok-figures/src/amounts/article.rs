//! Numbers of articles: `제7조`, `제7조의2제1항`, `7조 제1항`.

use super::digits::{digit, digits, integer};
use super::figure::{Article, Figure};
use super::numeral::Reading;
use super::unit::joins_word;
use super::words::{char_at, is_hangul, skip_space, word_at};

/// The article that begins at `at` with 제 or, if its 항 or 조의 shows what it is, with its number.
pub(super) fn article(text: &str, at: usize) -> Reading<Figure> {
    let prefix = word_at(text, at, "제");
    let start = prefix.map_or(at, |end| skip_space(text, end));
    let Some((number, end)) = part(text, start, "조") else {
        return match prefix {
            Some(end) if end == start => ordinal(text, start),
            _ => Reading::Nothing,
        };
    };
    let branch = word_at(text, end, "의").and_then(|end| number_at(text, end));
    let end_of_branch = branch.map_or(end, |pair| pair.1);
    let paragraph = next_part(text, end_of_branch, "항");
    let end_of_paragraph = paragraph.map_or(end_of_branch, |pair| pair.1);
    let item = next_part(text, end_of_paragraph, "호");
    let last = item.map_or(end_of_paragraph, |pair| pair.1);
    let is_marked = branch.is_some() || paragraph.is_some() || item.is_some();
    if !is_marked && (prefix.is_none() || joins_word(text, end) || opens_money(text, end)) {
        return prefix.map_or(Reading::Nothing, |_| Reading::Unclear(end));
    }
    Reading::Read(Figure::Article(Article {
        number,
        branch: branch.map(|pair| pair.0),
        paragraph: paragraph.map(|pair| pair.0),
        item: item.map(|pair| pair.0),
        at: at..last,
    }))
}

/// `제3자`: no amount.
fn ordinal(text: &str, at: usize) -> Reading<Figure> {
    digits(text, at).map_or(Reading::Nothing, |digits| Reading::Unclear(digits.end))
}

/// `조원`: no article.
fn opens_money(text: &str, at: usize) -> bool {
    char_at(text, at) == Some('원')
}

/// A number with its end.
fn number_at(text: &str, at: usize) -> Option<(u32, usize)> {
    let digits = digits(text, at)?;
    let is_short = digits.plain.as_ref().is_some_and(|plain| plain.len() <= 4);
    let number = integer(&digits).filter(|number| is_short && *number > 0)?;
    Some((number, digits.end))
}

/// The number before `word` at `at`, and the end of `word`.
fn part(text: &str, at: usize, word: &str) -> Option<(u32, usize)> {
    let (number, end) = number_at(text, at)?;
    let start = if word == "조" { skip_space(text, end) } else { end };
    Some((number, word_at(text, start, word)?))
}

/// `제1항`, ` 1항`, `제2호` behind what ends at `at`.
fn next_part(text: &str, at: usize, word: &str) -> Option<(u32, usize)> {
    let start = skip_space(text, at);
    let start = word_at(text, start, "제").map_or(start, |end| skip_space(text, end));
    char_at(text, start).and_then(digit)?;
    let (number, end) = part(text, start, word)?;
    // `1항목`, `2호선`
    let is_other =
        char_at(text, end).is_some_and(|c| is_hangul(c) && matches!(c, '목' | '선' | '실'));
    (!is_other).then_some((number, end))
}
