//! Conditions on a person and a home, and their one evaluator.
//!
//! A [`Condition`] compares a [`Fact`] with a value. [`Condition::test`] answers yes, no, or that the fact is missing.

use std::collections::BTreeMap;

use hanok_figures::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::money::units;

/// Something about a person or the home that is meant.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// 만 나이.
    Age,
    /// 연소득(부부이면 합쳐서).
    Income,
    /// 순자산.
    Assets,
    /// 자녀 수.
    Children,
    /// 혼인 여부.
    Married,
    /// 혼인한 지 7년 이내이거나 곧 혼인하는지.
    Newlywed,
    /// 최근 2년 안에 출산했는지.
    Newborn,
    /// 무주택 여부.
    NoHome,
    /// 생애 처음으로 집을 사는지.
    FirstHome,
    /// 세대주 여부.
    HouseholdHead,
    /// 보증금.
    Deposit,
    /// 월세.
    MonthlyRent,
    /// 집값.
    Price,
    /// 전용면적(㎡).
    Area,
}

/// What a fact is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Yes or no.
    Flag,
    /// Whole won.
    Won,
    /// A number with the word behind it.
    Count(&'static str),
}

impl Fact {
    /// The name in Korean.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Age => "만 나이",
            Self::Income => "연소득",
            Self::Assets => "순자산",
            Self::Children => "자녀 수",
            Self::Married => "혼인 여부",
            Self::Newlywed => "신혼부부 여부",
            Self::Newborn => "최근 2년 안의 출산 여부",
            Self::NoHome => "무주택 여부",
            Self::FirstHome => "생애최초 구입 여부",
            Self::HouseholdHead => "세대주 여부",
            Self::Deposit => "보증금",
            Self::MonthlyRent => "월세",
            Self::Price => "집값",
            Self::Area => "전용면적",
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Age => Unit::Count("세"),
            Self::Children => Unit::Count("명"),
            Self::Area => Unit::Count("㎡"),
            Self::Income | Self::Assets | Self::Deposit | Self::MonthlyRent | Self::Price => {
                Unit::Won
            }
            Self::Married
            | Self::Newlywed
            | Self::Newborn
            | Self::NoHome
            | Self::FirstHome
            | Self::HouseholdHead => Unit::Flag,
        }
    }

    /// The words for a person of whom a flag is true, and false.
    fn flag_words(self) -> [&'static str; 2] {
        match self {
            Self::Married => ["혼인한 사람", "혼인하지 않은 사람"],
            Self::Newlywed => ["신혼부부", "신혼부부가 아닌 사람"],
            Self::Newborn => ["최근 2년 안에 출산한 가구", "최근 2년 안에 출산하지 않은 가구"],
            Self::NoHome => ["무주택자", "주택이 있는 사람"],
            Self::FirstHome => ["생애 처음으로 집을 사는 사람", "집을 산 적이 있는 사람"],
            Self::HouseholdHead => ["세대주", "세대주가 아닌 사람"],
            _ => ["예", "아니요"],
        }
    }
}

/// How a fact is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// 이상.
    AtLeast,
    /// 이하.
    AtMost,
    /// 초과.
    Above,
    /// 미만.
    Below,
    /// 같음.
    Equal,
}

/// The value that a condition compares with: won, years, persons, ㎡, or yes and no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "the value is a whole number, true or false")]
pub enum FactValue {
    /// Yes or no.
    Flag(bool),
    /// A number in the unit of the fact.
    Number(i64),
}

/// A condition on one fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// What is compared.
    pub fact: Fact,
    /// How it is compared.
    pub is: Comparison,
    /// What it is compared with.
    pub value: FactValue,
}

impl Condition {
    /// Why no fact could meet this condition, of one that is badly written.
    pub(super) fn fault(&self) -> Option<String> {
        let Self { fact, is, value } = self;
        match (fact.unit(), value) {
            (Unit::Flag, FactValue::Flag(_)) if *is == Comparison::Equal => None,
            (Unit::Flag, _) => {
                Some(format!("{} is compared by `equal` with true or false", fact.name()))
            }
            (_, FactValue::Number(0..)) => None,
            _ => Some(format!("{} is compared with a whole number from 0", fact.name())),
        }
    }

    /// Whether the facts meet the condition. `None` where its fact is missing.
    #[must_use]
    pub fn test(&self, facts: &Facts) -> Option<bool> {
        let value = facts.values.get(&self.fact)?;
        Some(match (value, self.value) {
            (Value::Flag(value), FactValue::Flag(other)) => *value == other,
            (Value::Number(value), FactValue::Number(other)) => {
                let order = value.compare(&Number::from(other));
                match self.is {
                    Comparison::AtLeast => order.is_ge(),
                    Comparison::AtMost => order.is_le(),
                    Comparison::Above => order.is_gt(),
                    Comparison::Below => order.is_lt(),
                    Comparison::Equal => order.is_eq(),
                }
            }
            _ => false,
        })
    }

