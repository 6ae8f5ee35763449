//! What somebody states of a person and of the home that is meant, and conditions on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::money::{Area, Won};

/// What is known of a person and the home that is meant. The comments are for models.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Person {
    /// 만 나이(세).
    pub age: Option<u32>,
    /// 연소득, 부부이면 합친 소득(원).
    pub income: Option<Won>,
    /// 순자산(원).
    pub assets: Option<Won>,
    /// 자녀 수(명).
    pub children: Option<u32>,
    /// 혼인했는지.
    pub married: Option<bool>,
    /// 혼인한 지 7년 이내이거나 곧 혼인하는지.
    pub newlywed: Option<bool>,
    /// 최근 2년 안에 출산했는지.
    pub newborn: Option<bool>,
    /// 무주택인지.
    pub no_home: Option<bool>,
    /// 생애 처음으로 집을 사는지.
    pub first_home: Option<bool>,
    /// 세대주인지.
    pub household_head: Option<bool>,
    /// 빌릴 집의 보증금이나 전세금(원).
    pub deposit: Option<Won>,
    /// 빌릴 집의 월세(원).
    pub monthly_rent: Option<Won>,
    /// 살 집의 값(원).
    pub price: Option<Won>,
    /// 집의 전용면적(㎡).
    pub area: Option<Area>,
}

/// A condition of a loan or of a policy, on one fact.
#[derive(Debug, Clone, Deserialize)]
pub struct Condition {
    fact: String,
    is: Comparison,
    value: Value,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Comparison {
    AtLeast,
    AtMost,
    Equal,
}

/// The names of the facts, each with the unit of its numbers, or what it is called where it is true.
const FACTS: [(&str, &str, &str); 14] = [
    ("age", "만 나이", "세"),
    ("children", "자녀 수", "명"),
    ("area", "전용면적", "㎡"),
    ("income", "연소득", "원"),
    ("assets", "순자산", "원"),
    ("deposit", "보증금", "원"),
    ("monthly_rent", "월세", "원"),
    ("price", "집값", "원"),
    ("married", "혼인 여부", "혼인한 사람"),
    ("newlywed", "신혼부부 여부", "신혼부부"),
    ("newborn", "최근 2년 안의 출산 여부", "최근 2년 안에 출산한 가구"),
    ("no_home", "무주택 여부", "무주택자"),
    ("first_home", "생애최초 구입 여부", "생애 처음으로 집을 사는 사람"),
    ("household_head", "세대주 여부", "세대주"),
];

impl Condition {
    fn named(&self) -> (&str, &str) {
        let named = FACTS.iter().find(|fact| fact.0 == self.fact);
        named.map_or((self.fact.as_str(), ""), |(_, name, unit)| (name, unit))
    }

    /// The name of the fact.
    #[must_use]
    pub fn fact(&self) -> &str {
        self.named().0
    }

    /// The condition in words.
    #[must_use]
    pub fn in_korean(&self) -> String {
        let ((name, unit), Some(number)) = (self.named(), self.value.as_i64()) else {
            return self.named().1.to_owned();
        };
        let value = if unit == "원" { Won(number).in_units() } else { format!("{number}{unit}") };
        let is = match self.is {
            Comparison::AtLeast => "이상",
            Comparison::AtMost => "이하",
            Comparison::Equal => "",
        };
        format!("{name} {value} {is}").trim_end().to_owned()
    }

    /// Whether `facts` meet the condition; `None` where the fact is not known.
    fn test(&self, facts: &Value) -> Option<bool> {
        let known = facts.get(&self.fact).filter(|fact| !fact.is_null())?;
        let (Some(number), Some(bound)) = (known.as_f64(), self.value.as_f64()) else {
            return Some(*known == self.value);
        };
        Some(match self.is {
            Comparison::AtLeast => number >= bound,
            Comparison::AtMost => number <= bound,
            Comparison::Equal => (number - bound).abs() < f64::EPSILON,
        })
    }
}

impl Person {
    /// The conditions of `all` that this person does not meet, and those of which a fact is missing.
    #[must_use]
    pub fn open<'c>(&self, all: &'c [Condition]) -> (Vec<&'c Condition>, Vec<&'c Condition>) {
        // Whoever is newly married is married, and whoever buys a first home has none.
        let follows = |fact: Option<bool>, from: Option<bool>| fact.or(from.filter(|is| *is));
        let mut facts = json!(Self {
            married: follows(self.married, self.newlywed),
            no_home: follows(self.no_home, self.first_home),
            ..self.clone()
        });
        let metres =
            self.area.as_ref().and_then(|area| area.metres.to_string().parse::<f64>().ok());
        if let Some(facts) = facts.as_object_mut() {
            facts.insert("area".to_owned(), json!(metres));
        }
        let unmet = all.iter().filter(|one| one.test(&facts) == Some(false)).collect();
        (unmet, all.iter().filter(|one| one.test(&facts).is_none()).collect())
    }
}
