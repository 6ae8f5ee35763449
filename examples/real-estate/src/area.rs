//! Areas of homes as people write them.

use hanok_figures::{Amount, AmountUnit, Figure, Number, Rounding, figures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The largest area, in square metres.
const MOST: i64 = 10_000;

/// The longest text that is read as one area, in characters.
const LONGEST: usize = 60;

/// An area that is not understood. The message says what to write.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AreaError {
    /// No one area is understood in the text.
    #[error(
        "\"{text}\"에서 면적을 알아듣지 못했습니다. \"84㎡\"나 \"25평\"처럼 적어 주시겠습니까?"
    )]
    NoArea {
        /// The text, cut.
        text: String,
    },
    /// An area is not above zero, or larger than any home.
    #[error(
        "{text}은(는) 집의 면적이 될 수 없습니다. 0㎡보다 크고 10,000㎡ 이하인 면적을 적어 주십시오"
    )]
    OutOfRange {
        /// The area, cut.
        text: String,
    },
}

/// An area in arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "면적은 ㎡ 단위의 수(84.97)나 글자(\"84.97㎡\", \"25평\")로 적습니다"
)]
pub enum StatedArea {
    /// ㎡ 단위의 수: `84.97`.
    SquareMetres(serde_json::Number),
    /// 글자로 적은 면적: `84.97㎡`, `25평`.
    Text(String),
}

impl StatedArea {
    /// The area in square metres.
    ///
    /// ```
    /// use real_estate::area::StatedArea;
    ///
    /// let area = StatedArea::Text("25평".to_owned());
    /// assert_eq!(area.square_metres().map(|area| area.to_string()), Ok("82.64".to_owned()));
    /// ```
    ///
    /// # Errors
    ///
    /// [`AreaError`] when it is not understood.
    pub fn square_metres(&self) -> Result<Number, AreaError> {
        match self {
            Self::SquareMetres(number) => plain(&number.to_string()),
            Self::Text(text) => {
                let end = text.char_indices().nth(LONGEST).map_or(text.len(), |place| place.0);
                let head = text.get(..end).unwrap_or_default();
                let mut areas = figures(head)
                    .filter_map(Figure::into_amount)
                    .filter_map(|amount| square_metres(&amount));
                match (areas.next(), areas.next()) {
                    (Some(area), None) => in_range(area),
                    (None, _) => plain(head.trim()),
                    _ => Err(AreaError::NoArea { text: cut(text) }),
                }
            }
        }
    }
}

/// The square metres of an amount, if it is an area. One 평 is 400/121 ㎡, rounded to two decimals.
#[must_use]
pub fn square_metres(amount: &Amount) -> Option<Number> {
    match amount.unit {
        AmountUnit::SquareMetre => Some(amount.value.clone()),
        AmountUnit::Pyeong => {
            let area = amount.value.multiply(&Number::from(400)).ok()?;
            area.divide(&Number::from(121)).ok()?.round(2, Rounding::HalfAway).ok()
        }
        _ => None,
    }
}

fn plain(text: &str) -> Result<Number, AreaError> {
    in_range(text.parse().map_err(|_cause| AreaError::NoArea { text: cut(text) })?)
}

fn in_range(area: Number) -> Result<Number, AreaError> {
    let fits = area.compare(&Number::from(0)).is_gt() && !area.compare(&Number::from(MOST)).is_gt();
    if fits { Ok(area) } else { Err(AreaError::OutOfRange { text: cut(&area.to_string()) }) }
}

fn cut(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_read_without_a_binary_fraction() {
        for (json, want) in [
            ("84", "84"),
            ("84.97", "84.97"),
            ("\"84.97㎡\"", "84.97"),
            ("\"32평\"", "105.79"),
            ("\"전용 59.9 제곱미터\"", "59.9"),
            ("\"84.97\"", "84.97"),
        ] {
            let area: StatedArea = serde_json::from_str(json).unwrap();
            assert_eq!(area.square_metres().unwrap().to_string(), want, "{json}");
        }
    }

    #[test]
    fn what_is_no_area_is_refused() {
        for json in [
            "0",
            "-3",
            "10001",
            "1e300",
            "\"\"",
            "\"넓은\"",
            "\"25평이나 30평\"",
            "\"3억\"",
            "\"\\u0000\"",
        ] {
            let area: StatedArea = serde_json::from_str(json).unwrap();
            assert!(area.square_metres().is_err(), "{json}");
        }
        assert!(
            serde_json::from_str::<StatedArea>("[]").unwrap_err().to_string().starts_with("면적은")
        );
    }
}
