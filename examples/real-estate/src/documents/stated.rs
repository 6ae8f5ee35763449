//! The terms of a lease that a text states, read by rules.
//!
//! A label stands before its value: an amount of money behind 보증금, a name behind 임대인. What has no clear value is left
//! out, and a form asks for it.

use hanok_figures::{Amount, AmountUnit, Figure, figures};

use super::terms::LeaseTerms;
use crate::money::{MOST_WON, pair};

mod days;
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

/// What a label is of, and where it begins and ends.
type Labelled = (Label, usize, usize);

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
        let change = changed(text, &labels);
        let mut terms = Self {
            deposit: change.map(|change| change.1).or(amount(Label::Deposit)),
            monthly_rent: amount(Label::Rent).or(is_jeonse.then_some(0)),
            down_payment: amount(Label::DownPayment),
            interim_payment: amount(Label::Interim),
            maintenance_fee: amount(Label::Fee),
            price: amount(Label::Price),
            senior_debt: amount(Label::Senior),
            previous_deposit: amount(Label::PreviousDeposit).or(change.map(|change| change.0)),
            rent_day: days::rent_day(text),
            area: area(text),
            special: special(text),
            ..place::named(text)
        };
        days::dates(text, &mut terms);
        terms
    }
}

/// Whether the lease is one without a rent: 전세 is said, and neither 월세 nor 반전세.
fn is_jeonse(text: &str, labels: &[Labelled]) -> bool {
    let written = |label: &Labelled| text.get(label.1..label.2).unwrap_or_default();
    let says = |label: &Labelled| label.0 == Label::Deposit && written(label).starts_with("전세");
    let with_rent = |label: &Labelled| label.0 == Label::Rent || written(label) == "반전세";
    labels.iter().any(says) && !labels.iter().any(with_rent)
}

/// The labels of a text: what each is of, and where it begins and ends.
fn labels(text: &str) -> Vec<Labelled> {
    let mut labels: Vec<Labelled> = LABELS
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
fn amount(text: &str, labels: &[Labelled], label: Label) -> Option<i64> {
    let all = windows(text, labels, label);
    let is_old = label == Label::PreviousDeposit;
    all.into_iter().filter_map(|window| first_amount(window, is_old)).next_back()
}

/// What stands behind each label of this kind, as far as a value of it may be.
fn windows<'t>(text: &'t str, labels: &[Labelled], label: Label) -> Vec<&'t str> {
    let mut windows = Vec::new();
    for (at, own) in labels.iter().enumerate().filter(|own| own.1.0 == label) {
        let end = labels.get(at + 1).map_or(text.len(), |next| next.1);
        let window = head(text.get(own.2..end).unwrap_or_default(), NEAR);
        windows.extend(window.split(['\n', ';', '?']).next());
    }
    windows
}

/// The deposits before and after a change: `보증금 3억에서 3.3억으로`.
fn changed(text: &str, labels: &[Labelled]) -> Option<(i64, i64)> {
    let all = windows(text, labels, Label::Deposit);
    let changes = |window: &&str| window.contains("에서") || window.contains(['→', '>']);
    all.into_iter().filter(changes).filter_map(|window| pair(window).ok()).next_back()
}

/// Words behind an amount that is not settled: a limit, a guess.
const VAGUE: [&str; 10] =
    ["이하", "이내", "미만", "이상", "초과", "정도", "쯤", "가량", "까지", "안팎"];

/// Words soon behind an amount by which something changes.
const CHANGES: [&str; 9] = ["깎", "올려", "올리", "인상", "내려", "내리", "낮", "더 ", "줄여"];

/// The first amount of a text, if it is clearly won and settled; an old one may be that from which something changes.
fn first_amount(text: &str, is_old: bool) -> Option<i64> {
    let all = figures(text).filter_map(Figure::into_amount);
    let amount = all.into_iter().find(|amount| is_money(text, amount))?;
    let behind = text.get(amount.at.end..).unwrap_or_default().trim_start();
    let is_left = !is_old && (behind.starts_with("에서") || behind.starts_with('→'));
    let is_vague = is_left
        || VAGUE.iter().any(|word| behind.starts_with(word))
        || !is_old && CHANGES.iter().any(|word| head(behind, 8).contains(word));
    let won = i64::try_from(amount.value.to_i128()?).ok()?;
    (!is_vague && (0..=MOST_WON).contains(&won)).then_some(won)
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

fn head(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |place| place.0);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests;
