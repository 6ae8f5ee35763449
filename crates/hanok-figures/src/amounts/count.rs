//! Counts of things and of time in Korean running text.

use crate::calculator::Number;

/// How a unit is written, and what it is. What stands earlier is looked for first.
const UNITS: [(&str, &str); 17] = [
    ("인일", "인일"),
    ("개월", "월"),
    ("달", "월"),
    ("월", "월"),
    ("년", "년"),
    ("박", "박"),
    ("km", "km"),
    ("킬로", "km"),
    ("명", "명"),
    ("번", "번"),
    ("회", "번"),
    ("차례", "번"),
    ("시간", "시간"),
    ("끼", "끼"),
    ("건", "건"),
    ("일", "일"),
    ("주", "주"),
];

/// Words that are a number of days.
const DAYS: [(&str, i64); 11] = [
    ("하루", 1),
    ("이틀", 2),
    ("사흘", 3),
    ("나흘", 4),
    ("닷새", 5),
    ("엿새", 6),
    ("이레", 7),
    ("여드레", 8),
    ("아흐레", 9),
    ("열흘", 10),
    ("보름", 15),
];

/// Words that are a number before a unit.
const NUMERALS: [(&str, i64); 11] = [
    ("한 ", 1),
    ("두 ", 2),
    ("세 ", 3),
    ("네 ", 4),
    ("다섯 ", 5),
    ("여섯 ", 6),
    ("일곱 ", 7),
    ("여덟 ", 8),
    ("아홉 ", 9),
    ("열 ", 10),
    ("매", 1),
];

/// What stands behind a count that bounds something.
const BOUNDS: [&str; 12] =
    ["안", "이내", "내에", "이상", "이하", "미만", "초과", "까지", "전", "뒤", "후", "동안"];

/// How many of something a text says: 10 of `일` for `10일` and `열흘`, 2 of `월` for `두 달`, 1 of `월` for `매월`.
///
/// Units are `일`, `주`, `월`, `년`, `시간`, `박`, `끼`, `번`, `명`, `건`, `인일` and `km`. Days and months of the calendar (`3월 2일`,
/// `2026년`) are read by [`figures`](crate::figures), and are no months and years here.
///
/// ```
/// use hanok_figures::counts;
///
/// let counts: Vec<_> = counts("두 명이 3박, 매월 10일 안에").collect();
/// let shown: Vec<_> = counts.iter().map(|count| format!("{} {}", count.number, count.unit)).collect();
/// assert_eq!(shown, ["2 명", "3 박", "1 월", "10 일"]);
/// assert!(counts[3].is_bound && !counts[1].is_bound);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// How many.
    pub number: Number,
    /// Of what.
    pub unit: &'static str,
    /// Whether it bounds something: `1년 안에`, `10일 이상`.
    pub is_bound: bool,
}

impl Count {
    /// Whether it is so many of the same, a bound or not.
    #[must_use]
    pub fn is_as_many_as(&self, other: &Self) -> bool {
        self.unit == other.unit && self.number == other.number
    }
}

/// What `text` counts, in its order.
pub fn counts(text: &str) -> impl Iterator<Item = Count> + '_ {
    let mut before = ' ';
    text.char_indices().filter_map(move |(at, c)| {
        let begins = !before.is_alphanumeric() && !matches!(before, ',' | '.');
        let in_number =
            before.is_ascii_digit() || matches!(before, ',' | '.') && c.is_ascii_digit();
        before = c;
        let rest = text.get(at..)?;
        match c.is_ascii_digit() {
            true if in_number => None,
            true => in_digits(rest),
            false if begins => in_words(rest),
            false => None,
        }
    })
}

/// The count that `text` begins with, written with digits.
fn in_digits(text: &str) -> Option<Count> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.')));
    let (digits, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
    let digits = digits.trim_end_matches(['.', ',']).replace(',', "");
    let rest = rest.trim_start();
    // `3월 2일` and `2026년` are of the calendar.
    if rest.starts_with('월') || rest.starts_with('년') && digits.len() > 3 {
        return None;
    }
    counted(digits.parse().ok()?, rest)
}

/// The count that `text` begins with, written as words.
fn in_words(text: &str) -> Option<Count> {
    let written = |(word, number): &(&str, i64)| Some((text.strip_prefix(word)?, *number));
    if let Some((_, number)) = DAYS.iter().find_map(written) {
        return Some(Count { number: number.into(), unit: "일", is_bound: false });
    }
    let (rest, number) = NUMERALS.iter().find_map(written)?;
    counted(number.into(), rest)
}

fn counted(number: Number, rest: &str) -> Option<Count> {
    let (behind, unit) =
        UNITS.iter().find_map(|(word, unit)| Some((rest.strip_prefix(word)?, *unit)))?;
    let behind = behind.trim_start();
    let is_bound = BOUNDS.iter().any(|word| behind.starts_with(word));
    Some(Count { number, unit, is_bound })
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn what_is_counted_is_read_and_the_calendar_is_not() {
        for (text, want) in [
            ("서울 2박 3일", "2박 3일"),
            ("1,200km를 1.5시간에", "1200km 1.5시간"),
            ("이틀 늦고 열 번 어기면", "2일 10번"),
            ("3월 2일부터 2026년까지 8개월", "2일 8월"),
            ("1년 안에, 늦은 1일마다", "1년! 1일"),
            ("매월 10일 이내", "1월 10일!"),
            ("두 달 치, 15인일", "2월 15인일"),
            ("제5조와 12.5%", ""),
            ("99999999999999999999명", "99999999999999999999명"),
            ("", ""),
        ] {
            let shown = counts(text).map(|it| {
                format!("{}{}{}", it.number, it.unit, if it.is_bound { "!" } else { "" })
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), want, "{text}");
        }
    }
}
