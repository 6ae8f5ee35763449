//! The figures of the sources in an order in which one is found quickly.

use std::collections::{BTreeMap, HashMap};

use hanok_figures::{AmountUnit, Article, Number};

use crate::claim::{Claim, Day, Value, abs};
use crate::law::Law;
use crate::shown::Shown;
use crate::sources::{ArticleFact, Facts};
use crate::unit::DataUnit;

/// What a number may support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Group {
    Won,
    Percent,
    /// 평 that the source has, and those that are converted from its ㎡.
    Pyeong,
    PyeongConverted,
    SquareMetre,
    SquareMetreConverted,
    Plain,
}

/// The least number without a unit that is money.
const LEAST_MONEY: i64 = 10_000;

/// What `value` in `unit` may support, with its value there.
pub(crate) fn groups(value: &Number, unit: Option<DataUnit>) -> Vec<(Group, Number)> {
    let times = |factor: i64| value.multiply(&Number::from(factor)).ok();
    let money = |value: Option<Number>| match value {
        // `3억` says no won.
        Some(value) => vec![(Group::Won, value.clone()), (Group::Plain, value)],
        None => Vec::new(),
    };
    let fraction = || {
        let percent = times(100).map(|value| (Group::Percent, value));
        percent.into_iter().chain([(Group::Plain, value.clone())]).collect()
    };
    match unit {
        Some(DataUnit::Won) => money(Some(value.clone())),
        Some(DataUnit::ThousandWon) => money(times(1_000)),
        Some(DataUnit::ManWon) => money(times(10_000)),
        Some(DataUnit::MillionWon) => money(times(1_000_000)),
        Some(DataUnit::EokWon) => money(times(100_000_000)),
        Some(DataUnit::Percent) => vec![(Group::Percent, value.clone())],
        Some(DataUnit::Fraction) => fraction(),
        Some(DataUnit::Rate) => match abs(value).compare(&Number::from(1)).is_gt() {
            true => vec![(Group::Percent, value.clone()), (Group::Plain, value.clone())],
            false => fraction(),
        },
        Some(DataUnit::SquareMetre) => {
            let converted = times(121).and_then(|value| value.divide(&Number::from(400)).ok());
            let converted = converted.map(|value| (Group::PyeongConverted, value));
            [(Group::SquareMetre, value.clone())].into_iter().chain(converted).collect()
        }
        Some(DataUnit::Pyeong) => {
            let converted = times(400).and_then(|value| value.divide(&Number::from(121)).ok());
            let converted = converted.map(|value| (Group::SquareMetreConverted, value));
            [(Group::Pyeong, value.clone())].into_iter().chain(converted).collect()
        }
        Some(DataUnit::Other) => vec![(Group::Plain, value.clone())],
        None if abs(value).compare(&Number::from(LEAST_MONEY)).is_lt() => {
            vec![(Group::Plain, value.clone())]
        }
        None => money(Some(value.clone())),
    }
}

/// The figures of the sources, in order.
#[derive(Debug)]
pub(crate) struct Index<'a> {
    facts: &'a Facts,
    /// The values without their signs, ascending; those of negative numbers once more in the second list.
    numbers: BTreeMap<Group, [Vec<(Number, usize)>; 2]>,
    days: HashMap<(u16, u8, u8), usize>,
    months: HashMap<(u16, u8), usize>,
    days_of_year: HashMap<(u8, u8), usize>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(facts: &'a Facts) -> Self {
        let mut numbers: BTreeMap<Group, [Vec<(Number, usize)>; 2]> = BTreeMap::new();
        let zero = Number::from(0);
        for (group, value, source) in &facts.numbers {
            let [all, negative] = numbers.entry(*group).or_default();
            if value.compare(&zero).is_lt() {
                negative.push((abs(value), *source));
            }
            all.push((abs(value), *source));
        }
        for list in numbers.values_mut().flatten() {
            // Stable: of equal values the first source comes first.
            list.sort_by(|one, other| one.0.compare(&other.0));
        }
        let (mut days, mut months) = (HashMap::new(), HashMap::new());
        let mut days_of_year = HashMap::new();
        for (Day { year, month, day }, source) in &facts.days {
            if let Some(year) = year {
                months.entry((*year, *month)).or_insert(*source);
            }
            if let Some(day) = day {
                days_of_year.entry((*month, *day)).or_insert(*source);
            }
            if let (Some(year), Some(day)) = (year, day) {
                days.entry((*year, *month, *day)).or_insert(*source);
            }
        }
        Self { facts, numbers, days, months, days_of_year }
    }

    /// The number of the source that supports `claim`.
    pub(crate) fn source(&self, claim: &Claim) -> Option<usize> {
        match &claim.value {
            Value::Amount { value, unit, shown } => self.amount(value, *unit, shown),
            Value::Date(Day { year, month, day }) => match (year, day) {
                (Some(year), Some(day)) => self.days.get(&(*year, *month, *day)).copied(),
                (Some(year), None) => self.months.get(&(*year, *month)).copied(),
                (None, Some(day)) => self.days_of_year.get(&(*month, *day)).copied(),
                (None, None) => None,
            },
            Value::Article { article, law } => self.article(article, law.as_ref()),
            Value::Unread(piece) => self.facts.unread.get(piece).copied(),
        }
    }

    fn amount(&self, value: &Number, unit: AmountUnit, shown: &Shown) -> Option<usize> {
        let (own, converted) = match unit {
            AmountUnit::Won => (Group::Won, None),
            AmountUnit::Percent => (Group::Percent, None),
            AmountUnit::Pyeong => (Group::Pyeong, Some(Group::PyeongConverted)),
            AmountUnit::SquareMetre => (Group::SquareMetre, Some(Group::SquareMetreConverted)),
            _ => (Group::Plain, None),
        };
        let exact = Number::from(0);
        let rounded = || shown.half.as_ref().and_then(|half| self.near(own, value, half));
        let converted = || {
            let group = converted?;
            self.near(group, value, shown.converted.as_ref().unwrap_or(&exact))
        };
        self.near(own, value, &exact).or_else(rounded).or_else(converted)
    }

    /// The source of a number of `group` that is at most `half` away from `value`. One without a sign is near to both.
    fn near(&self, group: Group, value: &Number, half: &Number) -> Option<usize> {
        let [all, negative] = self.numbers.get(&group)?;
        let is_negative = value.compare(&Number::from(0)).is_lt();
        let list = if is_negative { negative } else { all };
        let value = abs(value);
        let (low, high) = (value.subtract(half).ok()?, value.add(half).ok()?);
        let first = list.partition_point(|(number, _)| number.compare(&low).is_lt());
        let (number, source) = list.get(first)?;
        let end = number.compare(&high);
        // Half a place more is rounded up.
        let is_near = end.is_lt() || end.is_eq() && low.compare(&high).is_eq();
        is_near.then_some(*source)
    }

    fn article(&self, article: &Article, law: Option<&Law>) -> Option<usize> {
        let facts = self.facts.articles.get(&(article.number, article.branch))?;
        let fits = |fact: &&ArticleFact| {
            let agrees = match (law, &fact.law) {
                (Some(law), Some(other)) => law.agrees(other),
                _ => true,
            };
            agrees
                && article.paragraph.is_none_or(|it| fact.paragraphs.contains(&it))
                && article.item.is_none_or(|it| fact.items.contains(&it))
        };
        facts.iter().find(fits).map(|fact| fact.source)
    }
}
