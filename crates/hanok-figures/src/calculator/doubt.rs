//! How far a number may be from the value that it stands for.

use num_bigint::BigInt;

use super::number::ten_to;

/// Thousandths of a power of ten.
const PARTS: f64 = 1000.0;

/// A bound on the distance between a number and its value: none for an exact number, or a power of ten, in thousandths and
/// never too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Doubt(Option<i64>);

impl Doubt {
    pub(super) const NONE: Self = Self(None);

    /// A bound of `10^power`.
    pub(super) fn ten_to(power: i64) -> Self {
        Self(Some(power.saturating_mul(1000)))
    }

    /// A bound on `|mantissa / 10^scale|` itself.
    pub(super) fn of(mantissa: &BigInt, scale: i64) -> Self {
        Self(logarithm(mantissa).map(|log| up(log).saturating_sub(scale.saturating_mul(1000))))
    }

    pub(super) fn is_none(self) -> bool {
        self.0.is_none()
    }

    /// Both at once.
    pub(super) fn and(self, other: Self) -> Self {
        let (Self(Some(a)), Self(Some(b))) = (self, other) else {
            return Self(self.0.or(other.0));
        };
        let (more, less) = (a.max(b), a.min(b));
        let apart = as_float(more.saturating_sub(less)) / PARTS;
        Self(Some(more.saturating_add(up((1.0 + 10_f64.powf(-apart)).log10()))))
    }

    /// That many times as much.
    pub(super) fn times(self, other: Self) -> Self {
        Self(self.0.zip(other.0).map(|(a, b)| a.saturating_add(b)))
    }

    /// Divided by a number of at least `|mantissa / 10^scale|`, which is not zero.
    pub(super) fn divided_by(self, mantissa: &BigInt, scale: i64) -> Self {
        let Self(Some(log)) = Self::of(mantissa, scale) else { return self };
        // What is rounded up in a divisor is rounded down here.
        Self(self.0.map(|own| own.saturating_sub(log).saturating_add(3)))
    }

    /// The bound of a root, where the value may be zero.
    pub(super) fn root(self) -> Self {
        Self(self.0.map(|own| own.saturating_add(1).div_euclid(2).saturating_add(1)))
    }

    pub(super) fn or_less(self, other: Self) -> Self {
        Self(self.0.zip(other.0).map(|(a, b)| a.min(b)))
    }

    /// The decimals that the bound leaves as they are; a negative number is of digits before the point.
    pub(super) fn decimals(self) -> Option<i64> {
        self.0.map(|own| -own.div_euclid(1000) - 1)
    }

    /// The bound in units of `10^-scale`, rounded up; `scale` is at least two more than [`decimals`](Self::decimals).
    pub(super) fn in_units(self, scale: i64) -> BigInt {
        let Self(Some(own)) = self else { return BigInt::ZERO };
        let (power, parts) = (own.div_euclid(1000), own.rem_euclid(1000));
        // 10 to a part of one is less than 10: two digits of it, rounded up.
        let hundreds = up(10_f64.powf(as_float(parts) / PARTS) / 10.0);
        BigInt::from(hundreds) * ten_to((power + scale - 2).max(0))
    }
}

/// `value` in thousandths, rounded up and one more, which covers what floats lose.
fn up(value: f64) -> i64 {
    #[allow(clippy::cast_possible_truncation, reason = "of numbers with some thousand digits")]
    let parts = (value * PARTS).ceil() as i64;
    parts + 1
}

#[allow(clippy::cast_precision_loss, reason = "a power of ten in thousandths is small")]
fn as_float(parts: i64) -> f64 {
    parts as f64
}

/// The decimal logarithm of `|integer|`, a little too large or too small; none of zero.
fn logarithm(integer: &BigInt) -> Option<f64> {
    let bits = integer.bits();
    if bits == 0 {
        return None;
    }
    let shift = bits.saturating_sub(60);
    let head = integer.magnitude() >> shift;
    let head = u64::try_from(&head).unwrap_or(u64::MAX);
    #[allow(clippy::cast_precision_loss, reason = "the first 53 bits are enough")]
    let log = (head as f64).log10() + shift as f64 * std::f64::consts::LOG10_2;
    Some(log)
}
