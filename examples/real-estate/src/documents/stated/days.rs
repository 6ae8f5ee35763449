//! The days in a text.

use hanok_figures::figures;
use jiff::{ToSpan, civil::Date};

use crate::documents::terms::{LeaseTerms, civil};

/// Reads the first and the last day, the days of payments, and the day of the month into `terms`.
pub(super) fn dates(text: &str, terms: &mut LeaseTerms) {
    let mut days: Vec<(Date, usize, usize)> = Vec::new();
    for figure in figures(text) {
        let at = figure.at();
        if let Some(day) = civil(figure) {
            days.push((day, at.start, at.end));
        }
    }
    let behind = |end: usize| text.get(end..).unwrap_or_default().trim_start();
    for (index, day) in days.iter().enumerate() {
        let before = text.get(..day.1).unwrap_or_default();
        let is_for = |word: &str| {
            let behind = behind(day.2);
            let behind = behind.strip_prefix('에').unwrap_or(behind).trim_start();
            tail(before, 8).contains(word) || behind.starts_with(word)
        };
        let next = days.get(index + 1);
        let between = next.and_then(|next| text.get(day.2..next.1)).unwrap_or("-");
        let is_range = next.is_some()
            && matches!(between.trim(), "~" | "∼" | "～" | "〜" | "부터" | "에서" | "-" | "–");
        if is_for("잔금") {
            terms.balance_date = Some(day.0);
        } else if is_for("중도금") {
            terms.interim_date = Some(day.0);
        } else if is_range || behind(day.2).starts_with("부터") {
            terms.from = Some(day.0);
            terms.until = end_of(day.0, behind(day.2)).or(terms.until);
        } else if behind(day.2).starts_with("까지") || follows_range(text, &days, index) {
            terms.until = Some(day.0);
        }
    }
}

/// Whether the day is the second of two with a sign between them.
fn follows_range(text: &str, days: &[(Date, usize, usize)], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| days.get(before));
    let (Some(before), Some(day)) = (before, days.get(index)) else { return false };
    let between = text.get(before.2..day.1).unwrap_or_default();
    matches!(between.trim(), "~" | "∼" | "～" | "〜" | "부터" | "에서" | "-" | "–")
}

/// The last day of a term of `부터 2년` or `부터 24개월`.
fn end_of(from: Date, rest: &str) -> Option<Date> {
    let rest = rest.strip_prefix("부터")?.trim_start();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).take(4).collect();
    let count: i32 = digits.parse().ok().filter(|count| (1..=600).contains(count))?;
    let unit = rest.get(digits.len()..)?.trim_start();
    let months = match () {
        () if unit.starts_with("개월") => count,
        // `2026년` is a year.
        () if unit.starts_with('년') && count <= 50 => count * 12,
        () => return None,
    };
    from.checked_add(months.months()).ok()?.yesterday().ok()
}

/// The day of the month in `매월 25일`.
pub(super) fn rent_day(text: &str) -> Option<u8> {
    let mut days = Vec::new();
    for word in ["매월", "매달"] {
        for place in text.match_indices(word) {
            let rest = text.get(place.0 + word.len()..).unwrap_or_default().trim_start();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).take(3).collect();
            let behind = rest.get(digits.len()..).unwrap_or_default();
            match digits.parse::<u8>() {
                Ok(day) if behind.starts_with('일') && (1..=31).contains(&day) => days.push(day),
                _ if rest.starts_with("말일") => days.push(31),
                _ => {}
            }
        }
    }
    days.dedup();
    days.pop()
}

fn tail(text: &str, most: usize) -> &str {
    let start = text.char_indices().rev().nth(most).map_or(0, |place| place.0);
    text.get(start..).unwrap_or(text)
}
