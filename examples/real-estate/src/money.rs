//! Exact money: amounts as people write them, the change of a rent, and loans.

use std::borrow::Cow;

use hanok_figures::{Amount, AmountUnit, CalculatorError, Number, Rounding, evaluate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// The largest amount that is reckoned with, in won.
pub const MOST_WON: i64 = 1_000_000_000_000_000;

/// An amount of whole won, read from a number or from words such as `3억 5천만원`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Won(pub i64);

/// A rate in per cent, read from a number or from words such as `3.6%`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate(pub Number);

/// An area of a home, read from words such as `84.97㎡` or `25평`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// The area in square metres.
    pub metres: Number,
    /// The area as it was written.
    pub text: String,
}

impl Won {
    /// Reads one amount.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with `text`.
    pub fn read(text: &str) -> Result<Self, String> {
        let fault = || format!("`{}`: 금액을 `3억 5천만원`처럼 적어 주십시오", short(text));
        let Amount { value, unit, .. } = one(text).ok_or_else(fault)?;
        let won = value.to_i128().and_then(|won| i64::try_from(won).ok()).ok_or_else(fault)?;
        // `3` may be won, or a hundred million of them.
        let has_unit = unit == AmountUnit::Won || won == 0 || won >= 10_000;
        let is_money = matches!(unit, AmountUnit::Won | AmountUnit::Plain) && has_unit;
        if is_money && (0..=MOST_WON).contains(&won) { Ok(Self(won)) } else { Err(fault()) }
    }

    /// The amount in words: `3억 5,000만원`.
    #[must_use]
    pub fn in_units(self) -> String {
        hanok_figures::Won(self.0.into()).in_units()
    }
}

impl Rate {
    /// Reads one rate, from 0 to 100 per cent with at most six decimals.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with `text`.
    pub fn read(text: &str) -> Result<Self, String> {
        let fault =
            || format!("`{}`: 이율은 0%부터 100%까지 `3.6%`처럼 적어 주십시오", short(text));
        let Amount { value: rate, unit, .. } = one(text).ok_or_else(fault)?;
        let is_rate = matches!(unit, AmountUnit::Percent | AmountUnit::Plain);
        let cut = rate.round(6, Rounding::Floor).map_err(|_too_large| fault())?;
        let is_whole = cut.compare(&rate).is_eq();
        if is_rate && is_whole && is_within(&rate, 0, 100) { Ok(Self(rate)) } else { Err(fault()) }
    }
}

impl Area {
    /// Reads one area. A bare number is in square metres.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with `text`.
    pub fn read(text: &str) -> Result<Self, String> {
        let fault = || format!("`{}`: 면적을 `84.97㎡`나 `25평`처럼 적어 주십시오", short(text));
        let area = one(text).ok_or_else(fault)?;
        let metres = area.square_metres().ok_or_else(fault)?;
        let (metres, shown) = match area.unit {
            AmountUnit::Pyeong => {
                let metres = metres.round(2, Rounding::HalfAway);
                (metres.map_err(|_too_large| fault())?, format!("{}평", area.value))
            }
            _ => (metres, format!("{}㎡", area.value)),
        };
        if is_within(&metres, 1, 10_000) { Ok(Self { metres, text: shown }) } else { Err(fault()) }
    }
}

/// The only amount of `text`, of which its beginning is read.
fn one(text: &str) -> Option<Amount> {
    Amount::only(&text.chars().take(60).collect::<String>())
}

fn is_within(number: &Number, least: i64, most: i64) -> bool {
    number.compare(&least.into()).is_ge() && number.compare(&most.into()).is_le()
}

/// The beginning of a text that somebody else wrote.
pub(crate) fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

/// Reads a value that is a number or words, and says so in its schema; a number of won is whole.
macro_rules! stated {
    ($($name:ident $unit:literal)*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(from)?;
                let words = value.as_str().map_or_else(|| format!("{value}{}", $unit), str::to_owned);
                Self::read(&words).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": ["string", "number"]})
            }
        }
    )*};
}
stated!(Won "원" Rate "%" Area "㎡");

impl Serialize for Rate {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl Serialize for Area {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

/// `part` as a share of `whole`, in per cent with this many places.
///
/// # Errors
///
/// [`CalculatorError`] when `whole` is zero.
pub fn percent(part: &Number, whole: &Number, places: usize) -> Result<String, CalculatorError> {
    shown(&evaluate(&format!("({part}) * 100 / ({whole})"))?, places)
}

/// A number with exactly this many places.
///
/// # Errors
///
/// [`CalculatorError`] when it is too large.
pub fn shown(number: &Number, places: usize) -> Result<String, CalculatorError> {
    let count = i64::try_from(places).unwrap_or_default();
    let text = number.round(count, Rounding::HalfAway)?.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    Ok(if places == 0 { text.clone() } else { format!("{whole}.{decimals:0<places$}") })
}

/// A deposit and a monthly rent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// The deposit, in won.
    pub deposit: i64,
    /// The rent of a month, in won.
    pub rent: i64,
}

/// What a rent or a deposit changes by. Of both together, amounts are deposits with the rent converted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Before, in won.
    pub before: i64,
    /// After, in won.
    pub after: i64,
    /// The change in per cent with one place; `None` of nothing.
    pub percent: Option<String>,
    /// The highest amount within the cap.
    pub most: i64,
    /// True above the cap.
    pub is_above: bool,
}

impl Change {
    /// The change of `before` to `after`, where `cap` per cent are allowed and a year's rent is `rate` per cent of a deposit.
    ///
    /// # Errors
    ///
    /// [`CalculatorError`] for a rent that has to be converted at no rate.
    pub fn of(
        before: Terms,
        after: Terms,
        cap: &Number,
        rate: &Number,
    ) -> Result<Self, CalculatorError> {
        let whole = |terms: Terms| match (terms.deposit, terms.rent) {
            (deposit, 0) => Ok(deposit.into()),
            (deposit, rent) => evaluate(&format!("{deposit} + {rent} * 1200 / {rate}")),
        };
        // A rent alone is compared as it is.
        let is_rent = before.deposit == 0 && after.deposit == 0;
        let only = |terms: Terms| if is_rent { Ok(terms.rent.into()) } else { whole(terms) };
        let (before, after): (Number, Number) = (only(before)?, only(after)?);
        let most = evaluate(&format!("{before} * (100 + {cap}) / 100"))?;
        let difference = after.subtract(&before)?;
        let is_none = before.compare(&0.into()).is_eq();
        Ok(Self {
            percent: if is_none { None } else { Some(percent(&difference, &before, 1)?) },
            is_above: !is_none && after.compare(&most).is_gt(),
            most: floor(&most)?,
            before: floor(&before)?,
            after: floor(&after)?,
        })
    }
}

/// The whole won of an amount.
///
/// # Errors
///
/// [`CalculatorError`] when it is too large.
pub fn floor(number: &Number) -> Result<i64, CalculatorError> {
    let whole = number.round(0, Rounding::Floor)?.to_i128();
    Ok(whole.map_or(i64::MAX, |whole| i64::try_from(whole).unwrap_or(i64::MAX)))
}
