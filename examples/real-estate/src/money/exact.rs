//! What all calculations share: from numbers to whole won and to what is shown.

use hanok_figures::{CalculatorError, Number, Rounding, Won};
use thiserror::Error;

/// A calculation that has no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MoneyError {
    /// A step of the calculation left the range of numbers.
    #[error("계산할 수 있는 범위를 벗어났습니다")]
    Calculation(#[from] CalculatorError),
    /// A result is greater than any amount of money.
    #[error("결과가 너무 큰 금액입니다")]
    TooLarge,
}

/// The number in whole won, rounded as `rounding` says.
///
/// # Errors
///
/// [`MoneyError::TooLarge`] when it is no `i64`.
pub fn whole_won(number: &Number, rounding: Rounding) -> Result<i64, MoneyError> {
    let whole = number.round(0, rounding)?.to_i128().ok_or(MoneyError::TooLarge)?;
    // The cause says no more than that it does not fit.
    i64::try_from(whole).map_err(|_cause| MoneyError::TooLarge)
}

/// How many per cent `part` is of `whole`.
///
/// # Errors
///
/// [`CalculatorError::DivisionByZero`] when the whole is zero.
pub fn share(part: &Number, whole: &Number) -> Result<Number, CalculatorError> {
    part.multiply(&Number::from(100))?.divide(whole)
}

/// A number with exactly `places` decimals, a half away from zero: `5.0` of 5 and `233.3` of 233.33….
///
/// # Errors
///
/// None for numbers of this crate: a thousand places are too many.
pub fn percent_shown(number: &Number, places: usize) -> Result<String, CalculatorError> {
    let count = i64::try_from(places).unwrap_or(i64::MAX);
    let text = number.round(count, Rounding::HalfAway)?.to_string();
    if places == 0 {
        return Ok(text);
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    Ok(format!("{whole}.{decimals:0<places$}"))
}

/// `3억 1,500만원`.
#[must_use]
pub fn units(won: i64) -> String {
    Won(Number::from(won)).in_units()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_shown_with_its_places() {
        for (text, places, want) in [
            ("5", 1, "5.0"),
            ("-3.25", 1, "-3.3"),
            ("0.04", 1, "0.0"),
            ("12.5", 0, "13"),
            ("1.2", 3, "1.200"),
        ] {
            assert_eq!(percent_shown(&text.parse().unwrap(), places).unwrap(), want);
        }
    }

    #[test]
    fn an_amount_that_is_none_is_an_error() {
        let large: Number = "99999999999999999999".parse().unwrap();
        assert_eq!(whole_won(&large, Rounding::Floor), Err(MoneyError::TooLarge));
        assert_eq!(whole_won(&"-1.5".parse().unwrap(), Rounding::Floor), Ok(-2));
    }
}
