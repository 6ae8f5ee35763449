//! The terms of a lease that a text states, read by rules.
//!
//! A label stands before its value: an amount of money behind 보증금, a name behind 임대인. What has no clear value is left
//! out, and a form asks for it.

use hanok_tools::{Amount, AmountUnit, Figure, figures};
use jiff::{ToSpan, civil::Date};

use super::terms::{LeaseTerms, civil};
use crate::money::MOST_WON;

mod place;

/// The longest text that is read, in bytes.
const LONGEST: usize = 20_000;

/// How far behind its label a value stands, in characters.
const NEAR: usize = 30;

/// What a label is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Deposit,
    Rent,
    DownPayment,
    Interim,
    Fee,
    Price,
    Senior,
    PreviousDeposit,
    /// A word that only looks like another label.
    Other,
}

/// The words of labels. Of two that begin at one place, the longer counts.
const LABELS: [(&str, Label); 24] = [
    ("기존 보증금", Label::PreviousDeposit),
    ("지난 보증금", Label::PreviousDeposit),
    ("종전 보증금", Label::PreviousDeposit),
    ("이전 보증금", Label::PreviousDeposit),
    ("보증금", Label::Deposit),
    ("전세금", Label::Deposit),
    ("전세보증금", Label::Deposit),
    ("전세가", Label::Deposit),
    ("전세", Label::Deposit),
    ("반전세", Label::Other),
    ("전세대출", Label::Other),
    ("대출", Label::Other),
    ("월세", Label::Rent),
    ("월 임대료", Label::Rent),
    ("차임", Label::Rent),
    ("계약금", Label::DownPayment),
    ("중도금", Label::Interim),
    ("잔금", Label::Other),
    ("관리비", Label::Fee),
    ("집값", Label::Price),
    ("매매가", Label::Price),
    ("시세", Label::Price),
    ("근저당", Label::Senior),
    ("선순위", Label::Senior),
];

impl LeaseTerms {
    /// The terms that `text` states: a question, or what was said before it.
    ///
    /// An end is calculated when a first day and a number of years or months are stated: the day before that date (민법
    /// 제160조). The rent of a 전세 is 0.
    ///
    /// ```
    /// use real_estate::documents::LeaseTerms;
    ///
    /// let text = "임대인은 김철수, 임차인은 이영희입니다. 보증금 3억에 월세 50만원, 2026년 3월 1일부터 2년";
    /// let terms = LeaseTerms::stated(text);
    /// assert_eq!(terms.landlord.as_deref(), Some("김철수"));
    /// assert_eq!((terms.deposit, terms.monthly_rent), (Some(300_000_000), Some(500_000)));
    /// assert_eq!(terms.until.map(|day| day.to_string()).as_deref(), Some("2028-02-29"));
    /// ```
    #[must_use]
    pub fn stated(text: &str) -> Self {
        let end = (0..=text.len().min(LONGEST)).rev().find(|end| text.is_char_boundary(*end));
        let text = text.get(..end.unwrap_or(0)).unwrap_or_default();
        let labels = labels(text);
        let amount = |label| amount(text, &labels, label);
        let is_jeonse = is_jeonse(text, &labels);
        let mut terms = Self {
            deposit: amount(Label::Deposit),
            monthly_rent: amount(Label::Rent).or(is_jeonse.then_some(0)),
            down_payment: amount(Label::DownPayment),
            interim_payment: amount(Label::Interim),
            maintenance_fee: amount(Label::Fee),
            price: amount(Label::Price),
            senior_debt: amount(Label::Senior),
            previous_deposit: amount(Label::PreviousDeposit),
            rent_day: rent_day(text),
            area: area(text),
            special: special(text),
            ..place::named(text)
        };
        dates(text, &mut terms);
        terms
    }
}

