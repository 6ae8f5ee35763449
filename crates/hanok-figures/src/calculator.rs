//! Arithmetic on exact decimals, as a model or a person writes it.
//!
//! [`lex`] makes tokens of the text, [`parse`] a program for a stack out of these, [`run`] runs it on
//! [`Number`]s. Every step is bounded, so no text takes long or much.

mod arithmetic;
mod doubt;
mod error;
mod lex;
mod limits;
mod number;
mod operations;
mod parse;
mod round;
mod run;

pub use error::CalculatorError;
pub use number::Number;
pub use operations::Rounding;

/// The value of an arithmetic expression.
///
/// | | |
/// | --- | --- |
/// | operators | `+` `-` `*` `×` `/` `÷` `%` (remainder, with the divisor's sign) `**` `^`, `x` between numbers |
/// | signs | `-2**2` is `-4`, `2**-1` is `0.5`, `2**3**2` is `512` |
/// | percent | `15%` is `0.15` where no operand follows: `3,000,000 * 15%` |
/// | functions | `sqrt(x)` `abs(x)` `floor(x)` `ceil(x)` `round(x)` `round(x, places)` `min(…)` `max(…)` |
/// | constants | `pi` `π` `e` |
/// | numbers | `1234.5` `.5` `1e-3` `1,234.5`; full-width digits and signs (`１２＋３`) |
///
/// Inside a function's brackets a comma separates arguments. `round` goes to the nearest, and a half
/// away from zero: `round(2.5)` is `3`.
///
/// Sums, products and powers are exact. A quotient or root without an end is rounded to 30 significant
/// digits (never before the decimal point), half to even; so is what needs more than 100 decimals and
/// 40 digits. [`Number::is_rounded`] tells. In between ten more digits are carried: `1/3*3` is `1`.
/// What each step loses is added up, and only digits that are right in spite of it are shown; before the decimal point the others
/// are zeros. A divisor that could be zero for all that is known is one.
///
/// # Errors
///
/// What is wrong with the expression and where, or which bound it passes. No text takes longer than
/// a few milliseconds.
///
/// ```
/// use hanok_figures::evaluate;
///
/// assert_eq!(evaluate("123 * 456")?.to_string(), "56088");
/// assert_eq!(evaluate("0.1 + 0.2")?.to_string(), "0.3");
///
/// let third = evaluate("1 / 3")?;
/// assert_eq!(third.to_string(), "0.333333333333333333333333333333");
/// assert!(third.is_rounded());
///
/// let wrong = evaluate("2 + * 3").unwrap_err();
/// assert_eq!(wrong.to_string(), "at character 5: found `*`, expected a number, a function or `(`");
/// # Ok::<(), hanok_figures::CalculatorError>(())
/// ```
pub fn evaluate(expression: &str) -> Result<Number, CalculatorError> {
    if expression.len() > limits::EXPRESSION_BYTES {
        return Err(CalculatorError::TooLong { limit: limits::EXPRESSION_BYTES });
    }
    let tokens = lex::tokens(expression)?;
    run::run(parse::program(&tokens)?)
}
