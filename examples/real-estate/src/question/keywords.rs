//! The keywords of a question.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use crate::area::StatedArea;
use crate::data::deal::Deal;
use crate::data::listings::HomeKind;
use crate::data::loans::Purpose;
use crate::money::loans::Method;
use crate::money::{AmountError, StatedRate, StatedWon};

/// What a question states. All may be missing; nothing is invented. The comments are for models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Keywords {
    /// 서울의 구: ["강남구"].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub districts: Vec<String>,
    /// 거래 종류.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deal: Option<Deal>,
    /// 집값(매매가).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<AmountRange>,
    /// 보증금(전세금).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposit: Option<AmountRange>,
    /// 월세.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monthly_rent: Option<AmountRange>,
    /// 전용면적.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<AreaRange>,
    /// 방 개수.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rooms: Option<u32>,
    /// 집의 종류.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<HomeKind>,
    /// 대출의 쓰임새.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loan_purpose: Option<Purpose>,
    /// 빌리려는 금액.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub loan_amount: Option<i64>,
    /// 대출의 연 이율(%).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<StatedRate>,
    /// 기간(개월): 30년이면 360.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub months: Option<u32>,
    /// 상환 방법.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// 만 나이.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<u32>,
    /// 연소득.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub income: Option<i64>,
    /// 순자산.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub assets: Option<i64>,
    /// 생애 처음으로 집을 사는지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_home: Option<bool>,
    /// 무주택인지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_home: Option<bool>,
    /// 혼인했는지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub married: Option<bool>,
    /// 신혼부부이거나 곧 혼인하는지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newlywed: Option<bool>,
    /// 최근 2년 안에 출산했는지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newborn: Option<bool>,
    /// 세대주인지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub household_head: Option<bool>,
    /// 자녀 수.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<u32>,
    /// 보증금이나 월세를 바꾸기 전의 금액.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub increase_from: Option<i64>,
    /// 보증금이나 월세를 바꾼 뒤의 금액.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub increase_to: Option<i64>,
    /// 계약서를 만들어 달라는지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants_document: Option<bool>,
}

/// A range of amounts in whole won with both ends in it. One amount is a range with equal ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "RawAmounts")]
pub struct AmountRange {
    /// The least amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<i64>,
    /// The most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<i64>,
}

impl AmountRange {
    /// The range of one amount.
    #[must_use]
    pub fn one(amount: i64) -> Self {
        Self { least: Some(amount), most: Some(amount) }
    }

    /// The amount, if it is one.
    #[must_use]
    pub fn exact(self) -> Option<i64> {
        self.least.filter(|least| Some(*least) == self.most)
    }

    /// One amount for the range: the amount itself, or the most where nothing else is stated. Two different ends are no
    /// amount, and neither is a least one alone.
    #[must_use]
    pub fn amount(self) -> Option<i64> {
        self.most.filter(|_| self.least.is_none() || self.exact().is_some())
    }
}

/// A range of amounts as it is written: an amount, or its two ends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "금액은 300000000이나 \"3억원\", 또는 {\"least\": …, \"most\": …}로 적습니다"
)]
enum RawAmounts {
    /// 금액 하나.
    One(StatedWon),
    /// 하한과 상한.
    Ends {
        /// 하한.
        #[serde(default)]
        least: Option<StatedWon>,
        /// 상한.
        #[serde(default)]
        most: Option<StatedWon>,
    },
}

impl TryFrom<RawAmounts> for AmountRange {
    type Error = AmountError;

    fn try_from(raw: RawAmounts) -> Result<Self, AmountError> {
        let won = |stated: Option<StatedWon>| stated.map(|stated| stated.won()).transpose();
        match raw {
            RawAmounts::One(stated) => Ok(Self::one(stated.won()?)),
            RawAmounts::Ends { least, most } => Ok(Self { least: won(least)?, most: won(most)? }),
        }
    }
}

/// A range of areas with both ends in it. One area is a range with equal ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AreaRange {
    /// 하한: "59㎡", "18평".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<StatedArea>,
    /// 상한.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<StatedArea>,
}

fn optional_won<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    let stated = Option::<StatedWon>::deserialize(from)?;
    stated.map(|stated| stated.won()).transpose().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_sees_every_field_and_must_fill_in_none() {
        let schema = serde_json::to_value(schemars::schema_for!(Keywords)).unwrap();
        let fields = schema["properties"].as_object().unwrap();
        assert_eq!(fields.len(), 26);
        assert!(fields.values().all(|field| field["description"].is_string()), "{schema:#}");
        assert!(schema.get("required").is_none(), "{schema:#}");
    }

    #[test]
    fn amounts_are_read_as_models_write_them() {
        for (json, want) in [
            (r#"{"price": 300000000}"#, AmountRange::one(300_000_000)),
            (r#"{"price": "3억원"}"#, AmountRange::one(300_000_000)),
            (r#"{"price": {"most": "3억"}}"#, AmountRange { least: None, most: Some(300_000_000) }),
        ] {
            let keywords: Keywords = serde_json::from_str(json).unwrap();
            assert_eq!(keywords.price, Some(want), "{json}");
            let written = serde_json::to_string(&keywords).unwrap();
            assert_eq!(serde_json::from_str::<Keywords>(&written).unwrap(), keywords);
        }
        for json in [
            r#"{"price": "3"}"#,
            r#"{"loan_amount": "많이"}"#,
            r#"{"prices": 3}"#,
            r#"{"income": 1.5}"#,
        ] {
            assert!(serde_json::from_str::<Keywords>(json).is_err(), "{json}");
        }
        assert_eq!(serde_json::to_string(&Keywords::default()).unwrap(), "{}");
    }
}