/// Whether the lease is one without a rent: 전세 is said, and neither 월세 nor 반전세.
fn is_jeonse(text: &str, labels: &[(Label, usize, usize)]) -> bool {
    let written = |label: &(Label, usize, usize)| text.get(label.1..label.2).unwrap_or_default();
    let says = |label: &(Label, usize, usize)| {
        label.0 == Label::Deposit && written(label).starts_with("전세")
    };
    let with_rent =
        |label: &(Label, usize, usize)| label.0 == Label::Rent || written(label) == "반전세";
    labels.iter().any(says) && !labels.iter().any(with_rent)
}

/// The labels of a text: what each is of, and where it begins and ends.
fn labels(text: &str) -> Vec<(Label, usize, usize)> {
    let mut labels: Vec<(Label, usize, usize)> = LABELS
        .iter()
        .flat_map(|pair| {
            text.match_indices(pair.0).map(|place| (pair.1, place.0, place.0 + pair.0.len()))
        })
        .collect();
    labels.sort_by_key(|label| (label.1, std::cmp::Reverse(label.2)));
    // `보증금` within `기존 보증금` is no label of its own.
    let mut end = 0;
    labels.retain(|label| {
        let is_own = label.1 >= end;
        end = end.max(label.2);
        is_own
    });
    labels
}

/// The amount behind the last label of this kind that has one: what is stated later counts.
fn amount(text: &str, labels: &[(Label, usize, usize)], label: Label) -> Option<i64> {
    let mut found = None;
    for (at, own) in labels.iter().enumerate().filter(|own| own.1.0 == label) {
        let end = labels.get(at + 1).map_or(text.len(), |next| next.1);
        let window = head(text.get(own.2..end).unwrap_or_default(), NEAR);
        let window = window.split(['\n', ';', '?']).next().unwrap_or_default();
        found = first_amount(window).or(found);
    }
    found
}

/// The first amount of a text that is clearly won.
fn first_amount(text: &str) -> Option<i64> {
    let amount =
        figures(text).filter_map(Figure::into_amount).find(|amount| is_money(text, amount))?;
    let won = i64::try_from(amount.value.to_i128()?).ok()?;
    (0..=MOST_WON).contains(&won).then_some(won)
}

/// 원, or a number with 만, 억 or 조 in it.
fn is_money(text: &str, amount: &Amount) -> bool {
    let written = text.get(amount.at.clone()).unwrap_or_default();
    match amount.unit {
        AmountUnit::Won => true,
        AmountUnit::Plain => written.contains(['만', '억', '조']),
        _ => false,
    }
}

/// The day of the month in `매월 25일`.
fn rent_day(text: &str) -> Option<u8> {
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

/// The area, if only one is stated.
fn area(text: &str) -> Option<String> {
    let areas: Vec<Amount> = figures(text)
        .filter_map(Figure::into_amount)
        .filter(|amount| matches!(amount.unit, AmountUnit::SquareMetre | AmountUnit::Pyeong))
        .collect();
    let metres: Vec<&Amount> =
        areas.iter().filter(|area| area.unit == AmountUnit::SquareMetre).collect();
    match (metres.as_slice(), areas.as_slice()) {
        ([one], _) => Some(one.to_string()),
        ([], [one]) => Some(one.to_string()),
        _ => None,
    }
}

/// The clauses behind `특약:`.
fn special(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| {
        let rest = line.split_once("특약")?.1;
        let rest = rest.strip_prefix("사항").unwrap_or(rest).trim_start();
        rest.strip_prefix([':', '：'])
    });
    let lines = lines.map(|line| line.trim().to_owned());
    lines.filter(|line| !line.is_empty()).take(30).collect()
}

fn dates(text: &str, terms: &mut LeaseTerms) {
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

fn head(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |place| place.0);
    text.get(..end).unwrap_or(text)
}

fn tail(text: &str, most: usize) -> &str {
    let start = text.char_indices().rev().nth(most).map_or(0, |place| place.0);
    text.get(start..).unwrap_or(text)
}

#[cfg(test)]
mod tests;
