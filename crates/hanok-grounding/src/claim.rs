//! What a text claims: its figures, with what `figures` leaves to whoever knows what a text is for.

use std::ops::Range;

use hanok_figures::{Amount, AmountUnit, Article, Figure, Number, figures};

use crate::law::{Law, Laws};
use crate::shown::{Shown, is_digit, places};
use crate::unread::unread;

/// A figure of a text with its place.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) at: Range<usize>,
    pub(crate) value: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Amount {
        value: Number,
        unit: AmountUnit,
        shown: Shown,
    },
    Date(Day),
    Article {
        article: Article,
        law: Option<Law>,
    },
    /// A figure that has no certain value, without its spaces: `3억 5천원`, `5조`.
    Unread(String),
}

/// A day, a month of a year, or a day of a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) year: Option<u16>,
    pub(crate) month: u8,
    pub(crate) day: Option<u8>,
}

/// The signs between the two ends of a range.
const RANGES: &[&str] = &["~", "∼", "～", "〜", "에서", "내지"];

/// What makes percentage points of a number, or per cents in English.
const PERCENTS: &[&str] = &[
    "%p",
    "%P",
    "％p",
    "％P",
    "%포인트",
    "% 포인트",
    "퍼센트포인트",
    "퍼센트 포인트",
    "percent",
    "per cent",
];

/// The figures of `text` in its order.
pub(crate) fn claims(text: &str) -> Vec<Claim> {
    let read: Vec<Figure> = figures(text).collect();
    let mut laws = Laws::default();
    let mut claims = Vec::with_capacity(read.len());
    let mut at = 0;
    let mut taken = 0;
    while let Some(figure) = read.get(at) {
        let start = figure.at().start;
        match figure {
            Figure::Amount(amount) => match range_start(text, taken..start, amount) {
                Some(first) => {
                    unread(text, taken..first.at.start, &mut claims);
                    claims.push(first);
                }
                None => unread(text, taken..start, &mut claims),
            },
            _ => unread(text, taken..start, &mut claims),
        }
        let next = read.get(at + 1);
        let (claim, used) = match figure {
            Figure::Amount(amount) => match next.and_then(|next| pair(text, amount, next)) {
                Some(claim) => (claim, 2),
                None => (self::amount(text, amount, next), 1),
            },
            Figure::Date(date) => {
                let day = Day { year: Some(date.year), month: date.month, day: Some(date.day) };
                (Claim { at: date.at.clone(), value: Value::Date(day) }, 1)
            }
            Figure::Article(article) => {
                let law = laws.before(text, article.at.start);
                (self::article(text, article, law), 1)
            }
            _ => (Claim { at: figure.at(), value: Value::Unread(figure.to_string()) }, 1),
        };
        taken = claim.at.end;
        claims.push(claim);
        at += used;
    }
    unread(text, taken..text.len(), &mut claims);
    claims
}

/// What two numbers say together: the month of `2026년 3월`, the day of `3월 2일`, the per cents of `100분의 5`.
fn pair(text: &str, first: &Amount, next: &Figure) -> Option<Claim> {
    let Figure::Amount(second) = next else { return None };
    if first.unit != AmountUnit::Plain || second.unit != AmountUnit::Plain {
        return None;
    }
    if text.get(first.at.end..second.at.start)?.trim() == "분의" {
        let value = second.value.multiply(&Number::from(100)).ok()?.divide(&first.value).ok()?;
        let value = Some(value).filter(|value| !value.is_rounded())?;
        let at = first.at.start..second.at.end;
        let (unit, shown) = (AmountUnit::Percent, Shown::default());
        return Some(Claim { at, value: Value::Amount { value, unit, shown } });
    }
    let between = text.get(first.at.end..second.at.start)?.trim();
    let behind = text.get(second.at.end..)?;
    let (one, two) = (small(&first.value)?, small(&second.value)?);
    let within = |number: u16, most: u8| {
        u8::try_from(number).ok().filter(|number| (1..=most).contains(number))
    };
    let (day, sign) = match between {
        "년" if one >= 1000 && behind.starts_with('월') => {
            (within(two, 12).map(|month| Day { year: Some(one), month, day: None }), '월')
        }
        "월" if behind.starts_with('일') => {
            let day = within(one, 12).zip(within(two, 31));
            (day.map(|(month, day)| Day { year: None, month, day: Some(day) }), '일')
        }
        _ => return None,
    };
    let at = first.at.start..second.at.end + sign.len_utf8();
    let written = text.get(at.clone()).unwrap_or_default();
    // No calendar has it.
    let value = day.map_or_else(|| Value::Unread(without_spaces(written)), Value::Date);
    Some(Claim { at, value })
}

