//! An amount: a numeral, its sign and its unit.

use super::digits::{MOST_DIGITS, digit, digits};
use super::figure::{Amount, AmountUnit, Figure};
use super::numeral::{Numeral, Reading, is_syllable, numeral};
use super::section::Spacing;
use super::unit::{Writing, is_clear, is_full, joins_word, unit};
use super::words::{
    big_place, char_at, char_before, ends_word, is_space, rest, skip_space, small_place, word_at,
};

/// The amount in Arabic digits that begins at `at`, with the sign and the ₩ before it.
pub(super) fn in_digits(text: &str, at: usize) -> Reading<Figure> {
    let behind_sign = sign_end(text, at).unwrap_or(at);
    let start = symbol_end(text, behind_sign).unwrap_or(behind_sign);
    let is_won = start > behind_sign;
    let Some(run) = digits(text, start) else { return Reading::Nothing };
    if run.number.is_none() {
        return Reading::Unclear(code_end(text, run.end, 0));
    }
    if is_code(text, start, run.end) {
        return Reading::Unclear(code_end(text, run.end, 1));
    }
    let reading = unit_of(text, start);
    let read = match reading {
        Reading::Read(read) => read,
        Reading::Unclear(end) => return Reading::Unclear(end),
        Reading::Nothing => return Reading::Nothing,
    };
    let numeral = read.numeral;
    // Its figure could not be read again.
    if usize::try_from(numeral.value.digits()).is_ok_and(|digits| digits > MOST_DIGITS) {
        return Reading::Unclear(read.end);
    }
    if read.unit.is_none() && numeral.places > 0 {
        // `5조` is as well an article.
        if numeral.big == 12 && numeral.places == 1 && !is_won {
            return Reading::Unclear(numeral.end);
        }
        if joins_word(text, numeral.end) {
            // `3만큼` is 3 and a word.
            let is_one = numeral.places == 1 && !is_won;
            return match run.number.filter(|_| is_one) {
                Some(value) => {
                    let value = if behind_sign > at { value.negated() } else { value };
                    Reading::Read(figure(value, AmountUnit::Plain, at, run.end))
                }
                None => Reading::Unclear(numeral.end),
            };
        }
    }
    if read.unit.is_none() && numeral.places == 0 && lacks_places(text, numeral.end) {
        return Reading::Unclear(numeral.end);
    }
    let unit = match read.unit {
        Some(AmountUnit::Won) | None if is_won => AmountUnit::Won,
        Some(_) if is_won => return Reading::Unclear(read.end),
        unit => unit.unwrap_or(AmountUnit::Plain),
    };
    let value = if behind_sign > at { numeral.value.negated() } else { numeral.value };
    Reading::Read(figure(value, unit, at, read.end))
}

/// Whether the places behind a number that ends at `end` are uncertain: `3 조`, and the first of `1~2억`.
fn lacks_places(text: &str, end: usize) -> bool {
    let trillion = word_at(text, skip_space(text, end), "조");
    let range = char_at(text, end).filter(|c| matches!(c, '~' | '∼' | '～' | '〜' | '-'));
    let other = range.and_then(|c| digits(text, skip_space(text, end + c.len_utf8())));
    let place = other.and_then(|other| char_at(text, other.end));
    trillion.is_some_and(|end| ends_word(text, end))
        || place.is_some_and(|c| small_place(c).is_some() || big_place(c).is_some())
}

/// The amount in Hangul that begins at `at`, where a word begins.
pub(super) fn in_hangul(text: &str, at: usize) -> Reading<Figure> {
    match unit_of(text, at) {
        Reading::Read(read) => match hangul_unit(text, at, &read) {
            Some(unit) => Reading::Read(figure(read.numeral.value, unit, at, read.end)),
            None => Reading::Nothing,
        },
        Reading::Unclear(end) => Reading::Unclear(end),
        Reading::Nothing => Reading::Nothing,
    }
}

fn figure(value: crate::calculator::Number, unit: AmountUnit, at: usize, end: usize) -> Figure {
    Figure::Amount(Amount { value, unit, at: at..end })
}

/// A numeral with the unit behind it, if there is one that is known.
#[derive(Debug)]
struct WithUnit {
    numeral: Numeral,
    unit: Option<AmountUnit>,
    end: usize,
}

/// The numeral at `at` with its unit. Only money has spaces in its numeral that others have between two numbers.
fn unit_of(text: &str, at: usize) -> Reading<WithUnit> {
    match unit_spaced(text, at, Spacing::Loose) {
        Reading::Read(read) if read.numeral.is_loose && read.unit != Some(AmountUnit::Won) => {
            unit_spaced(text, at, Spacing::Strict)
        }
        reading => reading,
    }
}

