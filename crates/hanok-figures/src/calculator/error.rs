//! Why there is no value.

use thiserror::Error;

use super::limits;

/// Why an expression has no value. Each message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CalculatorError {
    /// The text is no expression.
    #[error("at character {at}: found {found}, expected {expected}")]
    #[allow(missing_docs, reason = "the message names the fields")]
    Syntax { at: usize, found: String, expected: &'static str },
    /// A name that is neither a function nor a constant.
    #[error(
        "at character {at}: `{name}` is not known; there are the functions sqrt, abs, round, floor, ceil, min, max \
         and the constants pi, e"
    )]
    #[allow(missing_docs, reason = "the message names the fields")]
    UnknownName { at: usize, name: String },
    /// A function with too few or too many arguments.
    #[error("at character {at}: {function} takes {takes}, found {given}")]
    #[allow(missing_docs, reason = "the message names the fields")]
    Arguments { at: usize, function: &'static str, takes: &'static str, given: usize },
    /// A number that begins like one of another base: `0x10`, `0b11`, `0o7`.
    #[error(
        "at character {at}: `{number}` looks like a number of another base than ten; write decimal digits, and a \
         product as `0 * 10`"
    )]
    #[allow(missing_docs, reason = "the message names the fields")]
    OtherBase { at: usize, number: String },
    /// A comma in a function's brackets that could separate thousands or arguments.
    #[error(
        "at character {at}: this comma could separate thousands or arguments; write `1, 234` for two arguments and \
         `1234` for one"
    )]
    #[allow(missing_docs, reason = "the message names the field")]
    AmbiguousComma { at: usize },
    /// A percent sign before a minus, which could mean the remainder.
    #[error(
        "at character {at}: this % could be percent or remainder; write `(5%) - 3` for percent and `5 % (-3)` for \
         the remainder"
    )]
    #[allow(missing_docs, reason = "the message names the field")]
    AmbiguousPercent { at: usize },
    /// The text itself is too long.
    #[error("the expression is longer than {limit} bytes; calculate it in parts")]
    #[allow(missing_docs, reason = "the message names the field")]
    TooLong { limit: usize },
    /// Brackets, functions or powers within one another.
    #[error("the expression is nested deeper than {limit} levels; calculate it in parts")]
    #[allow(missing_docs, reason = "the message names the field")]
    TooDeep { limit: usize },
    /// Too many values and operators.
    #[error("the expression has more than {limit} values and operators; calculate it in parts")]
    #[allow(missing_docs, reason = "the message names the field")]
    TooManySteps { limit: usize },
    /// A value, perhaps one in between, is too far from zero.
    #[error("a value has more than {} digits before the decimal point", limits::DIGITS)]
    TooLarge,
    /// A value, perhaps one in between, is too near to zero, and is not zero.
    #[error("a value has more than {} zeros after the decimal point", limits::DIGITS)]
    TooSmall,
    /// A power that takes too many multiplications.
    #[error("an exponent is greater than {}", limits::EXPONENT)]
    ExponentTooLarge,
    /// A power whose exponent is neither whole nor a half.
    #[error(
        "an exponent is neither whole nor a half; only powers like x**3, x**-2 and x**0.5 can be calculated"
    )]
    FractionalExponent,
    /// The number of places of `round` is not a whole one, or is far out.
    #[error(
        "the second argument of round is the number of decimal places, a whole number from -{0} to {0}",
        limits::DIGITS
    )]
    Places,
    /// Division, or remainder, by zero; also zero to a negative power.
    #[error("division by zero")]
    DivisionByZero,
    /// The square root of a negative number.
    #[error("the square root of a negative number is not a real number")]
    NegativeRoot,
}
