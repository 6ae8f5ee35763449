//! The arithmetic of [`Number`]s for programs, which `evaluate` does for texts.

use std::str::FromStr;

use num_bigint::BigInt;

use super::doubt::Doubt;
use super::error::CalculatorError;
use super::limits;
use super::number::Number;
use super::round::Mode;

/// The neighbour that a number becomes when [`Number::round`] takes digits off it.
///
/// ```
/// use hanok_figures::{Number, Rounding};
///
/// let share: Number = "-2.5".parse()?;
/// for (rounding, want) in [
///     (Rounding::HalfEven, "-2"),
///     (Rounding::HalfAway, "-3"),
///     (Rounding::Floor, "-3"),
///     (Rounding::Ceiling, "-2"),
///     (Rounding::TowardZero, "-2"),
///     (Rounding::AwayFromZero, "-3"),
/// ] {
///     assert_eq!(share.round(0, rounding)?.to_string(), want);
/// }
/// # Ok::<(), hanok_figures::CalculatorError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rounding {
    /// The nearer one, of two the even one.
    HalfEven,
    /// The nearer one, of two the one farther from zero (사사오입).
    HalfAway,
    /// The smaller one.
    Floor,
    /// The greater one.
    Ceiling,
    /// The one nearer to zero (절사).
    TowardZero,
    /// The one farther from zero (절상).
    AwayFromZero,
}

impl Rounding {
    fn mode(self, is_negative: bool) -> Mode {
        match (self, is_negative) {
            (Self::HalfEven, _) => Mode::HalfEven,
            (Self::HalfAway, _) => Mode::HalfAway,
            (Self::Floor, _) | (Self::TowardZero, false) | (Self::AwayFromZero, true) => Mode::Down,
            (Self::Ceiling, _) | (Self::TowardZero, true) | (Self::AwayFromZero, false) => Mode::Up,
        }
    }
}

impl Number {
    /// The sum, exact for exact numbers.
    ///
    /// # Errors
    ///
    /// [`CalculatorError::TooLarge`] past 1000 digits before the point, [`CalculatorError::TooSmall`] past as many zeros after
    /// it, as of every operation.
    ///
    /// ```
    /// use hanok_figures::Number;
    ///
    /// let (tenth, fifth): (Number, Number) = ("0.1".parse()?, "0.2".parse()?);
    /// assert_eq!(tenth.add(&fifth)?.to_string(), "0.3");
    /// # Ok::<(), hanok_figures::CalculatorError>(())
    /// ```
    pub fn add(&self, other: &Self) -> Result<Self, CalculatorError> {
        self.plus(other)
    }

    /// The difference, exact for exact numbers.
    ///
    /// # Errors
    ///
    /// As of [`add`](Self::add).
    ///
    /// ```
    /// use hanok_figures::Number;
    ///
    /// assert_eq!(Number::from(3).subtract(&Number::from(5))?.to_string(), "-2");
    /// # Ok::<(), hanok_figures::CalculatorError>(())
    /// ```
    pub fn subtract(&self, other: &Self) -> Result<Self, CalculatorError> {
        self.plus(&other.clone().negated())
    }

    /// The product: exact for exact numbers, up to 100 decimals.
    ///
    /// # Errors
    ///
    /// As of [`add`](Self::add).
    ///
    /// ```
    /// use hanok_figures::Number;
    ///
    /// let rate: Number = "0.035".parse()?;
    /// assert_eq!(Number::from(350_000_000).multiply(&rate)?.to_string(), "12250000");
    /// # Ok::<(), hanok_figures::CalculatorError>(())
    /// ```
    pub fn multiply(&self, other: &Self) -> Result<Self, CalculatorError> {
        self.times(other)
    }

    /// The quotient: exact where it ends, else [rounded](Self::is_rounded) to 30 significant digits, and ten more that are carried
    /// on: a third three times is 1.
    ///
    /// # Errors
    ///
    /// [`CalculatorError::DivisionByZero`], and as of [`add`](Self::add).
    ///
    /// ```
    /// use hanok_figures::{CalculatorError, Number};
    ///
    /// let month = Number::from(120_000_000).divide(&Number::from(12))?;
    /// assert_eq!(month.to_string(), "10000000");
    /// assert!(!month.is_rounded());
    /// assert_eq!(month.divide(&Number::from(0)), Err(CalculatorError::DivisionByZero));
    /// # Ok::<(), CalculatorError>(())
    /// ```
    pub fn divide(&self, divisor: &Self) -> Result<Self, CalculatorError> {
        self.divided_by(divisor)
    }

    /// The number with at most `places` decimals; a negative count rounds before the point.
    ///
    /// What digits are taken off as asked is exact: [`is_rounded`](Self::is_rounded) tells of digits that were lost unasked.
    ///
    /// # Errors
    ///
    /// [`CalculatorError::Places`] past 1000 places.
    ///
    /// ```
    /// use hanok_figures::{Number, Rounding};
    ///
    /// let share = Number::from(100_000).divide(&Number::from(7))?;
    /// assert_eq!(share.round(0, Rounding::TowardZero)?.to_string(), "14285");
    /// assert_eq!(share.round(2, Rounding::HalfEven)?.to_string(), "14285.71");
    /// assert_eq!(share.round(-3, Rounding::Ceiling)?.to_string(), "15000");
    /// # Ok::<(), hanok_figures::CalculatorError>(())
    /// ```
    pub fn round(&self, places: i64, rounding: Rounding) -> Result<Self, CalculatorError> {
        if !(-limits::DIGITS..=limits::DIGITS).contains(&places) {
            return Err(CalculatorError::Places);
        }
        self.clone().cut_on_request(places, rounding.mode(self.is_negative()))
    }

    /// The value as an integer, if it is an exact whole number and fits.
    ///
    /// ```
    /// use hanok_figures::Number;
    ///
    /// assert_eq!(Number::from(35).to_i128(), Some(35));
    /// assert_eq!("3.5".parse::<Number>()?.to_i128(), None);
    /// # Ok::<(), hanok_figures::CalculatorError>(())
    /// ```
    pub fn to_i128(&self) -> Option<i128> {
        let is_exact = self.is_whole() && !self.is_rounded();
        is_exact.then(|| i128::try_from(&self.mantissa).ok()).flatten()
    }
}

impl From<i64> for Number {
    fn from(integer: i64) -> Self {
        Self { mantissa: BigInt::from(integer), scale: 0, doubt: Doubt::NONE }
    }
}

/// Reads plain decimal text, as [`Number`] is displayed: `-1234.5`, without separators and exponents.
impl FromStr for Number {
    type Err = CalculatorError;

    fn from_str(text: &str) -> Result<Self, CalculatorError> {
        if text.len() > limits::EXPRESSION_BYTES {
            return Err(CalculatorError::TooLong { limit: limits::EXPRESSION_BYTES });
        }
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        for part in [whole, decimals] {
            let wrong = part.chars().position(|c| !c.is_ascii_digit());
            if part.is_empty() || wrong.is_some() {
                let at = text.chars().position(|c| !matches!(c, '0'..='9' | '-' | '.'));
                return Err(CalculatorError::Syntax {
                    at: at.unwrap_or(0) + 1,
                    found: format!("`{}`", text.chars().take(32).collect::<String>()),
                    expected: "a plain decimal number",
                });
            }
        }
        let places = i64::try_from(decimals.len()).unwrap_or(i64::MAX);
        let number = Self::read(&format!("{whole}{decimals}"), places)?;
        Ok(if unsigned.len() < text.len() { number.negated() } else { number })
    }
}
