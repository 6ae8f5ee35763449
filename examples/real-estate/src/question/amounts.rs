//! The amounts of money in a question, and what each is of.
//!
//! A label stands before its amount, else behind it: `보증금 3억`, `3억 전세`. Two amounts with a sign between them are a range,
//! and a word behind an amount makes a bound of it: `3억 이하`.

use std::ops::Range;

use hanok_tools::{Amount, AmountUnit};

use super::keywords::AmountRange;
use super::words::{between, ends_sentence, has, head, starts, tail};
use crate::money::MOST_WON;

/// How far a label stands from its amount, in characters.
const NEAR: usize = 20;

/// How far behind an amount its label stands, in characters.
const NEAR_BEHIND: usize = 14;

/// What an amount is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Price,
    Deposit,
    Rent,
    Loan,
    Income,
    Assets,
    /// Something that no tool takes.
    Other,
}

/// The words of labels. Of two that begin at one place, the longer counts.
const LABELS: [(&str, Label); 54] = [
    ("집값", Label::Price),
    ("매매가", Label::Price),
    ("매매", Label::Price),
    ("매입", Label::Price),
    ("매수", Label::Price),
    ("시세", Label::Price),
    ("분양가", Label::Price),
    ("호가", Label::Price),
    ("짜리 집", Label::Price),
    ("짜리 아파트", Label::Price),
    ("에 사", Label::Price),
    ("주고 사", Label::Price),
    ("보증금", Label::Deposit),
    ("전세금", Label::Deposit),
    ("전세가", Label::Deposit),
    ("전세보증금", Label::Deposit),
    ("전세", Label::Deposit),
    ("짜리 전세", Label::Deposit),
    ("월세", Label::Rent),
    ("차임", Label::Rent),
    ("임대료", Label::Rent),
    ("대출", Label::Loan),
    ("대출금", Label::Loan),
    ("전세대출", Label::Loan),
    ("전세 대출", Label::Loan),
    ("전세자금", Label::Loan),
    ("전세자금대출", Label::Loan),
    ("전세자금 대출", Label::Loan),
    ("주택담보대출", Label::Loan),
    ("주담대", Label::Loan),
    ("월세보증금 대출", Label::Loan),
    ("보증금 대출", Label::Loan),
    ("융자", Label::Loan),
    ("빌리", Label::Loan),
    ("빌려", Label::Loan),
    ("빌릴", Label::Loan),
    ("연소득", Label::Income),
    ("소득", Label::Income),
    ("연봉", Label::Income),
    ("연 수입", Label::Income),
    ("자산", Label::Assets),
    ("재산", Label::Assets),
    ("관리비", Label::Other),
    ("계약금", Label::Other),
    ("중도금", Label::Other),
    ("잔금", Label::Other),
    ("취득세", Label::Other),
    ("중개", Label::Other),
    ("근저당", Label::Other),
    ("선순위", Label::Other),
    ("월급", Label::Other),
    ("월소득", Label::Other),
    ("월 소득", Label::Other),
    ("빚", Label::Other),
];

/// Words behind the first of two amounts that are the ends of a range.
const JOINS: [&str; 12] =
    ["에서", "~", "∼", "～", "-", "부터", "이상", "이상,", "초과", "넘고", "이상이고", "보다 크고"];

/// The amounts of money in a text, each with what it is of.
#[derive(Debug)]
pub(super) struct Moneys {
    items: Vec<Money>,
}

#[derive(Debug)]
struct Money {
    range: AmountRange,
    at: Range<usize>,
    label: Option<Label>,
}

impl Moneys {
    /// The amounts of a text.
    pub(super) fn of(text: &str, amounts: &[Amount]) -> Self {
        let mut items: Vec<Money> = Vec::new();
        let money = amounts.iter().filter_map(|amount| Some((won(text, amount)?, amount)));
        for (won, amount) in money {
            let range = bounded(text, amount.at.clone(), won);
            // `3억에서 5억 사이`
            if let Some(last) = items.last_mut()
                && JOINS.contains(&between(text, last.at.end, amount.at.start).trim())
                && let Some(joined) = joined(last.range, range)
            {
                (last.range, last.at.end) = (joined, amount.at.end);
                continue;
            }
            items.push(Money { range, at: amount.at.clone(), label: None });
        }
        let places: Vec<Range<usize>> = items.iter().map(|item| item.at.clone()).collect();
        for (index, item) in items.iter_mut().enumerate() {
            let from = index.checked_sub(1).and_then(|before| places.get(before));
            let next = places.get(index + 1);
            let before = between(text, from.map_or(0, |at| at.end), item.at.start);
            let behind = between(text, item.at.end, next.map_or(text.len(), |at| at.start));
            item.label = before_label(before).or_else(|| behind_label(behind));
        }
        Self { items }
    }

