//! How far a calculation may go. The documentation of `evaluate` and its errors states these.

/// The longest expression, in bytes.
pub(super) const EXPRESSION_BYTES: usize = 4096;

/// How deep brackets, functions and towers of powers may be nested.
pub(super) const DEPTH: usize = 64;

/// The most values, operators and functions in one expression.
pub(super) const STEPS: usize = 1000;

/// The most digits before the decimal point, and the most zeros after it before the first other digit.
pub(super) const DIGITS: i64 = 1000;

/// The greatest exponent of a power.
pub(super) const EXPONENT: u32 = 1_000_000;

/// The decimals that an exact number may have before it is rounded.
pub(super) const EXACT_DECIMALS: i64 = 100;

/// The significant digits that are carried of a rounded number.
pub(super) const CARRIED: i64 = 40;

/// The significant digits that are shown of a rounded number.
pub(super) const SHOWN: i64 = 30;
