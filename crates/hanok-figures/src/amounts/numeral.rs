//! A whole numeral: sections with 조, 억 and 만 between them.

use crate::calculator::Number;

use super::section::{Section, Spacing, section};
use super::unit::{Writing, won};
use super::words::{big_place, char_at, digit_syllable, skip_space, small_place};

/// A numeral without its unit.
#[derive(Debug, Clone)]
pub(super) struct Numeral {
    pub(super) value: Number,
    pub(super) end: usize,
    /// Whether Arabic digits stand at its beginning.
    pub(super) has_digits: bool,
    /// Whether something counts its places: 이천만, and not 천만.
    pub(super) is_counted: bool,
    /// Whether spaces stand where money alone has them.
    pub(super) is_loose: bool,
    pub(super) has_decimals: bool,
    /// The syllables for places: two in 3천만.
    pub(super) places: u32,
    /// The power of ten of its last 만, 억 or 조; 0 if it has none.
    pub(super) big: u32,
}

/// What begins at a place.
#[derive(Debug)]
pub(super) enum Reading<T> {
    Read(T),
    /// Something that has no certain value, up to here.
    Unclear(usize),
    Nothing,
}

/// What becomes of a section behind 만, 억 or 조 that has none of these itself.
enum Tail {
    /// It is added, times this power of ten.
    Added(u32),
    /// It is no part of the numeral.
    Apart,
    Unclear,
}

/// The numeral that begins at `at`.
pub(super) fn numeral(text: &str, at: usize, spacing: Spacing) -> Reading<Numeral> {
    let Some(first) = first(text, at, spacing) else { return Reading::Nothing };
    let mut numeral = match with_big(text, &first, spacing) {
        Some(numeral) => numeral,
        None => return Reading::Read(without_big(text, &first, at)),
    };
    loop {
        let start = skip_space(text, numeral.end);
        let has_gap = start > numeral.end;
        let Some(next) = section(text, start, spacing) else { return Reading::Read(numeral) };
        match with_big(text, &next, spacing) {
            Some(more) => {
                // `3.3억5천만` is nothing that is said.
                let fits = !numeral.has_decimals
                    && more.big < numeral.big
                    && next.fits_below(numeral.big - more.big);
                let is_part =
                    next.is_counted || won(text, more.end, Writing::Places, true).is_some();
                match (fits && is_part, has_gap) {
                    (true, _) => {}
                    (false, true) => return Reading::Read(numeral),
                    (false, false) => return Reading::Unclear(more.end),
                }
                let Ok(value) = numeral.value.add(&more.value) else {
                    return Reading::Unclear(more.end);
                };
                numeral = Numeral {
                    value,
                    has_digits: numeral.has_digits,
                    is_counted: numeral.is_counted || more.is_counted,
                    is_loose: numeral.is_loose || more.is_loose,
                    places: numeral.places + more.places,
                    ..more
                };
            }
            None => {
                let start = skip_space(text, next.end);
                let is_money = won(text, start, Writing::Places, start == next.end).is_some();
                let shorter = if is_money { None } else { next.without_particle(text) };
                return with_tail(numeral, &shorter.unwrap_or(next), has_gap, is_money);
            }
        }
    }
}

/// The section at `at`, or a 만 that nothing counts: `만 원`.
fn first(text: &str, at: usize, spacing: Spacing) -> Option<Section> {
    let bare = || {
        (char_at(text, at)? == '만').then(|| Section {
            value: Number::from(1),
            end: at,
            first: 0,
            last: 0,
            has_digits: false,
            has_decimals: false,
            is_counted: false,
            is_loose: false,
        })
    };
    section(text, at, spacing).or_else(bare)
}

impl Section {
    /// Whether it is less than ten to `power`.
    fn fits_below(&self, power: u32) -> bool {
        self.value.compare(&Number::from(10_i64.pow(power))).is_lt()
    }

