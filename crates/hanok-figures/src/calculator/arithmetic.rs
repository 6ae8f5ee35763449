//! The operations on numbers. Each result is within the limits.

use num_bigint::{BigInt, Sign};

use super::doubt::Doubt;
use super::error::CalculatorError;
use super::limits;
use super::number::{Number, ten_to};
use super::round::ends_in_0_or_5;

impl Number {
    pub(crate) fn negated(self) -> Self {
        Self { mantissa: -self.mantissa, ..self }
    }

    pub(super) fn absolute(self) -> Self {
        if self.is_negative() { self.negated() } else { self }
    }

    pub(super) fn plus(&self, other: &Self) -> Result<Self, CalculatorError> {
        let scale = self.scale.max(other.scale);
        Self::new(self.scaled(scale) + other.scaled(scale), scale, self.doubt.and(other.doubt))
    }

    pub(super) fn times(&self, other: &Self) -> Result<Self, CalculatorError> {
        let doubt = self.doubt.times(other.size()).and(other.doubt.times(self.size()));
        let doubt = doubt.and(self.doubt.times(other.doubt));
        Self::new(&self.mantissa * &other.mantissa, self.scale + other.scale, doubt)
    }

    pub(super) fn hundredth(self) -> Result<Self, CalculatorError> {
        let doubt = self.doubt.times(Doubt::ten_to(-2));
        Self::new(self.mantissa, self.scale + 2, doubt)
    }

    /// A bound on how far it is from zero.
    fn size(&self) -> Doubt {
        Doubt::of(&self.mantissa, self.scale)
    }

    /// The number nearest to zero that it may stand for, or an error if that is zero.
    fn least(&self) -> Result<Self, CalculatorError> {
        let Some(known) = self.doubt.decimals() else { return Ok(self.clone()) };
        let scale = self.scale.max(known + 2).max(0);
        let least = self.scaled(scale).magnitude().clone();
        let least = BigInt::from(least) - self.doubt.in_units(scale);
        match least.sign() {
            Sign::Plus => Ok(Self { mantissa: least, scale, doubt: Doubt::NONE }),
            Sign::Minus | Sign::NoSign => Err(CalculatorError::DivisionByZero),
        }
    }

    pub(super) fn divided_by(&self, divisor: &Self) -> Result<Self, CalculatorError> {
        if divisor.is_zero() {
            return Err(CalculatorError::DivisionByZero);
        }
        let least = divisor.least()?;
        // The quotient has this many digits before its point, or one more.
        let whole = (self.digits() - self.scale) - (divisor.digits() - divisor.scale);
        let decimals = limits::CARRIED.max(limits::CARRIED + 1 - whole);
        let shift = decimals + divisor.scale - self.scale;
        let (dividend, unit) = if shift >= 0 {
            (&self.mantissa * ten_to(shift), divisor.mantissa.clone())
        } else {
            (self.mantissa.clone(), &divisor.mantissa * ten_to(-shift))
        };
        let (quotient, rest) = (&dividend / &unit, &dividend % &unit);
        let exact = rest.sign() == Sign::NoSign;
        let is_negative = self.is_negative() != divisor.is_negative();
        let quotient = if exact { quotient } else { sticky(quotient, is_negative) };
        let cut = if exact { Doubt::NONE } else { Doubt::ten_to(-decimals) };
        let size = Doubt::of(&quotient, decimals).and(cut);
        let doubt = self.doubt.and(divisor.doubt.times(size));
        Self::new(quotient, decimals, doubt.divided_by(&least.mantissa, least.scale).and(cut))
    }

