//! What somebody states of a person and of the home that is meant.

use hanok_figures::Number;
use hanok_model::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::area::StatedArea;
use crate::data::conditions::{Fact, Facts};
use crate::money::StatedWon;

/// What is known of a person and the home that is meant. Everything may be missing. The comments are for models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Person {
    /// 만 나이.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<u32>,
    /// 연소득. 부부이면 합친 소득.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub income: Option<StatedWon>,
    /// 순자산.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assets: Option<StatedWon>,
    /// 자녀 수.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<u32>,
    /// 혼인했는지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub married: Option<bool>,
    /// 혼인한 지 7년 이내이거나 곧 혼인하는지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newlywed: Option<bool>,
    /// 최근 2년 안에 출산했는지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newborn: Option<bool>,
    /// 무주택인지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_home: Option<bool>,
    /// 생애 처음으로 집을 사는지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_home: Option<bool>,
    /// 세대주인지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub household_head: Option<bool>,
    /// 빌릴 집의 보증금(전세금).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposit: Option<StatedWon>,
    /// 빌릴 집의 월세.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monthly_rent: Option<StatedWon>,
    /// 살 집의 값.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<StatedWon>,
    /// 집의 전용면적.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<StatedArea>,
}

/// The oldest person.
const OLDEST: u32 = 150;

/// The most children.
const MOST_CHILDREN: u32 = 50;

impl Person {
    /// The facts, with what follows from them.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] with an amount, area, age or number of children that is none.
    pub fn facts(&self) -> Result<Facts, ToolError> {
        let won = |stated: &Option<StatedWon>| {
            let won = stated.as_ref().map(StatedWon::won).transpose();
            won.map(|won| won.map(Number::from)).map_err(ToolError::arguments)
        };
        let count = |name: &str, count: Option<u32>, most: u32| match count {
            Some(count) if count > most => Err(ToolError::arguments(format!(
                "{name}: {most} 이하여야 합니다. 받은 값: {count}"
            ))),
            count => Ok(count.map(|count| Number::from(i64::from(count)))),
        };
        let area = self.area.as_ref().map(StatedArea::square_metres).transpose();
        let facts = Facts::default()
            .number(Fact::Age, count("나이", self.age, OLDEST)?)
            .number(Fact::Children, count("자녀 수", self.children, MOST_CHILDREN)?)
            .number(Fact::Income, won(&self.income)?)
            .number(Fact::Assets, won(&self.assets)?)
            .number(Fact::Deposit, won(&self.deposit)?)
            .number(Fact::MonthlyRent, won(&self.monthly_rent)?)
            .number(Fact::Price, won(&self.price)?)
            .number(Fact::Area, area.map_err(ToolError::arguments)?)
            .flag(Fact::Married, self.married)
            .flag(Fact::Newlywed, self.newlywed)
            .flag(Fact::Newborn, self.newborn)
            .flag(Fact::NoHome, self.no_home)
            .flag(Fact::FirstHome, self.first_home)
            .flag(Fact::HouseholdHead, self.household_head);
        Ok(facts.concluded())
    }
}
