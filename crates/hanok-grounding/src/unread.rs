//! Figures that a text has and `figures` does not read, because they have no certain value.

use std::ops::Range;

use crate::claim::{Claim, Day, Value, without_spaces};
use crate::shown::is_digit;

/// What stands behind the digits of a figure: places, units, and the year of a day that no calendar has.
const UNITS: &[&str] =
    &["천", "백", "십", "만", "억", "조", "원", "%", "％", "평", "㎡", "년", "월", "일"];

/// Units in words.
const WORDS: &[&str] = &["퍼센트", "프로", "제곱미터", "평방미터", "m²", "m2"];

/// Syllables of numerals in Hangul.
const NUMERAL: &str = "일이삼사오육칠팔구십백천만억조";

/// The most characters of one figure.
const MOST: usize = 64;

/// Adds the figures in this part of `text`, of which `figures` has read nothing.
pub(crate) fn unread(text: &str, part: Range<usize>, claims: &mut Vec<Claim>) {
    let mut at = part.start;
    while let Some(c) = text.get(at..part.end).and_then(|rest| rest.chars().next()) {
        let begins = is_digit(c) || NUMERAL.contains(c) && begins_word(text, at);
        let end = if begins { piece(text, at, part.end) } else { at };
        let written = text.get(at..end).unwrap_or_default();
        let beside = Beside {
            before: text.get(..at).unwrap_or_default(),
            behind: text.get(end..).unwrap_or_default(),
        };
        if begins && is_figure(written, is_digit(c), beside) {
            claims.push(Claim { at: at..end, value: value(written) });
        }
        at = end.max(at + c.len_utf8());
    }
}

fn begins_word(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    !before.is_some_and(char::is_alphanumeric)
}

/// The end of the digits, numerals and units that begin at `at`, or of the Hangul of a numeral.
fn piece(text: &str, at: usize, most: usize) -> usize {
    let mut end = at;
    let (mut spaces, mut last) = (0, ' ');
    let has_digits = text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(is_digit);
    for c in text.get(at..most).unwrap_or_default().chars().take(MOST) {
        // `3 원룸`: behind a digit and a space another word begins.
        let is_apart = spaces > 0 && is_digit(last);
        match c {
            ' ' => {
                spaces += 1;
                continue;
            }
            // `2025. 2. 30.`
            _ if spaces > 0 && is_joint(last) && (last == ',' || !is_digit(c)) => break,
            _ if NUMERAL.contains(c) => {}
            '원' if !is_apart => {}
            _ if has_digits && (is_digit(c) || is_joint(c) || c == '/') => {}
            '평' | '㎡' | '년' | '월' | '%' | '％' if has_digits && !is_apart => {}
            _ => break,
        }
        end += spaces + c.len_utf8();
        (spaces, last) = (0, c);
    }
    let written = text.get(at..end).unwrap_or_default();
    at + written.trim_end_matches(is_joint).len()
}

fn is_joint(c: char) -> bool {
    matches!(c, ',' | '.' | '~' | '∼' | '～' | '〜' | '-')
}

/// The texts before and behind a piece.
#[derive(Clone, Copy)]
struct Beside<'a> {
    before: &'a str,
    behind: &'a str,
}

/// Whether a piece is a figure: digits with a unit or of the form of a day, or two syllables of a numeral with 원 behind them.
fn is_figure(written: &str, has_digits: bool, beside: Beside<'_>) -> bool {
    if has_digits {
        let is_won = beside.before.trim_end_matches(' ').ends_with(['₩', '￦']);
        let behind = beside.behind.trim_start_matches(' ');
        return is_won
            || is_day(written)
            || UNITS.iter().any(|unit| written.contains(unit))
            || WORDS.iter().any(|word| behind.starts_with(word));
    }
    let numeral = written.strip_suffix('원').unwrap_or_default();
    let count = numeral.chars().filter(|c| NUMERAL.contains(*c)).count();
    count >= 2 && numeral.chars().all(|c| NUMERAL.contains(c) || c == ' ')
}

/// Whether it has the form of a day that `figures` does not read: one that no calendar has, or one with two digits of its year.
fn is_day(written: &str) -> bool {
    let bare = without_spaces(written);
    ['-', '.', '/'].iter().any(|sign| {
        let parts: Vec<&str> = bare.trim_end_matches(*sign).split(*sign).collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.chars().count()).collect();
        matches!(lengths[..], [4, 1 | 2, 1 | 2] | [2, 2, 2])
            && bare.chars().all(|c| is_digit(c) || c == *sign)
    })
}

/// What a piece says: `03월 02일` is a day, though its numbers begin with 0, and `26.03.02` is one of 2026.
fn value(written: &str) -> Value {
    let bare = without_spaces(written);
    let of_year = || {
        let (month, day) = bare.strip_suffix('일')?.split_once('월')?;
        Some(Day { year: None, month: month.parse().ok()?, day: Some(day.parse().ok()?) })
    };
    let short = || {
        let parts: Vec<&str> = bare.split(['-', '.', '/']).filter(|it| !it.is_empty()).collect();
        let [year, month, day] = parts[..] else { return None };
        let year = year.parse::<u16>().ok().filter(|year| *year < 100)?;
        let (month, day) = (month.parse().ok()?, Some(day.parse().ok()?));
        Some(Day { year: Some(2000 + year), month, day })
    };
    of_year().or_else(short).map_or(Value::Unread(bare.clone()), Value::Date)
}