    /// What is left of a division to a whole quotient, with the sign of the divisor.
    pub(super) fn remainder(&self, divisor: &Self) -> Result<Self, CalculatorError> {
        if divisor.is_zero() {
            return Err(CalculatorError::DivisionByZero);
        }
        divisor.least()?;
        let scale = self.scale.max(divisor.scale);
        let (own, unit) = (self.scaled(scale), divisor.scaled(scale));
        // 1/3*3 is carried as 0.99…, and goes once into 1.
        let (above, below) = (self.clone().shown(), divisor.clone().shown());
        let shown = above.scale.max(below.scale);
        let (above, below) = (above.scaled(shown), below.scaled(shown));
        let mut rest = &above % &below;
        if rest.sign() != Sign::NoSign && rest.sign() != below.sign() {
            rest += &below;
        }
        let times = (above - rest) / below;
        let doubt = self.doubt.and(divisor.doubt.times(Doubt::of(&times, 0)));
        Self::new(own - times * unit, scale, doubt)
    }

    pub(super) fn square_root(&self) -> Result<Self, CalculatorError> {
        if self.is_negative() {
            return Err(CalculatorError::NegativeRoot);
        }
        let whole = (self.digits() - self.scale) / 2;
        let decimals = limits::CARRIED.max(limits::CARRIED + 1 - whole).max((self.scale + 1) / 2);
        let square = self.scaled(decimals * 2);
        let root = square.sqrt();
        let exact = &root * &root == square;
        let root = if exact { root } else { sticky(root, false) };
        let cut = if exact { Doubt::NONE } else { Doubt::ten_to(-decimals) };
        let doubt = match root.sign() {
            Sign::NoSign => self.doubt.root(),
            _ => self.doubt.root().or_less(self.doubt.divided_by(&root, decimals)),
        };
        Self::new(root, decimals, doubt.and(cut))
    }

    /// The power, for whole exponents and halves.
    pub(super) fn to_the(&self, exponent: &Self) -> Result<Self, CalculatorError> {
        let exponent = exponent.clone().shown();
        if exponent.is_whole() {
            return self.to_the_whole(&exponent.mantissa);
        }
        let doubled = exponent.plus(&exponent)?;
        if !doubled.is_whole() {
            return Err(CalculatorError::FractionalExponent);
        }
        if self.is_negative() {
            return Err(CalculatorError::NegativeRoot);
        }
        self.to_the_whole(&doubled.mantissa)?.square_root()
    }

    fn to_the_whole(&self, exponent: &BigInt) -> Result<Self, CalculatorError> {
        let is_negative = exponent.sign() == Sign::Minus;
        if is_negative && self.is_zero() {
            return Err(CalculatorError::DivisionByZero);
        }
        let small = u32::try_from(exponent.magnitude()).ok().filter(|n| *n <= limits::EXPONENT);
        let power = match small {
            Some(times) => self.multiplied(times),
            None => self.far_power(exponent.bit(0)),
        };
        if !is_negative {
            return power;
        }
        match power {
            Ok(power) => Self::one().divided_by(&power),
            Err(CalculatorError::TooLarge) => Err(CalculatorError::TooSmall),
            Err(CalculatorError::TooSmall) => Err(CalculatorError::TooLarge),
            Err(other) => Err(other),
        }
    }

    /// `self` times itself, by squares; the limits stop it at the first that is too large.
    fn multiplied(&self, mut times: u32) -> Result<Self, CalculatorError> {
        let (mut power, mut square) = (Self::one(), self.clone());
        loop {
            if times % 2 == 1 {
                power = power.times(&square)?;
            }
            times /= 2;
            if times == 0 {
                return Ok(power);
            }
            square = square.times(&square)?;
        }
    }

    /// The power for an exponent past the limit, where the base alone says what it is.
    fn far_power(&self, exponent_is_odd: bool) -> Result<Self, CalculatorError> {
        let one = Self::one();
        match self.clone().absolute() {
            base if base.is_zero() => Ok(Self::zero()),
            base if base == one && exponent_is_odd => Ok(self.clone()),
            base if base == one => Ok(one),
            base if base.is_whole() => Err(CalculatorError::TooLarge),
            _ => Err(CalculatorError::ExponentTooLarge),
        }
    }
}

/// The truncated value of something that goes on, as [`Mode::Sticky`](super::round::Mode) leaves it.
fn sticky(truncated: BigInt, is_negative: bool) -> BigInt {
    if !ends_in_0_or_5(&truncated) {
        return truncated;
    }
    truncated + if is_negative { -1 } else { 1 }
}
