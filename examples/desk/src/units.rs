//! Units, and values in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    /// 킬로미터, kilometers
    Km,
    /// 미터, meters
    M,
    /// 센티미터, 센티, centimeters
    Cm,
    /// 밀리미터, millimeters
    Mm,
    /// 마일, miles
    Mi,
    /// 피트, feet, foot
    Ft,
    /// 인치, inches, inch
    In,
    /// 킬로그램, 킬로, kilograms
    Kg,
    /// 그램, grams
    G,
    /// 파운드, pounds
    Lb,
    /// 온스, ounces
    Oz,
    /// 근, geun
    Geun,
    /// 제곱미터, 제곱 미터, 평방미터, square meters, m²
    M2,
    /// 평, pyeong
    Pyeong,
    /// 헥타르, hectares
    Ha,
    /// 리터, liters
    L,
    /// 밀리리터, milliliters
    Ml,
    /// 갤런, gallons
    Gal,
    /// 섭씨, Celsius, ℃, °C
    Celsius,
    /// 화씨, Fahrenheit, ℉, °F
    Fahrenheit,
}

impl Unit {
    /// How it is written behind a value, the unit of all that measure the same, and what one is in that.
    fn of(self) -> (&'static str, &'static str, f64) {
        match self {
            Self::Km => ("km", "m", 1_000.0),
            Self::M => ("m", "m", 1.0),
            Self::Cm => ("cm", "m", 0.01),
            Self::Mm => ("mm", "m", 0.001),
            Self::Mi => ("mi", "m", 1_609.344),
            Self::Ft => ("ft", "m", 0.3048),
            Self::In => ("in", "m", 0.0254),
            Self::Kg => ("kg", "kg", 1.0),
            Self::G => ("g", "kg", 0.001),
            Self::Lb => ("lb", "kg", 0.453_592_37),
            Self::Oz => ("oz", "kg", 0.028_349_523_125),
            Self::Geun => ("근", "kg", 0.6),
            Self::M2 => ("m²", "m²", 1.0),
            Self::Pyeong => ("평", "m²", 400.0 / 121.0),
            Self::Ha => ("ha", "m²", 10_000.0),
            Self::L => ("l", "l", 1.0),
            Self::Ml => ("ml", "l", 0.001),
            Self::Gal => ("gal", "l", 3.785_411_784),
            Self::Celsius => ("℃", "℃", 1.0),
            Self::Fahrenheit => ("℉", "℃", 5.0 / 9.0),
        }
    }

    /// Where its zero is.
    fn zero(self) -> f64 {
        if self == Self::Fahrenheit { 32.0 } else { 0.0 }
    }
}

/// The line that says what `value` of one unit is in another, or that they do not measure the same.
pub(crate) fn convert(value: f64, from: Unit, to: Unit) -> Result<String, String> {
    let ((of, measure, one), (sign, measures, other)) = (from.of(), to.of());
    if measure != measures {
        return Err(format!("{of}와(과) {sign}은(는) 같은 것을 재는 단위가 아닙니다."));
    }
    let result = (value - from.zero()) * one / other + to.zero();
    Ok(format!("{} {of} = {} {sign}", shown(value), shown(result)))
}

/// A number with at most four digits behind its point.
fn shown(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted_between_units_of_one_measure() {
        for (value, from, to, want) in [
            (10.0, Unit::Km, Unit::Mi, "10 km = 6.2137 mi"),
            (30.0, Unit::Pyeong, Unit::M2, "30 평 = 99.1736 m²"),
            (25.0, Unit::Celsius, Unit::Fahrenheit, "25 ℃ = 77 ℉"),
            (100.0, Unit::Fahrenheit, Unit::Celsius, "100 ℉ = 37.7778 ℃"),
            (-40.0, Unit::Celsius, Unit::Fahrenheit, "-40 ℃ = -40 ℉"),
        ] {
            assert_eq!(convert(value, from, to).unwrap(), want);
        }
        assert!(convert(1.0, Unit::Km, Unit::G).is_err());
    }
}
