//! Decimal numbers of bounded size.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::{BigInt, Sign};

use super::doubt::Doubt;
use super::error::CalculatorError;
use super::limits;
use super::round::Mode;

/// A decimal number, exact unless it [says otherwise](Number::is_rounded).
///
/// Displayed as plain decimal text: no exponent, no separators, no zeros at the end, and of a rounded number only the digits
/// that are right.
///
/// ```
/// use hanok_figures::evaluate;
///
/// assert_eq!(evaluate("-1.50 * 2e3")?.to_string(), "-3000");
/// # Ok::<(), hanok_figures::CalculatorError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    /// The value is `mantissa / 10^scale`, and `scale` is the least one that is not negative.
    pub(super) mantissa: BigInt,
    pub(super) scale: i64,
    /// How far it may be from what it stands for.
    pub(super) doubt: Doubt,
}

impl Number {
    /// Whether digits were lost on the way: by a quotient or root without an end, or by a value that
    /// needs more digits than are kept. A result that was cut by `round`, `floor` or `ceil`, as the
    /// expression asked for, is not rounded in this sense.
    pub fn is_rounded(&self) -> bool {
        !self.doubt.is_none()
    }

    /// The number `mantissa / 10^scale`, within the limits.
    pub(super) fn new(mantissa: BigInt, scale: i64, doubt: Doubt) -> Result<Self, CalculatorError> {
        let number = Self { mantissa, scale, doubt }.stripped();
        if number.is_zero() {
            return Ok(number);
        }
        let digits = number.digits();
        let whole = digits - number.scale;
        if whole > limits::DIGITS {
            return Err(CalculatorError::TooLarge);
        }
        if whole < -limits::DIGITS {
            return Err(CalculatorError::TooSmall);
        }
        // Digits before the point are never given up, and some after it stay to round by.
        let keep = limits::CARRIED.max(whole + limits::CARRIED - limits::SHOWN);
        let is_long = number.is_rounded() || number.scale > limits::EXACT_DECIMALS;
        if !is_long || digits <= keep {
            return Ok(number);
        }
        let decimals = number.scale - (digits - keep);
        let cut = number.cut(decimals, Mode::Sticky);
        Ok(Self { doubt: cut.doubt.and(Doubt::ten_to(-decimals)), ..cut })
    }

    pub(super) fn zero() -> Self {
        Self { mantissa: BigInt::ZERO, scale: 0, doubt: Doubt::NONE }
    }

    pub(super) fn one() -> Self {
        Self { mantissa: BigInt::from(1), scale: 0, doubt: Doubt::NONE }
    }

    /// The number that ASCII `digits` write when the last `decimals` of them stand after the point.
    pub(super) fn read(digits: &str, decimals: i64) -> Result<Self, CalculatorError> {
        let mantissa = BigInt::parse_bytes(digits.as_bytes(), 10).unwrap_or_default();
        if decimals < 0 {
            // The zeros are written out only when they are within the limit.
            let zeros = -decimals;
            if mantissa.sign() != Sign::NoSign && zeros > limits::DIGITS {
                return Err(CalculatorError::TooLarge);
            }
            return Self::new(mantissa * ten_to(zeros.min(limits::DIGITS)), 0, Doubt::NONE);
        }
        Self::new(mantissa, decimals, Doubt::NONE)
    }

    /// A rounded number as it is displayed: without the digits that were carried, and without those that are not
    /// known.
    pub(super) fn shown(self) -> Self {
        let Some(known) = self.doubt.decimals() else { return self };
        let digits = self.digits();
        let keep = limits::SHOWN.max(digits - self.scale);
        let mut decimals = (self.scale - (digits - keep).max(0)).min(known);
        let scale = self.scale.max(known + 2).max(0);
        let (middle, doubt) = (self.scaled(scale), self.doubt.in_units(scale));
        let end = |mantissa: BigInt| Self { mantissa, scale, doubt: self.doubt };
        let (low, high) = (end(&middle - &doubt), end(middle + doubt));
        // Left of the first digit there is nothing to be wrong about.
        while decimals >= -(digits - self.scale) - 1 {
            let shown = low.cut(decimals, Mode::HalfEven);
            if shown.mantissa == high.cut(decimals, Mode::HalfEven).mantissa {
                let doubt = self.doubt.and(Doubt::ten_to(-decimals));
                return Self { doubt, ..shown };
            }
            decimals -= 1;
        }
        Self { doubt: self.doubt, ..Self::zero() }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.mantissa.sign() == Sign::NoSign
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.mantissa.sign() == Sign::Minus
    }

