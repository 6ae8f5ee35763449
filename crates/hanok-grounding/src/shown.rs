//! How many digits of an amount a text shows.

use std::ops::Range;

use hanok_figures::Number;

use crate::claim::abs;

/// The digits that a text shows of an amount, if it may be a rounded one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    /// Half of the last place that is shown. `None` where the amount stands for itself alone.
    pub(crate) half: Option<Number>,
    /// The same where the amount was converted from another unit, which is never told to the last digit.
    pub(crate) converted: Option<Number>,
}

/// Words before an amount that is not exact.
const ABOUT: &[&str] = &["약", "대략", "거의", "어림잡아", "≈"];

/// Words behind one.
const ROUGHLY: &[&str] = &["정도", "가량", "쯤", "내외", "안팎", "남짓", "수준"];

impl Shown {
    /// What is shown of `value`, which stands `at` in `text`.
    ///
    /// An amount may be rounded where it has decimals, and where a word says so; two of its digits count at least, so it is off by
    /// at most 5 %.
    pub(crate) fn of(text: &str, at: &Range<usize>, value: &Number, is_area: bool) -> Self {
        let written = text.get(at.clone()).unwrap_or_default();
        let has_decimals = written.contains(['.', '．']);
        let is_about = !has_decimals && is_about(text, at);
        if !has_decimals && !is_about && !is_area {
            return Self::default();
        }
        let step = last_place(written, value);
        let digits = |step: &Number| match abs(value).divide(step) {
            Ok(count) => !count.compare(&Number::from(10)).is_lt(),
            Err(_zero) => false,
        };
        let converted = step.clone().filter(digits);
        let half = match has_decimals {
            true => converted.clone(),
            false if is_about => last_digit(value).filter(digits),
            false => None,
        };
        Self { half: half.and_then(half_of), converted: converted.and_then(half_of) }
    }
}

fn half_of(step: Number) -> Option<Number> {
    step.multiply(&"0.5".parse().ok()?).ok()
}

/// The value of the last place that is written: 0.1억 in `3.3억`, 1 in `25평`, 만 in `2,500만`.
fn last_place(written: &str, value: &Number) -> Option<Number> {
    let Some(point) = written.find(['.', '．']) else {
        return match written.chars().rev().find_map(place) {
            Some(power) => ten_to(power),
            None => value.to_i128().and_then(|_| ten_to(0)),
        };
    };
    let decimals = written.get(point..)?.chars().skip(1);
    let count = decimals.clone().take_while(|c| is_digit(*c)).count();
    let behind = decimals.skip(count).skip_while(|c| *c == ' ');
    let power: i64 = behind.map_while(place).sum();
    ten_to(power - i64::try_from(count).ok()?)
}

/// What the places behind the digits of `4천만원` make of its digits.
pub(crate) fn places(written: &str) -> Option<Number> {
    let behind = written.chars().skip_while(|c| place(*c).is_none());
    ten_to(behind.map_while(place).sum())
}

/// The value of the last digit that is not 0.
fn last_digit(value: &Number) -> Option<Number> {
    let text = value.to_string();
    if text.contains('.') || value.to_i128() == Some(0) {
        return None;
    }
    let zeros = text.len() - text.trim_end_matches('0').len();
    ten_to(i64::try_from(zeros).ok()?)
}

fn place(c: char) -> Option<i64> {
    match c {
        '십' => Some(1),
        '백' => Some(2),
        '천' => Some(3),
        '만' => Some(4),
        '억' => Some(8),
        '조' => Some(12),
        _ => None,
    }
}

fn ten_to(power: i64) -> Option<Number> {
    let zeros = usize::try_from(power.unsigned_abs()).ok().filter(|zeros| *zeros <= 200)?;
    let text = match power {
        0.. => format!("1{}", "0".repeat(zeros)),
        _ => format!("0.{}1", "0".repeat(zeros - 1)),
    };
    text.parse().ok()
}

/// Whether a word beside the amount says that it is not exact.
fn is_about(text: &str, at: &Range<usize>) -> bool {
    let before = text.get(..at.start).unwrap_or_default().trim_end_matches(' ');
    let behind = text.get(at.end..).unwrap_or_default().trim_start_matches(' ');
    let written = text.get(at.clone()).unwrap_or_default();
    ABOUT.iter().any(|word| before.ends_with(word) || written.starts_with(word))
        || ROUGHLY.iter().any(|word| behind.starts_with(word))
}

/// A digit, half or full width.
pub(crate) fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || ('０'..='９').contains(&c)
}
