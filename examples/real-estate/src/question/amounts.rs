//! The amounts of money in a question, and what each is of.
//!
//! A label stands before its amount, else behind it: `보증금 3억`, `3억 전세`; it is of one amount. Two amounts with a sign between them are a range,
//! and a word behind an amount makes a bound of it: `3억 이하`.

use std::ops::Range;

use hanok_figures::{Amount, AmountUnit};

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
const LABELS: [(&str, Label); 58] = [
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
    ("집을 사", Label::Price),
    ("집 사", Label::Price),
    ("집을 살", Label::Price),
    ("집 살", Label::Price),
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
        label(text, &mut items);
        Self { items }
    }

    /// The range of the last amount with this label: what is stated later counts.
    pub(super) fn labelled(&self, label: Label) -> Option<AmountRange> {
        self.items.iter().rev().find(|item| item.label == Some(label)).map(|item| item.range)
    }

    /// Whether two amounts may be one before and after a change: neither is labelled as something that is not rented, and
    /// not one a deposit and the other a rent.
    pub(super) fn may_change(&self, before: i64, after: i64) -> bool {
        let is_one = |amount: Option<i64>| amount == Some(before) || amount == Some(after);
        let items = self.items.iter();
        let meant = items.filter(|item| is_one(item.range.least) || is_one(item.range.most));
        let labels: Vec<Label> = meant.filter_map(|item| item.label).collect();
        labels.iter().all(|label| *label == Label::Deposit)
            || labels.iter().all(|label| *label == Label::Rent)
    }

    /// The one amount without a label, if it is the only one.
    pub(super) fn unlabelled(&self) -> Option<AmountRange> {
        let mut items = self.items.iter().filter(|item| item.label.is_none());
        let first = items.next()?;
        items.next().is_none().then_some(first.range)
    }
}

/// A label in a text.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    end: usize,
    label: Label,
}

/// Gives each amount its label: the last before it, else the first behind it. No label counts twice.
fn label(text: &str, items: &mut [Money]) {
    let labels = labels(text);
    let ends: Vec<Range<usize>> = items.iter().map(|item| item.at.clone()).collect();
    // The end of the label that the amount before has taken.
    let mut used = 0;
    for (index, item) in items.iter_mut().enumerate() {
        let from = index.checked_sub(1).and_then(|before| ends.get(before));
        let from = from.map_or(0, |at| at.end).max(used);
        let before = labels.iter().rev().find(|place| place.end <= item.at.start);
        let before = before.filter(|place| {
            place.start >= from && is_near(between(text, place.end, item.at.start), NEAR)
        });
        if let Some(place) = before {
            item.label = Some(place.label);
            continue;
        }
        let next = ends.get(index + 1);
        let next_start = next.map_or(text.len(), |at| at.start);
        let gap: Vec<&Place> = labels
            .iter()
            .filter(|place| place.start >= item.at.end && place.end <= next_start)
            .collect();
        let Some(place) = gap.first() else { continue };
        let distance = between(text, item.at.end, place.start);
        // Behind a comma another thing begins.
        if !is_near(distance, NEAR_BEHIND) || distance.contains(',') {
            continue;
        }
        if gap.len() == 1
            && let Some(next) = next
            && !is_mine(text, &labels, distance, place, next)
        {
            continue;
        }
        (item.label, used) = (Some(place.label), place.end);
    }
}

/// Whether the only label between two amounts is that of the first: it is nearer, or as near and the second has one behind it.
fn is_mine(
    text: &str,
    labels: &[Place],
    distance: &str,
    place: &Place,
    next: &Range<usize>,
) -> bool {
    let mine = distance.trim().chars().count();
    let other = between(text, place.end, next.start);
    if !is_near(other, NEAR) {
        return true;
    }
    match mine.cmp(&other.trim().chars().count()) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Greater => false,
        std::cmp::Ordering::Equal => labels.iter().any(|place| {
            place.start >= next.end && is_near(between(text, next.end, place.start), NEAR_BEHIND)
        }),
    }
}

/// Whether a text between a label and an amount is short and in one sentence.
fn is_near(text: &str, most: usize) -> bool {
    head(text, most) == text && !text.contains(ends_sentence)
}

/// The labels of a text in its order; a label within a longer one is none.
fn labels(text: &str) -> Vec<Place> {
    let mut places: Vec<Place> = LABELS
        .iter()
        .flat_map(|pair| {
            let (word, label) = *pair;
            text.match_indices(word).map(move |place| Place {
                start: place.0,
                end: place.0 + word.len(),
                label,
            })
        })
        .collect();
    places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    let mut end = 0;
    places.retain(|place| {
        let is_own = place.start >= end;
        end = end.max(place.end);
        is_own
    });
    places
}

/// The whole won of an amount that is clearly money: 원, or 만, 억 or 조 in it.
fn won(text: &str, amount: &Amount) -> Option<i64> {
    let written = text.get(amount.at.clone()).unwrap_or_default();
    let is_money = match amount.unit {
        AmountUnit::Won => true,
        AmountUnit::Plain => {
            let behind = text.get(amount.at.end..).unwrap_or_default().trim_start();
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

#[cfg(test)]
mod tests {
    use hanok_figures::{Figure, figures};

    use super::*;

    #[test]
    fn a_label_is_of_one_amount() {
        use Label::{Deposit, Income, Loan, Price, Rent};
        for (text, want) in [
            ("보증금 3억 월세 50만원", vec![Some(Deposit), Some(Rent)]),
            ("3억 보증금 50만원 월세", vec![Some(Deposit), Some(Rent)]),
            ("3억 전세 5억 매매", vec![Some(Deposit), Some(Price)]),
            ("5억 집을 대출 3억 받아", vec![None, Some(Loan)]),
            ("집값 10억 중 6억을 대출", vec![Some(Price), Some(Loan)]),
            ("3억을 빌리고 싶은데 소득은 6천만원", vec![Some(Loan), Some(Income)]),
            ("2억짜리 전세, 연봉 5천만원", vec![Some(Deposit), Some(Income)]),
            ("5억 이하 집 살 때 대출", vec![Some(Price)]),
            ("보증금이 문제예요. 3억", vec![None]),
            ("5만명과 3만 세대", vec![]),
        ] {
            let amounts: Vec<Amount> = figures(text).filter_map(Figure::into_amount).collect();
            let labels: Vec<Option<Label>> =
                Moneys::of(text, &amounts).items.iter().map(|item| item.label).collect();
            assert_eq!(labels, want, "{text}");
        }
    }

    #[test]
    fn words_around_an_amount_make_a_range_of_it() {
        let range = |least, most| AmountRange { least, most };
        for (text, want) in [
            ("전세 3억 이하", range(None, Some(300_000_000))),
            ("전세 3억 미만", range(None, Some(299_999_999))),
            ("전세 최소 3억", range(Some(300_000_000), None)),
            ("전세 3억 초과", range(Some(300_000_001), None)),
            ("전세 3억5천대", range(Some(350_000_000), Some(359_999_999))),
            ("전세 3억대출", range(Some(300_000_000), Some(300_000_000))),
            ("전세 2억~3억", range(Some(200_000_000), Some(300_000_000))),
            ("전세 2억 이상 3억 이하", range(Some(200_000_000), Some(300_000_000))),
        ] {
            let amounts: Vec<Amount> = figures(text).filter_map(Figure::into_amount).collect();
            let moneys = Moneys::of(text, &amounts);
            assert_eq!(moneys.items.first().map(|item| item.range), Some(want), "{text}");
        }
    }
}
