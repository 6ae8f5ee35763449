//! Dates with a year, a month and a day.

use super::digits::{digit, digits, integer};
use super::figure::{Date, Figure};
use super::numeral::Reading;
use super::words::{char_at, rest, skip_space};

/// The date that begins at `at`.
pub(super) fn date(text: &str, at: usize) -> Reading<Figure> {
    let Some(year_end) = some_digits(text, at, 4).filter(|end| *end > at) else {
        return Reading::Nothing;
    };
    let whole = text.get(at..year_end).unwrap_or_default();
    if whole.chars().count() != 4 {
        return Reading::Nothing;
    }
    let parts = ["년", "-", ".", "/"].iter().find_map(|sign| parts(text, year_end, sign));
    let Some(Parts { month, day, end }) = parts else { return Reading::Nothing };
    let year = digits(whole, 0).and_then(|digits| integer(&digits));
    let date = year.and_then(|year| u16::try_from(year).ok());
    let date = date.filter(|year| *year > 0 && is_day(*year, month, day));
    match date {
        Some(year) => Reading::Read(Figure::Date(Date { year, month, day, at: at..end })),
        None => Reading::Unclear(end),
    }
}

struct Parts {
    month: u8,
    day: u8,
    end: usize,
}

/// The month and the day behind a year that ends at `at`, written with `sign`.
fn parts(text: &str, at: usize, sign: &str) -> Option<Parts> {
    let (month_sign, day_sign) = if sign == "년" { ("월", "일") } else { (sign, "") };
    // `2025년 3월 1일`, `2025. 3. 1.`, but not `2025 - 3 - 1`.
    let may_gap = matches!(sign, "년" | ".");
    let gap = |at: usize| if may_gap { skip_space(text, at) } else { at };
    let start = gap(sign_end(text, at, sign)?);
    let month_end = some_digits(text, start, 2)?;
    let day_start = gap(sign_end(text, month_end, month_sign)?);
    let digits_end = some_digits(text, day_start, 2)?;
    let mut end = sign_end(text, digits_end, day_sign)?;
    let goes_on = match char_at(text, end) {
        Some(c) if sign != "년" => digit(c).is_some() || joins_digit(text, end, sign),
        _ => false,
    };
    if goes_on {
        return None;
    }
    if sign == "." {
        end = sign_end(text, end, sign).unwrap_or(end);
    }
    let small = |from: usize, to: usize| {
        let number = integer(&digits(text.get(from..to)?, 0)?)?;
        u8::try_from(number).ok()
    };
    Some(Parts { month: small(start, month_end)?, day: small(day_start, digits_end)?, end })
}

/// Whether a further part follows: `2025.3.1.2`.
fn joins_digit(text: &str, at: usize, sign: &str) -> bool {
    sign_end(text, at, sign).and_then(|end| char_at(text, end)).is_some_and(|c| digit(c).is_some())
}

fn sign_end(text: &str, at: usize, sign: &str) -> Option<usize> {
    let wide = if sign == "." { "．" } else { sign };
    [sign, wide].iter().find_map(|sign| rest(text, at).starts_with(sign).then_some(at + sign.len()))
}

/// The end of the digits at `at`, if there are some and no more than `most`.
fn some_digits(text: &str, at: usize, most: usize) -> Option<usize> {
    let run = rest(text, at).chars().take_while(|c| digit(*c).is_some()).take(most + 1);
    let lengths: Vec<usize> = run.map(char::len_utf8).collect();
    ((1..=most).contains(&lengths.len())).then(|| at + lengths.iter().sum::<usize>())
}

fn is_day(year: u16, month: u8, day: u8) -> bool {
    let fields = (i16::try_from(year).ok(), i8::try_from(month).ok(), i8::try_from(day).ok());
    let (Some(year), Some(month), Some(day)) = fields else { return false };
    jiff::civil::Date::new(year, month, day).is_ok()
}
