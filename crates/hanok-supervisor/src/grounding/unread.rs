//! Figures that a text has and `figures` does not read, because they have no certain value.

use std::ops::Range;

use super::claim::{Claim, Value, without_spaces};
use super::shown::is_digit;

/// What stands behind the digits of a figure: places, units, and the year of a day that no calendar has.
const UNITS: &[&str] =
    &["천", "백", "십", "만", "억", "조", "원", "%", "％", "퍼센트", "평", "㎡", "m²", "년"];

/// Syllables of numerals in Hangul.
const NUMERAL: &str = "일이삼사오육칠팔구십백천만억조";

/// The most characters of one figure.
const MOST: usize = 64;

/// Adds the figures in this part of `text`, of which `figures` has read nothing.
pub(super) fn unread(text: &str, part: Range<usize>, claims: &mut Vec<Claim>) {
    let mut at = part.start;
    while let Some(c) = text.get(at..part.end).and_then(|rest| rest.chars().next()) {
        let begins = is_digit(c) || NUMERAL.contains(c) && begins_word(text, at);
        let end = if begins { piece(text, at, part.end) } else { at };
        let written = text.get(at..end).unwrap_or_default();
        if is_figure(written, is_digit(c)) {
            let value = Value::Unread(without_spaces(written));
            claims.push(Claim { at: at..end, value });
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
            _ if NUMERAL.contains(c) => {}
            '원' if !is_apart => {}
            _ if has_digits && (is_digit(c) || is_joint(c)) => {}
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

/// Whether a piece is a figure: digits with a unit, or two syllables of a numeral with 원 behind them.
fn is_figure(written: &str, has_digits: bool) -> bool {
    if has_digits {
        return UNITS.iter().any(|unit| written.contains(unit));
    }
    let numeral = written.strip_suffix('원').unwrap_or_default();
    let count = numeral.chars().filter(|c| NUMERAL.contains(*c)).count();
    count >= 2 && numeral.chars().all(|c| NUMERAL.contains(c) || c == ' ')
}
