//! A part of a numeral below 만: `5천`, `2천5백`, `이천오백`, `1,234.5`.

use crate::calculator::Number;

use super::digits::{Digits, digits};
use super::words::{big_place, char_at, char_before, digit_syllable, skip_space, small_place};

/// How much space a numeral may have inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    /// Behind 만, 억 and 조 alone.
    Strict,
    /// Also behind 천 and 백, and before 만: what is read so has to be money.
    Loose,
}

/// What a section is.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) value: Number,
    pub(super) end: usize,
    /// The power of ten of its first part and of its last.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Whether it has Arabic digits.
    pub(super) has_digits: bool,
    pub(super) has_decimals: bool,
    /// Whether something counts its places: 이천, and not 천.
    pub(super) is_counted: bool,
    /// Whether spaces stand in it.
    pub(super) is_loose: bool,
}

impl Section {
    /// The section without a syllable at its end that is as well a particle: `오천이 넘는`, `오천일 때`.
    pub(super) fn without_particle(&self, text: &str) -> Option<Self> {
        let last = char_before(text, self.end).filter(|c| matches!(c, '이' | '일'))?;
        let digit = Number::from(digit_syllable(last).filter(|_| self.first > 0)?);
        let value = self.value.subtract(&digit).ok()?;
        Some(Self { value, end: self.end - last.len_utf8(), last: 1, ..self.clone() })
    }
}

/// What counts a place.
enum Count {
    Digits(Digits, Number),
    Syllable(i64, usize),
    None(usize),
}

impl Count {
    fn end(&self) -> usize {
        match self {
            Self::Digits(digits, _) => digits.end,
            Self::Syllable(_, end) | Self::None(end) => *end,
        }
    }
}

/// The count at `at`; `None` where digits stand that are no number.
fn count(text: &str, at: usize) -> Option<Count> {
    if let Some(digits) = digits(text, at) {
        let number = digits.number.clone()?;
        return Some(Count::Digits(digits, number));
    }
    let syllable = char_at(text, at).and_then(|c| Some((digit_syllable(c)?, at + c.len_utf8())));
    Some(syllable.map_or(Count::None(at), |pair| Count::Syllable(pair.0, pair.1)))
}

/// The section that begins at `at`.
pub(super) fn section(text: &str, at: usize, spacing: Spacing) -> Option<Section> {
    let mut section: Option<Section> = None;
    loop {
        let end = section.as_ref().map_or(at, |section| section.end);
        let start = match (&section, spacing) {
            (Some(_), Spacing::Loose) => skip_space(text, end),
            _ => end,
        };
        let Some(count) = count(text, start) else { return section };
        let place = char_at(text, count.end()).and_then(|c| Some((small_place(c)?, c.len_utf8())));
        let next = match section.as_ref() {
            Some(before) if start > end && place.is_none() && !fills(text, &count, before) => None,
            before => part(&count, place, before, start > end),
        };
        let Some(part) = next else { return section };
        let is_last = part.last == 0;
        section = Some(match section {
            None => part,
            Some(before) => Section {
                value: before.value.add(&part.value).ok()?,
                first: before.first,
                has_digits: before.has_digits || part.has_digits,
                has_decimals: before.has_decimals || part.has_decimals,
                is_counted: before.is_counted || part.is_counted,
                is_loose: before.is_loose || part.is_loose,
                ..part
            },
        });
        if is_last {
            return section;
        }
    }
}

/// Whether digits behind a space are all the places below `before`, with 만 behind them: `1천 500만`.
fn fills(text: &str, count: &Count, before: &Section) -> bool {
    let Count::Digits(digits, _) = count else { return false };
    let length = digits.plain.as_ref().map_or(0, String::len);
    u32::try_from(length) == Ok(before.last)
        && char_at(text, digits.end).is_some_and(|c| big_place(c).is_some())
}

/// The next part of a section behind `before`.
fn part(
    count: &Count,
    place: Option<(u32, usize)>,
    before: Option<&Section>,
    is_loose: bool,
) -> Option<Section> {
    let (power, length) = place.unwrap_or((0, 0));
    let (value, has_decimals) = match count {
        Count::Digits(digits, number) => (number.clone(), digits.has_decimals),
        Count::Syllable(digit, _) => (Number::from(*digit), false),
        Count::None(_) => (Number::from(1), false),
    };
    let is_counted = !matches!(count, Count::None(_));
    if !is_counted && (place.is_none() || is_loose) {
        return None;
    }
    if let Some(before) = before {
        // Behind 5천 there is room for less than 천, and a counted place has one digit.
        let room = if place.is_some() { 10 } else { 10_i64.pow(before.last) };
        let fits =
            power < before.last && !has_decimals && value.compare(&Number::from(room)).is_lt();
        // `5천이 넘는`: 이 is a particle.
        let is_particle =
            before.has_digits && place.is_none() && matches!(count, Count::Syllable(..));
        if !fits || before.has_decimals || is_particle {
            return None;
        }
    }
    let value = match power {
        0 => value,
        _ => value.multiply(&Number::from(10_i64.pow(power))).ok()?,
    };
    Some(Section {
        value,
        end: count.end() + length,
        first: power,
        last: power,
        has_digits: matches!(count, Count::Digits(..)),
        has_decimals,
        is_counted,
        is_loose,
    })
}