fn unit_spaced(text: &str, at: usize, spacing: Spacing) -> Reading<WithUnit> {
    let numeral = match numeral(text, at, spacing) {
        Reading::Read(numeral) => numeral,
        Reading::Unclear(end) => return Reading::Unclear(end),
        Reading::Nothing => return Reading::Nothing,
    };
    let writing = match numeral.has_digits {
        true => Writing::Digits,
        false if is_syllable(text, at, numeral.end) => Writing::Syllable,
        false => Writing::Places,
    };
    let pair = unit(text, numeral.end, writing);
    let end = pair.as_ref().map_or(numeral.end, |pair| pair.1);
    Reading::Read(WithUnit { unit: pair.map(|pair| pair.0), end, numeral })
}

/// The unit of a numeral in Hangul, if it is one and no other word.
fn hangul_unit(text: &str, at: usize, read: &WithUnit) -> Option<AmountUnit> {
    let numeral = &read.numeral;
    let written = text.get(at..numeral.end).unwrap_or_default();
    // `일조`, `구조원`, `조원`.
    if numeral.big == 12 && numeral.places == 1 {
        return None;
    }
    // `백억` is no other word, but `천만` is.
    let is_many = numeral.big == 8 && numeral.places > 1;
    match read.unit {
        Some(AmountUnit::Won) if !numeral.is_counted => {
            let names_unit = before_spaces(text, at).ends_with("단위");
            let is_full = written == "만" && is_full(text, read.end);
            (!names_unit && !is_full).then_some(AmountUnit::Won)
        }
        Some(unit) => Some(unit),
        // `이만`, `오만`, `일만` are words, too.
        None if numeral.big == 4 && numeral.places == 1 => None,
        None => (numeral.big > 0 && (numeral.is_counted || is_many) && is_clear(text, numeral.end))
            .then_some(AmountUnit::Plain),
    }
}

/// A few characters before `at` without the spaces and colons at their end.
fn before_spaces(text: &str, at: usize) -> &str {
    let is_mark = |c: &char| is_space(*c) || matches!(c, ':' | '：' | '=');
    let before = text.get(..at).unwrap_or_default();
    let marks = before.chars().rev().take(4).take_while(is_mark).map(char::len_utf8).sum::<usize>();
    before.get(..before.len() - marks).unwrap_or_default()
}

/// The end of a minus at `at` that is a sign: before digits, and where nothing stands that it could be taken from.
fn sign_end(text: &str, at: usize) -> Option<usize> {
    let sign = char_at(text, at).filter(|c| matches!(c, '-' | '−' | '－'))?;
    let is_first = match char_before(text, at) {
        None => true,
        Some(c) if c.is_whitespace() => {
            let before = text.get(..at).unwrap_or_default().chars().rev().take(3);
            !before.skip_while(|c| c.is_whitespace()).take(1).any(ends_operand)
        }
        Some(c) => matches!(c, '(' | '[' | '（' | ':' | '=' | ',' | '~'),
    };
    is_first.then_some(at + sign.len_utf8())
}

/// Whether something may end with `c` that is subtracted from: `10만원 -5만원`.
fn ends_operand(c: char) -> bool {
    digit(c).is_some()
        || matches!(c, ')' | '%' | '％' | '원' | '평' | '㎡' | '천' | '만' | '억' | '조')
}

fn symbol_end(text: &str, at: usize) -> Option<usize> {
    let symbol = char_at(text, at).filter(|c| matches!(c, '₩' | '￦'))?;
    let end = skip_space(text, at + symbol.len_utf8());
    char_at(text, end).and_then(digit).map(|_| end)
}

/// Whether digits from `at` to `end` are a piece of a number of a telephone, a version, a time, or of a word.
fn is_code(text: &str, at: usize, end: usize) -> bool {
    let before = char_before(text, at);
    let opens = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || c == '(');
    let is_decimal = before.is_some_and(|c| matches!(c, '.' | '．'))
        && opens(char_before(text, at - before.map_or(0, char::len_utf8)));
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    // `A4`, `HNK-12`
    let in_word = before.is_some_and(is_letter)
        || before == Some('-') && char_before(text, at - 1).is_some_and(is_letter);
    let goes_on = || code_end(text, end, 1) > end && unit(text, end, Writing::Digits).is_none();
    is_decimal || in_word || goes_on()
}

/// The end of the code that goes on behind digits that end at `end`, with more than `most` hyphens, or with something else:
/// `010-1234-5678`, `12:30`, `0x1F`, `1e5`.
fn code_end(text: &str, end: usize, most: usize) -> usize {
    let mut last = end;
    let mut hyphens = 0;
    let (mut is_code, mut joint) = (false, None);
    for (offset, c) in rest(text, end).char_indices() {
        let behind = end + offset + c.len_utf8();
        match c {
            _ if digit(c).is_some() => {
                hyphens += usize::from(joint == Some('-'));
                is_code |= hyphens > most || joint.is_some_and(|joint| joint != '-');
                (last, joint) = (behind, None);
            }
            '-' | ':' if joint.is_none() => joint = Some(c),
            'a'..='z' | 'A'..='Z' | '_' if joint.is_none() || joint == Some('_') => {
                joint = Some('_')
            }
            _ => break,
        }
    }
    if is_code { last } else { end }
}
