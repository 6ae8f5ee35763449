//! Taking digits off a number.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use super::doubt::Doubt;
use super::error::CalculatorError;
use super::limits;
use super::number::{Number, ten_to};

/// Which of its two neighbours a number that is cut becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The nearer one, of two the even one.
    HalfEven,
    /// The nearer one, of two the one farther from zero.
    HalfAway,
    Down,
    Up,
    /// The one nearer to zero, but never one that ends in 0 or 5, so that a later cut sees that
    /// something was there. Rounding twice then is rounding once.
    Sticky,
}

impl Number {
    /// The number with at most `decimals` of them; a negative count cuts before the point.
    pub(super) fn cut(&self, decimals: i64, mode: Mode) -> Self {
        if decimals >= self.scale {
            return self.clone();
        }
        let unit = ten_to(self.scale - decimals);
        let (mut mantissa, rest) = (&self.mantissa / &unit, &self.mantissa % &unit);
        let half = (rest.magnitude() * 2u8).cmp(unit.magnitude());
        let away = rest.sign() != Sign::NoSign
            && match mode {
                Mode::HalfEven => half == Ordering::Greater || (half.is_eq() && mantissa.bit(0)),
                Mode::HalfAway => half.is_ge(),
                Mode::Down => self.is_negative(),
                Mode::Up => !self.is_negative(),
                Mode::Sticky => ends_in_0_or_5(&mantissa),
            };
        if away {
            mantissa += if self.is_negative() { -1 } else { 1 };
        }
        let (mantissa, scale) = match decimals {
            ..0 => (mantissa * ten_to(-decimals), 0),
            _ => (mantissa, decimals),
        };
        Self { mantissa, scale, doubt: self.doubt }.stripped()
    }

    /// The number cut as the expression asks for, which makes it exact.
    pub(super) fn cut_on_request(self, decimals: i64, mode: Mode) -> Result<Self, CalculatorError> {
        // 1/3*3 is carried as 0.99…, and its floor is 1.
        let number = self.shown();
        let cut = number.cut(decimals, mode);
        let is_exact = number.scale > decimals;
        let doubt = if is_exact { Doubt::NONE } else { number.doubt };
        Self::new(cut.mantissa, cut.scale, doubt)
    }

    /// The number as a count of decimal places.
    pub(super) fn as_places(&self) -> Result<i64, CalculatorError> {
        let places = i64::try_from(&self.mantissa).ok();
        let in_range = |places: &i64| self.is_whole() && places.abs() <= limits::DIGITS;
        places.filter(in_range).ok_or(CalculatorError::Places)
    }
}

/// Whether the last digit is one at which a cut number could look as if nothing had been cut.
pub(super) fn ends_in_0_or_5(mantissa: &BigInt) -> bool {
    (mantissa % 5u8).sign() == Sign::NoSign
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_right_on_both_sides_of_zero() {
        use Mode::{Down, HalfAway, HalfEven, Sticky, Up};
        for (value, even, away, down, up, sticky) in [
            (24, 2, 2, 2, 3, 2),
            (25, 2, 3, 2, 3, 2),
            (26, 3, 3, 2, 3, 2),
            (35, 4, 4, 3, 4, 3),
            (30, 3, 3, 3, 3, 3),
            (51, 5, 5, 5, 6, 6),
            (1, 0, 0, 0, 1, 1),
            (-25, -2, -3, -3, -2, -2),
            (-26, -3, -3, -3, -2, -2),
            (-1, 0, 0, -1, 0, -1),
        ] {
            let number = Number::new(BigInt::from(value), 1, Doubt::NONE).unwrap();
            for (mode, want) in
                [(HalfEven, even), (HalfAway, away), (Down, down), (Up, up), (Sticky, sticky)]
            {
                assert_eq!(number.cut(0, mode).to_string(), want.to_string(), "{number} {mode:?}");
            }
        }
    }

    #[test]
    fn rounding_twice_is_rounding_once() {
        for value in -2000..2000 {
            let number = Number::new(BigInt::from(value), 2, Doubt::NONE).unwrap();
            let twice = number.cut(1, Mode::Sticky).cut(0, Mode::HalfEven);
            assert_eq!(twice, number.cut(0, Mode::HalfEven), "{number}");
        }
    }
}
