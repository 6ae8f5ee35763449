//! The loans that banks offer, read from `data/loans.jsonl`.

use std::collections::HashSet;

use hanok_figures::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::Condition;
use super::{DataError, Origin, lines};
use crate::money::MOST_WON;

/// The file that ships with the program.
pub(super) const SHIPPED: &str = include_str!("../../data/loans.jsonl");

/// What a loan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// 전세자금.
    #[serde(alias = "전세")]
    Jeonse,
    /// 주택구입(매매).
    #[serde(alias = "매매")]
    Sale,
    /// 월세 보증금.
    #[serde(alias = "월세보증금", alias = "월세")]
    RentDeposit,
}

impl Purpose {
    /// The name in Korean.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jeonse => "전세자금",
            Self::Sale => "주택구입",
            Self::RentDeposit => "월세보증금",
        }
    }
}

/// A loan that a bank offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoanProduct {
    /// The name that no other product has.
    pub id: String,
    /// The bank.
    pub bank: String,
    /// The product.
    pub name: String,
    /// What it is for.
    pub purpose: Purpose,
    /// The lowest rate in per cent a year, as a decimal.
    pub rate_from: String,
    /// The highest rate in per cent a year, as a decimal.
    pub rate_to: String,
    /// The most that is lent, in won.
    pub most: i64,
    /// The conditions, all of which have to be met.
    pub conditions: Vec<Condition>,
}

impl LoanProduct {
    /// The lowest rate as a number. [`LoanProducts::parse`] has checked that it is one.
    #[must_use]
    pub fn lowest(&self) -> Number {
        rate(&self.rate_from).unwrap_or(Number::from(0))
    }

    fn fault(&self) -> Option<String> {
        for (name, text) in [("id", &self.id), ("bank", &self.bank), ("name", &self.name)] {
            if text.trim().is_empty() {
                return Some(format!("`{name}` is empty"));
            }
        }
        let no_rate = |text: &str| {
            format!("`{text}` is no rate from 0 to 100 per cent; write it as \"3.25\"")
        };
        let Some(from) = rate(&self.rate_from) else { return Some(no_rate(&self.rate_from)) };
        let Some(to) = rate(&self.rate_to) else { return Some(no_rate(&self.rate_to)) };
        if from.compare(&to).is_gt() {
            return Some(format!(
                "the rate from {} is above the rate to {}",
                self.rate_from, self.rate_to
            ));
        }
        if !(1..=MOST_WON).contains(&self.most) {
            return Some(format!("{} is no amount of won that is lent", self.most));
        }
        self.conditions.iter().find_map(Condition::fault)
    }
}

fn rate(text: &str) -> Option<Number> {
    let rate: Number = text.parse().ok()?;
    let fits = !rate.compare(&Number::from(0)).is_lt() && !rate.compare(&Number::from(100)).is_gt();
    fits.then_some(rate)
}

/// All products. Made by [`LoanProducts::parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoanProducts {
    /// Where the products come from.
    pub origin: Origin,
    products: Vec<LoanProduct>,
}

impl LoanProducts {
    /// The products in `text`, which has a JSON object a line as `data/loans.jsonl`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of a product that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, DataError> {
        let rows = lines::rows::<LoanProduct>(file, text)?;
        let mut ids = HashSet::new();
        for (line, product) in &rows.rows {
            if let Some(reason) = product.fault() {
                return Err(DataError::at(file, *line, reason));
            }
            if !ids.insert(product.id.as_str()) {
                let reason = format!("the product `{}` stands twice", product.id);
                return Err(DataError::at(file, *line, reason));
            }
        }
        Ok(Self { origin: rows.origin, products: rows.rows.into_iter().map(|row| row.1).collect() })
    }

    /// The products that ship with the program.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: the file is part of the program, and its tests read it.
    pub fn shipped() -> Result<Self, DataError> {
        Self::parse("data/loans.jsonl", SHIPPED)
    }

    /// The products, in the order of the file.
    #[must_use]
    pub fn products(&self) -> &[LoanProduct] {
        &self.products
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_products_of_every_purpose_ship() {
        let loans = LoanProducts::shipped().unwrap();
        assert_eq!(loans.products().len(), 20);
        for purpose in [Purpose::Jeonse, Purpose::Sale, Purpose::RentDeposit] {
            assert!(loans.products().iter().any(|product| product.purpose == purpose));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (from, to, want) in [
            ("\"P03\"", "\"P01\"", "p.jsonl:4: the product `P01` stands twice"),
            ("\"rate_from\": \"4.29\"", "\"rate_from\": \"viel\"", "p.jsonl:2: `viel` is no rate"),
            ("\"rate_from\": \"4.29\"", "\"rate_from\": \"101\"", "p.jsonl:2: `101` is no rate"),
            (
                "\"rate_from\": \"4.29\"",
                "\"rate_from\": \"9\"",
                "p.jsonl:2: the rate from 9 is above",
            ),
            ("\"most\": 300000000", "\"most\": 0", "p.jsonl:2: 0 is no amount of won"),
            (
                "\"fact\": \"no_home\"",
                "\"fact\": \"homeless\"",
                "p.jsonl:3: unknown variant `homeless`",
            ),
            (
                "\"is\": \"equal\", \"value\": true",
                "\"is\": \"equal\", \"value\": 1",
                "p.jsonl:3: 무주택 여부 is compared",
            ),
            (
                "\"value\": 19}",
                "\"value\": -19}",
                "p.jsonl:4: 만 나이 is compared with a whole number",
            ),
            ("\"value\": 19}", "\"value\": \"x\"}", "p.jsonl:4: the value is a whole number"),
        ] {
            assert!(SHIPPED.contains(from), "{from}");
            let error = LoanProducts::parse("p.jsonl", &SHIPPED.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().starts_with(want), "{error}\n{want}");
        }
    }
}