    /// `연소득 5,000만원 이하`, `무주택자`.
    #[must_use]
    pub fn said_in_korean(&self) -> String {
        let is = match self.is {
            Comparison::AtLeast => " 이상",
            Comparison::AtMost => " 이하",
            Comparison::Above => " 초과",
            Comparison::Below => " 미만",
            Comparison::Equal => "",
        };
        match self.value {
            FactValue::Flag(flag) => {
                let [yes, no] = self.fact.flag_words();
                if flag { yes } else { no }.to_owned()
            }
            FactValue::Number(number) => {
                let value = match self.fact.unit() {
                    Unit::Won => units(number),
                    Unit::Count(word) => format!("{number}{word}"),
                    Unit::Flag => number.to_string(),
                };
                format!("{} {value}{is}", self.fact.name())
            }
        }
    }
}

/// The value of a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Flag(bool),
    Number(Number),
}

/// What somebody stated of a person and a home. What is missing is not a no.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    values: BTreeMap<Fact, Value>,
}

impl Facts {
    /// The facts with a number more, in the unit of the fact. `None` adds nothing.
    #[must_use]
    pub fn number(mut self, fact: Fact, number: Option<Number>) -> Self {
        if let Some(number) = number {
            self.values.insert(fact, Value::Number(number));
        }
        self
    }

    /// The facts with a yes or no more. `None` adds nothing.
    #[must_use]
    pub fn flag(mut self, fact: Fact, flag: Option<bool>) -> Self {
        if let Some(flag) = flag {
            self.values.insert(fact, Value::Flag(flag));
        }
        self
    }

    /// The facts with what follows from them: who buys a first home has none.
    #[must_use]
    pub fn concluded(mut self) -> Self {
        use Fact::{FirstHome, NoHome};
        for (fact, flag, other, value) in
            [(FirstHome, true, NoHome, true), (NoHome, false, FirstHome, false)]
        {
            if self.values.get(&fact) == Some(&Value::Flag(flag)) {
                self.values.entry(other).or_insert(Value::Flag(value));
            }
        }
        self
    }

    /// Whether nothing is stated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// How facts stand to several conditions, all of which have to be met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The conditions that are not met.
    pub unmet: Vec<Condition>,
    /// The conditions whose fact is missing.
    pub open: Vec<Condition>,
}

impl Verdict {
    /// The verdict on these conditions.
    #[must_use]
    pub fn of(conditions: &[Condition], facts: &Facts) -> Self {
        let with = |want: Option<bool>| {
            conditions.iter().copied().filter(|one| one.test(facts) == want).collect()
        };
        Self { unmet: with(Some(false)), open: with(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(fact: Fact, is: Comparison, value: i64) -> Condition {
        Condition { fact, is, value: FactValue::Number(value) }
    }

    #[test]
    fn every_comparison_is_right_at_its_border() {
        for (is, below, at, above) in [
            (Comparison::AtLeast, false, true, true),
            (Comparison::AtMost, true, true, false),
            (Comparison::Above, false, false, true),
            (Comparison::Below, true, false, false),
            (Comparison::Equal, false, true, false),
        ] {
            for (area, want) in [("84.99", below), ("85", at), ("85.01", above)] {
                let facts = Facts::default().number(Fact::Area, area.parse().ok());
                assert_eq!(condition(Fact::Area, is, 85).test(&facts), Some(want), "{is:?} {area}");
            }
            assert_eq!(condition(Fact::Area, is, 85).test(&Facts::default()), None);
        }
    }

    #[test]
    fn facts_follow_from_facts_and_never_replace_one() {
        let first = Facts::default().flag(Fact::FirstHome, Some(true)).concluded();
        assert_eq!(
            first,
            Facts::default().flag(Fact::FirstHome, Some(true)).flag(Fact::NoHome, Some(true))
        );
        let odd =
            Facts::default().flag(Fact::FirstHome, Some(true)).flag(Fact::NoHome, Some(false));
        assert_eq!(odd.clone().concluded(), odd);
    }

    #[test]
    fn conditions_are_said_in_words() {
        for (condition, want) in [
            (condition(Fact::Income, Comparison::AtMost, 50_000_000), "연소득 5,000만원 이하"),
            (condition(Fact::Age, Comparison::AtLeast, 19), "만 나이 19세 이상"),
            (condition(Fact::Area, Comparison::Below, 85), "전용면적 85㎡ 미만"),
        ] {
            assert_eq!(condition.said_in_korean(), want);
        }
        let flag =
            Condition { fact: Fact::NoHome, is: Comparison::Equal, value: FactValue::Flag(true) };
        assert_eq!(flag.said_in_korean(), "무주택자");
        assert_eq!(flag.fault(), None);
        assert!(condition(Fact::NoHome, Comparison::Equal, 1).fault().is_some());
        assert!(condition(Fact::Age, Comparison::Equal, -1).fault().is_some());
    }
}