    /// The range of the last amount with this label: what is stated later counts.
    pub(super) fn labelled(&self, label: Label) -> Option<AmountRange> {
        self.items.iter().rev().find(|item| item.label == Some(label)).map(|item| item.range)
    }

    /// The one amount without a label, if it is the only one.
    pub(super) fn unlabelled(&self) -> Option<AmountRange> {
        let mut items = self.items.iter().filter(|item| item.label.is_none());
        let first = items.next()?;
        items.next().is_none().then_some(first.range)
    }
}

/// The last label before an amount, in its sentence.
fn before_label(text: &str) -> Option<Label> {
    let near = tail(text, NEAR);
    let clause = near.rsplit(ends_sentence).next().unwrap_or_default();
    labels(clause).pop()
}

/// The first label behind an amount, in its sentence.
fn behind_label(text: &str) -> Option<Label> {
    let near = head(text, NEAR_BEHIND);
    let clause = near.split(ends_sentence).next().unwrap_or_default();
    // Behind a comma another thing begins.
    let clause = clause.split(',').next().unwrap_or_default();
    labels(clause).into_iter().next()
}

/// The labels of a text in its order; a label within a longer one is none.
fn labels(text: &str) -> Vec<Label> {
    let mut places: Vec<(usize, usize, Label)> = LABELS
        .iter()
        .flat_map(|pair| {
            text.match_indices(pair.0).map(|place| (place.0, place.0 + pair.0.len(), pair.1))
        })
        .collect();
    places.sort_by_key(|place| (place.0, std::cmp::Reverse(place.1)));
    let mut end = 0;
    places.retain(|place| {
        let is_own = place.0 >= end;
        end = end.max(place.1);
        is_own
    });
    places.into_iter().map(|place| place.2).collect()
}

/// The whole won of an amount that is clearly money: 원, or 만, 억 or 조 in it.
fn won(text: &str, amount: &Amount) -> Option<i64> {
    let written = text.get(amount.at.clone()).unwrap_or_default();
    let is_money = match amount.unit {
        AmountUnit::Won => true,
        AmountUnit::Plain => {
            let behind = text.get(amount.at.end..).unwrap_or_default();
            has(written, &["만", "억", "조"]) && !starts(behind, &["명", "세대", "가구", "채"])
        }
        _ => false,
    };
    let won = amount.value.to_i128().and_then(|won| i64::try_from(won).ok())?;
    (is_money && (0..=MOST_WON).contains(&won)).then_some(won)
}

/// The range of an amount by the words around it.
fn bounded(text: &str, at: Range<usize>, won: i64) -> AmountRange {
    let direct = text.get(at.end..).unwrap_or_default();
    let behind = direct.trim_start();
    let before = tail(between(text, 0, at.start), 6).trim_end();
    let is_band = direct.starts_with('대') && !starts(direct, &["대출", "대한", "대비"]);
    let most = |most: i64| AmountRange { least: None, most: Some(most) };
    let least = |least: i64| AmountRange { least: Some(least), most: None };
    match () {
        () if is_band => AmountRange { least: Some(won), most: band_end(won) },
        () if starts(behind, &["미만"]) => most(won.saturating_sub(1).max(0)),
        () if starts(
            behind,
            &["이하", "까지", "이내", "안쪽", "아래", "밑", "안으로", "내로", "내에서", "안에서"],
        ) =>
        {
            most(won)
        }
        () if starts(behind, &["초과", "넘는", "넘고"]) => least(won.saturating_add(1)),
        () if starts(behind, &["이상", "부터"]) => least(won),
        () if before.ends_with("최대") || before.ends_with("많아야") => most(won),
        () if before.ends_with("최소") || before.ends_with("적어도") => least(won),
        () => AmountRange::one(won),
    }
}

/// The end of `3억대`: the last amount before the next that has as few digits.
fn band_end(won: i64) -> Option<i64> {
    let mut unit = 1_i64;
    while won > 0 && won % (unit * 10) == 0 && unit < MOST_WON {
        unit *= 10;
    }
    won.checked_add(unit - 1)
}

/// The range from the first to the second, if they are one.
fn joined(first: AmountRange, second: AmountRange) -> Option<AmountRange> {
    let (least, most) = (first.least?, second.most?);
    (least < most).then_some(AmountRange { least: Some(least), most: Some(most) })
}