    pub(super) fn is_whole(&self) -> bool {
        self.scale == 0
    }

    /// The significant digits; one for zero.
    pub(crate) fn digits(&self) -> i64 {
        digits(&self.mantissa)
    }

    /// The mantissa for another scale, which must not be smaller.
    pub(super) fn scaled(&self, scale: i64) -> BigInt {
        &self.mantissa * ten_to(scale - self.scale)
    }

    /// The order of the values; `==` also tells a rounded number from an exact one.
    ///
    /// ```
    /// use hanok_figures::Number;
    ///
    /// let deposit: Number = "0.5".parse()?;
    /// assert!(deposit.compare(&Number::from(1)).is_lt());
    /// # Ok::<(), hanok_figures::CalculatorError>(())
    /// ```
    pub fn compare(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.scaled(scale).cmp(&other.scaled(scale))
    }

    /// The same value without zeros at the end of its decimals.
    pub(super) fn stripped(mut self) -> Self {
        if self.is_zero() {
            return Self { scale: 0, ..self };
        }
        // Every factor 10 is a factor 2: most numbers are done before the first division.
        let twos = self.mantissa.trailing_zeros().unwrap_or(0);
        let most = self.scale.min(i64::try_from(twos).unwrap_or(i64::MAX));
        let mut step = 1;
        while step * 2 <= most {
            step *= 2;
        }
        while step > 0 {
            let ten = ten_to(step);
            while self.scale >= step && (&self.mantissa % &ten).sign() == Sign::NoSign {
                self.mantissa /= &ten;
                self.scale -= step;
            }
            step /= 2;
        }
        self
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.clone().shown();
        let digits = shown.mantissa.magnitude().to_string();
        let scale = usize::try_from(shown.scale).unwrap_or(0);
        // At least one digit stands before the point.
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, decimals) = digits.split_at(digits.len() - scale);
        let point = if decimals.is_empty() { "" } else { "." };
        f.pad_integral(!shown.is_negative(), "", &format!("{whole}{point}{decimals}"))
    }
}

/// 10 to a power that is not negative.
pub(super) fn ten_to(power: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(power).unwrap_or(0))
}

/// How many decimal digits `integer` has.
fn digits(integer: &BigInt) -> i64 {
    let bits = i64::try_from(integer.bits()).unwrap_or(i64::MAX);
    if bits == 0 {
        return 1;
    }
    // A little less than log10(2) per bit: too small by one at most, below ten thousand digits.
    let mut power = (bits - 1) * 30_102 / 100_000;
    let mut next = ten_to(power + 1);
    while next.magnitude() <= integer.magnitude() {
        power += 1;
        next *= 10;
    }
    power + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted_at_and_beside_every_power_of_ten() {
        assert_eq!(digits(&BigInt::ZERO), 1);
        for power in 1..2500 {
            let ten = ten_to(power);
            assert_eq!(digits(&(&ten - 1)), power, "10^{power} - 1");
            assert_eq!(digits(&ten), power + 1, "10^{power}");
            assert_eq!(digits(&-ten), power + 1, "-10^{power}");
        }
    }

    #[test]
    fn zeros_at_the_end_are_stripped_and_no_others() {
        for (mantissa, scale, want) in [
            (12300, 2, "123"),
            (12300, 1, "1230"),
            (12300, 4, "1.23"),
            (12300, 7, "0.00123"),
            (-5, 1, "-0.5"),
            (0, 9, "0"),
            (1_i64 << 40, 3, "1099511627.776"),
        ] {
            let number = Number::new(BigInt::from(mantissa), scale, Doubt::NONE).unwrap();
            assert_eq!(number.to_string(), want, "{mantissa} / 10^{scale}");
        }
    }
}