    fn places(&self, text: &str, from: usize) -> u32 {
        let written = text.get(from..self.end).unwrap_or_default().chars();
        written.filter(|c| small_place(*c).is_some()).map(|_| 1).sum()
    }

    /// Whether it is one syllable of a digit.
    fn is_syllable(&self) -> bool {
        !self.has_digits && self.first == 0
    }
}

/// The section with the 만, 억 or 조 behind it.
fn with_big(text: &str, section: &Section, spacing: Spacing) -> Option<Numeral> {
    let may_gap = spacing == Spacing::Loose && section.has_digits;
    let at = if may_gap { skip_space(text, section.end) } else { section.end };
    let syllable = char_at(text, at)?;
    let big = big_place(syllable)?;
    let value = section.value.multiply(&Number::from(10_i64.pow(big))).ok()?;
    Some(Numeral {
        value,
        end: at + syllable.len_utf8(),
        has_digits: section.has_digits,
        is_counted: section.is_counted,
        is_loose: section.is_loose || at > section.end,
        has_decimals: section.has_decimals,
        places: 1 + u32::from(section.first > 0),
        big,
    })
}

fn without_big(text: &str, section: &Section, at: usize) -> Numeral {
    Numeral {
        value: section.value.clone(),
        end: section.end,
        has_digits: section.has_digits,
        is_counted: section.is_counted,
        is_loose: section.is_loose,
        has_decimals: section.has_decimals,
        places: section.places(text, at),
        big: 0,
    }
}

fn with_tail(numeral: Numeral, next: &Section, has_gap: bool, is_money: bool) -> Reading<Numeral> {
    match tail(&numeral, next, has_gap, is_money) {
        Tail::Apart => Reading::Read(numeral),
        Tail::Unclear => Reading::Unclear(next.end),
        Tail::Added(power) => {
            let more = next.value.multiply(&Number::from(10_i64.pow(power)));
            match more.and_then(|more| numeral.value.add(&more)) {
                Ok(value) => Reading::Read(Numeral {
                    value,
                    end: next.end,
                    is_counted: numeral.is_counted || next.is_counted,
                    is_loose: numeral.is_loose || next.is_loose,
                    places: numeral.places + u32::from(next.first > 0),
                    ..numeral
                }),
                Err(_too_large) => Reading::Unclear(next.end),
            }
        }
    }
}

/// What the section `next` is behind a numeral that ends with 만, 억 or 조.
fn tail(numeral: &Numeral, next: &Section, has_gap: bool, is_money: bool) -> Tail {
    let unread = if has_gap { Tail::Apart } else { Tail::Unclear };
    if is_money {
        return match (next.fits_below(numeral.big), numeral.big == 4 || next.last == 0) {
            (true, true) => Tail::Added(0),
            // `3억 5천원` is said of 3억 5천만원, and written of 5,000 won more.
            (true, false) => Tail::Unclear,
            (false, _) => unread,
        };
    }
    // `3억이 넘는`
    if next.is_syllable() {
        return Tail::Apart;
    }
    if numeral.has_decimals {
        return unread;
    }
    let same_script = next.has_digits || !numeral.has_digits;
    if !next.is_counted || has_gap && (next.first == 0 || !same_script) {
        return unread;
    }
    if numeral.big == 4 {
        return if next.fits_below(4) { Tail::Added(0) } else { unread };
    }
    // `3억5천` is 3억 5천만.
    if next.first >= 2 && next.last >= 1 && next.fits_below(4) {
        return Tail::Added(numeral.big - 4);
    }
    unread
}

/// Whether the text from `at` to `end` is one syllable for a digit.
pub(super) fn is_syllable(text: &str, at: usize, end: usize) -> bool {
    let mut chars = text.get(at..end).unwrap_or_default().chars();
    chars.next().is_some_and(|c| digit_syllable(c).is_some()) && chars.next().is_none()
}