/// An article. One with a part 0, as in `제7조의0`, is none.
fn article(text: &str, article: &Article, law: Option<Law>) -> Claim {
    let at = article.at.clone();
    let behind = text.get(at.end..).unwrap_or_default();
    let part = behind.strip_prefix('의').or_else(|| {
        let part = behind.trim_start_matches(' ');
        let part = part.strip_prefix('제').unwrap_or(part);
        part.trim_start_matches(is_digit).starts_with('항').then_some(part)
    });
    let digits = part.map_or(0, |part| part.len() - part.trim_start_matches(is_digit).len());
    if digits == 0 {
        return Claim { at, value: Value::Article { article: article.clone(), law } };
    }
    let end = part.map_or(at.end, |part| text.len() - part.len() + digits);
    let at = at.start..end;
    let written = text.get(at.clone()).unwrap_or_default();
    Claim { value: Value::Unread(without_spaces(written)), at }
}

fn small(number: &Number) -> Option<u16> {
    number.to_i128().and_then(|number| u16::try_from(number).ok())
}

fn amount(text: &str, amount: &Amount, next: Option<&Figure>) -> Claim {
    let (mut unit, mut value) = (amount.unit, amount.value.clone());
    let mut at = amount.at.clone();
    if unit == AmountUnit::Plain {
        let behind = text.get(at.end..).unwrap_or_default();
        let gap = behind.len() - behind.trim_start_matches(' ').len();
        let points =
            PERCENTS.iter().find(|sign| behind.get(gap..).unwrap_or_default().starts_with(*sign));
        if let Some(sign) = points {
            at.end += gap + sign.len();
            unit = AmountUnit::Percent;
        } else if let Some(Figure::Amount(second)) = next
            && opens_range(text.get(at.end..second.at.start).unwrap_or_default())
        {
            unit = second.unit;
            // `3 ~ 4천만원`
            let factor = text.get(second.at.clone()).and_then(places);
            let has_own = text.get(at.clone()).and_then(places) != Some(Number::from(1));
            if let Some(factor) = factor.filter(|_| !has_own)
                && let Ok(larger) = value.multiply(&factor)
            {
                value = larger;
            }
        }
    }
    let is_area = matches!(unit, AmountUnit::Pyeong | AmountUnit::SquareMetre);
    let shown = Shown::of(text, &at, &value, is_area);
    Claim { at, value: Value::Amount { value, unit, shown } }
}

/// The first number of `3~4억`, which has the places and the unit of the second.
fn range_start(text: &str, part: Range<usize>, amount: &Amount) -> Option<Claim> {
    let before = text.get(part.clone())?.trim_end_matches(' ');
    let before = match RANGES.iter().find_map(|sign| before.strip_suffix(sign)) {
        Some(before) => before.trim_end_matches(' '),
        // With spaces it is a dash.
        None => text.get(part.clone())?.strip_suffix('-')?,
    };
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.');
    let digits = before.get(before.trim_end_matches(is_part).len()..)?;
    let number: Number = digits.replace(',', "").parse().ok()?;
    let value = number.multiply(&places(text.get(amount.at.clone())?)?).ok()?;
    let start = part.start + before.len() - digits.len();
    let at = start..start + digits.len();
    let is_area = matches!(amount.unit, AmountUnit::Pyeong | AmountUnit::SquareMetre);
    let shown = Shown::of(text, &at, &value, is_area);
    Some(Claim { at, value: Value::Amount { value, unit: amount.unit, shown } })
}

/// Whether `between` is all that stands between the two ends of a range.
fn opens_range(between: &str) -> bool {
    between == "-" || RANGES.contains(&between.trim())
}

/// Whether a claim is one that an answer has to have from somewhere.
///
/// A plain number is one from 10,000 on, in 천, 만 or 억, or with decimals: what is below counts things, years and lines.
pub(crate) fn is_checked(text: &str, claim: &Claim) -> bool {
    let Value::Amount { value, unit, .. } = &claim.value else { return true };
    let written = text.get(claim.at.clone()).unwrap_or_default();
    let before = text.get(..claim.at.start).unwrap_or_default();
    let after = text.get(claim.at.end..).unwrap_or_default();
    let behind = after.trim_start_matches(' ');
    match unit {
        // `3.3㎡당` is said for the unit of 평, `천원 단위` for that of a table.
        AmountUnit::SquareMetre => !(written.starts_with("3.3") && behind.starts_with('당')),
        AmountUnit::Won => !behind.starts_with("단위"),
        AmountUnit::Plain => {
            let is_large = !abs(value).compare(&Number::from(10_000)).is_lt();
            let in_places = written.contains(['천', '만', '억', '조']);
            let near = before.char_indices().rev().take(32).last().map_or(before.len(), |it| it.0);
            let near = before.get(near..).unwrap_or_default();
            let line = near.rsplit('\n').next().unwrap_or_default();
            let is_first = line.len() < 32 && line.chars().all(|c| " #*-".contains(c));
            // `1.2 보증금`
            let is_heading = is_first && after.starts_with(' ');
            let has_decimals = written.contains('.') && !is_heading;
            is_large || in_places || has_decimals
        }
        _ => true,
    }
}

/// The value without its sign.
pub(crate) fn abs(value: &Number) -> Number {
    let zero = Number::from(0);
    match value.compare(&zero).is_lt() {
        true => zero.subtract(value).unwrap_or(zero),
        false => value.clone(),
    }
}

/// The text without its spaces, as what is unread is compared.
pub(crate) fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
