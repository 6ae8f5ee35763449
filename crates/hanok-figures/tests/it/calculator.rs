//! What the calculator answers, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::time::{Duration, Instant};

use hanok_figures::{CalculatorError, evaluate};
use num_bigint::BigInt;
use proptest::prelude::*;

fn answer(expression: &str) -> String {
    match evaluate(expression) {
        Ok(number) if number.is_rounded() => format!("≈ {number}"),
        Ok(number) => number.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn calculates_what_people_and_models_write() {
    for (expression, want) in [
        ("123 * 456", "56088"),
        ("1+2*3", "7"),
        ("(1+2)*3", "9"),
        ("10-4-3", "3"),
        ("100/5/2", "10"),
        ("0.1 + 0.2", "0.3"),
        ("1.10 * 3", "3.3"),
        ("10/4", "2.5"),
        ("-7/2", "-3.5"),
        ("7 % 3", "1"),
        ("-7 % 3", "2"),
        ("7 % (-3)", "-2"),
        ("5.5 % 2", "1.5"),
        ("2**10", "1024"),
        ("2^10", "1024"),
        ("2**3**2", "512"),
        ("-2**2", "-4"),
        ("(-2)**2", "4"),
        ("2**-2", "0.25"),
        ("0**0", "1"),
        ("9**0.5", "3"),
        ("4**1.5", "8"),
        ("4**-0.5", "0.5"),
        ("1.5**2", "2.25"),
        ("--5", "5"),
        ("-+-5", "5"),
        ("3 × 4 ÷ 2", "6"),
        ("3x4", "12"),
        ("3 X 4", "12"),
        ("10x5", "50"),
        ("0 x 4", "0"),
        ("0.5x4", "2"),
        ("8 − 3", "5"),
        ("１２＋３．５", "15.5"),
        ("（１＋２）＊３", "9"),
        ("2　+　3", "5"),
        ("1,234.5", "1234.5"),
        ("1,234,567 + 1", "1234568"),
        ("(1,234) * 2", "2468"),
        ("１，２３４", "1234"),
        (".5 + 5.", "5.5"),
        ("1e3", "1000"),
        ("1.5E-3", "0.0015"),
        ("2e+2", "200"),
        ("0e999999", "0"),
        ("15%", "0.15"),
        ("3,000,000 * 15%", "450000"),
        ("50% x 8", "4"),
        ("10% + 5%", "0.15"),
        ("(1 + 5%)**2", "1.1025"),
        ("-5%", "-0.05"),
        ("sqrt(16)", "4"),
        ("sqrt(0.25)", "0.5"),
        ("SQRT(16)", "4"),
        ("abs(-3.5)", "3.5"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(2.345, 2)", "2.35"),
        ("round(1234, -2)", "1200"),
        ("floor(-1.5)", "-2"),
        ("ceil(-1.5)", "-1"),
        ("ceil(1.01)", "2"),
        ("min(3, 1, 2)", "1"),
        ("max(3,1,2)", "3"),
        ("max(0,100)", "100"),
        ("max(1000,200)", "1000"),
        ("max(1, 234)", "234"),
        ("max((1,234), 5)", "1234"),
        ("round(pi, 4)", "3.1416"),
        ("round(π, 4) + round(e, 4)", "5.8599"),
        (
            "12345678901234567890123456789012345678901234567891/2",
            "6172839450617283945061728394506172839450617283945.5",
        ),
    ] {
        assert_eq!(answer(expression), want, "{expression}");
    }
}

#[test]
fn what_has_no_end_is_rounded_half_to_even_and_marked() {
    for (expression, want) in [
        ("1/3", "≈ 0.333333333333333333333333333333"),
        ("2/3", "≈ 0.666666666666666666666666666667"),
        ("-2/3", "≈ -0.666666666666666666666666666667"),
        ("1/3*3", "≈ 1"),
        ("floor(1/3*3)", "≈ 1"),
        ("round(10/3, 2)", "3.33"),
        ("10**40/3", "≈ 3333333333333333333333333333333333333333"),
        ("sqrt(2)", "≈ 1.41421356237309504880168872421"),
        ("sqrt(2)**2", "≈ 2"),
        ("2**0.5", "≈ 1.41421356237309504880168872421"),
        ("pi", "≈ 3.14159265358979323846264338328"),
        ("e", "≈ 2.71828182845904523536028747135"),
        (
            "2**-200",
            "≈ 0.000000000000000000000000000000000000000000000000000000000000622301527786114170714406405378",
        ),
        ("1.0035**360", "≈ 3.51767454804719167801133864421"),
        // What was lost on the way is not shown.
        (
            "10**40/3 * 10**40",
            "≈ 33333333333333333333333333333333333333333333333330000000000000000000000000000000",
        ),
        ("(1/3*3 - 1) * 10**40", "≈ 0"),
        ("1/3*3 % 1", "≈ 0"),
        ("1/10**60", "0.000000000000000000000000000000000000000000000000000000000001"),
    ] {
        assert_eq!(answer(expression), want, "{expression}");
    }
}

/// Digits that are not known are zeros, and the others are those of the true value.
#[test]
fn digits_that_are_shown_are_right_however_often_it_was_rounded() {
    for (expression, exact) in [
        ("sqrt(2)*".repeat(200) + "1", BigInt::from(2).pow(100)),
        ("sqrt(3)*".repeat(300) + "1", BigInt::from(3).pow(150)),
        ("(1/7)*".repeat(150) + "7**150 * 12345", BigInt::from(12345)),
    ] {
        let shown = evaluate(&expression).unwrap();
        assert!(shown.is_rounded());
        let (shown, exact) = (shown.to_string(), exact.to_string());
        let known = shown.trim_end_matches('0');
        assert!(known.len() >= 30.min(exact.trim_end_matches('0').len()), "{shown}");
        // The last one is rounded.
        assert_eq!(known[..known.len() - 1], exact[..known.len() - 1], "{expression:.20}");
        assert_eq!(shown.len(), exact.len());
    }
}

#[test]
fn an_error_says_where_and_what_to_write_instead() {
    for (expression, want) in [
        ("", "at character 1: found the end, expected a number, a function or `(`"),
        ("2 + * 3", "at character 5: found `*`, expected a number, a function or `(`"),
        ("2 +", "at character 4: found the end, expected a number, a function or `(`"),
        ("(1 + 2", "at character 7: found the end, expected an operator or `)`"),
        ("1 + 2)", "at character 6: found `)`, expected an operator or the end"),
        ("2 3", "at character 3: found a number, expected an operator or the end"),
        ("2(3)", "at character 2: found `(`, expected an operator or the end"),
        (
            "회사 + 1",
            "at character 1: `회사` is not known; there are the functions sqrt, abs, round, floor, ceil, min, max and the constants pi, e",
        ),
        (
            "__import__('os')",
            "at character 1: found `_`, expected digits, an operator (+ - * / % **), a function or brackets",
        ),
        (
            "1 = 1",
            "at character 3: found `=`, expected digits, an operator (+ - * / % **), a function or brackets",
        ),
        (
            "1\u{1b}[31m",
            "at character 2: found `\\u{1b}`, expected digits, an operator (+ - * / % **), a function or brackets",
        ),
        ("sqrt 4", "at character 6: found a number, expected `(` after the name of a function"),
        ("sqrt(1, 2)", "at character 1: sqrt takes one argument, found 2"),
        ("min()", "at character 1: min takes at least one argument, found 0"),
        ("round(1, 2, 3)", "at character 1: round takes one or two arguments, found 3"),
        (
            "max(1,234)",
            "at character 6: this comma could separate thousands or arguments; write `1, 234` for two arguments and `1234` for one",
        ),
        ("1,23", "at character 2: found `,`, expected an operator or the end"),
        ("1234,567", "at character 5: found `,`, expected an operator or the end"),
        (
            "5% - 3",
            "at character 2: this % could be percent or remainder; write `(5%) - 3` for percent and `5 % (-3)` for the remainder",
        ),
        (
            "2 + 0x10",
            "at character 5: `0x10` looks like a number of another base than ten; write decimal digits, and a product as `0 * 10`",
        ),
        (
            "０Ｘff",
            "at character 1: `0Xff` looks like a number of another base than ten; write decimal digits, and a product as `0 * 10`",
        ),
        (
            "0b11 + 1",
            "at character 1: `0b11` looks like a number of another base than ten; write decimal digits, and a product as `0 * 10`",
        ),
        (
            "0o7",
            "at character 1: `0o7` looks like a number of another base than ten; write decimal digits, and a product as `0 * 10`",
        ),
        ("1/0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("0**-1", "division by zero"),
        ("sqrt(-1)", "the square root of a negative number is not a real number"),
        ("(-8)**0.5", "the square root of a negative number is not a real number"),
        (
            "8**(1/3)",
            "an exponent is neither whole nor a half; only powers like x**3, x**-2 and x**0.5 can be calculated",
        ),
        ("1.0000001**10000000", "an exponent is greater than 1000000"),
        (
            "round(1, 0.5)",
            "the second argument of round is the number of decimal places, a whole number from -1000 to 1000",
        ),
        (
            "round(1, 1001)",
            "the second argument of round is the number of decimal places, a whole number from -1000 to 1000",
        ),
    ] {
        assert_eq!(answer(expression), format!("error: {want}"), "{expression}");
    }
}

/// P38: result size, exponent, digits, nesting and steps are bounded, and a bound answers at once.
#[test]
fn an_expression_past_a_bound_is_a_typed_error_in_less_than_50_ms() {
    use CalculatorError::{TooDeep, TooLarge, TooLong, TooManySteps, TooSmall};
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    for (expression, want) in [
        ("9**9**9**9".to_owned(), TooLarge),
        ("1e999999".to_owned(), TooLarge),
        ("1e99999999999999999999999".to_owned(), TooLarge),
        ("1e-999999".to_owned(), TooSmall),
        ("9**9**9".to_owned(), TooLarge),
        ("-9**999999".to_owned(), TooLarge),
        ("2**-9**9".to_owned(), TooSmall),
        ("0.5**999999".to_owned(), TooSmall),
        ("10**999 * 10".to_owned(), TooLarge),
        ("9".repeat(1001), TooLarge),
        ("9".repeat(5000), TooLong { limit: 4096 }),
        ("1+".repeat(1999), TooManySteps { limit: 1000 }),
        (nested(65), TooDeep { limit: 64 }),
        (nested(2000), TooDeep { limit: 64 }),
        ("2**".repeat(1000), TooDeep { limit: 64 }),
        ("abs(".repeat(1000), TooDeep { limit: 64 }),
    ] {
        // The machine may be busy, and a busy machine is not what is bounded: one quiet attempt of many is enough.
        let quick = (0..50).any(|_| {
            let started = Instant::now();
            assert_eq!(evaluate(&expression).unwrap_err(), want, "{expression:.40}");
            started.elapsed() < Duration::from_millis(50)
        });
        assert!(quick, "{expression:.40}");
    }
}

#[test]
fn what_is_just_within_the_bounds_is_calculated() {
    let nested = format!("{}1{}", "(".repeat(64), ")".repeat(64));
    assert_eq!(answer(&nested), "1");
    assert_eq!(answer("10**999").len(), 1000);
    assert_eq!(answer(&"9".repeat(1000)).len(), 1000);
    assert_eq!(answer(&format!("1{}", "+1".repeat(499))), "500");
    assert_eq!(answer(&format!("{}1", "-".repeat(4000))), "1");
    assert_eq!(answer("1**1e999"), "1");
    assert_eq!(answer("(-1)**(10**30+1)"), "-1");
    assert_eq!(
        answer("1e-1000 * 1e1000"),
        "error: a value has more than 1000 digits before the decimal point"
    );
    assert_eq!(answer("1e-999 * 1e999"), "1");
}

/// An expression over whole numbers, with what `i128` makes of it; `None` where it overflows.
fn whole_expression() -> impl Strategy<Value = (String, Option<i128>)> {
    let leaf = any::<i32>().prop_map(|n| (format!("({n})"), Some(i128::from(n))));
    leaf.prop_recursive(5, 32, 2, |inner| {
        (inner.clone(), prop_oneof![Just('+'), Just('-'), Just('*'), Just('%')], inner).prop_map(
            |((left, l), operator, (right, r))| {
                let both = l.zip(r);
                let value = match operator {
                    '+' => both.and_then(|(l, r)| l.checked_add(r)),
                    '-' => both.and_then(|(l, r)| l.checked_sub(r)),
                    '*' => both.and_then(|(l, r)| l.checked_mul(r)),
                    _ => both.filter(|(_, r)| *r != 0).map(|(l, r)| {
                        let rest = l % r;
                        if rest != 0 && (rest < 0) != (r < 0) { rest + r } else { rest }
                    }),
                };
                (format!("({left} {operator} {right})"), value)
            },
        )
    })
}

/// A fraction of whole numbers, calculated apart from the calculator.
#[derive(Debug, Clone)]
struct Fraction {
    above: BigInt,
    below: BigInt,
}

impl Fraction {
    /// `value / 10^decimals`.
    fn decimal(value: &str, decimals: usize) -> Self {
        let below = BigInt::from(10).pow(u32::try_from(decimals).unwrap());
        Self { above: value.parse().unwrap(), below }
    }

    fn read(text: &str) -> Self {
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Self::decimal(&text.replace('.', ""), decimals)
    }

    fn with(self, operator: char, other: Self) -> Option<Self> {
        let (Self { above: a, below: b }, Self { above: c, below: d }) = (self, other);
        let (above, below) = match operator {
            '+' => (a * &d + c * &b, b * d),
            '-' => (a * &d - c * &b, b * d),
            '*' => (a * c, b * d),
            _ if c == BigInt::ZERO => return None,
            _ => (a * d, b * c),
        };
        Some(Self { above, below })
    }

    /// Whether `other` is this up to its last digit of 28, in proportion to `size`.
    fn is_about(&self, other: &Self, size: &BigInt) -> bool {
        let apart = (&self.above * &other.below - &other.above * &self.below).magnitude().clone();
        let unit = (&self.below * &other.below).magnitude().clone();
        apart * BigInt::from(10).pow(28).magnitude() <= unit * size.magnitude()
    }

    /// Whether `other`, which `text` writes, is less than one of its last digit away; zeros before the point may stand for
    /// digits that are not known.
    fn is_within_a_unit(&self, other: &Self, text: &str) -> bool {
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let zeros = if decimals > 0 { 0 } else { text.len() - text.trim_end_matches('0').len() };
        let ten = |power: usize| BigInt::from(10).pow(u32::try_from(power).unwrap());
        let apart = &self.above * &other.below - &other.above * &self.below;
        let unit = ten(zeros) * &self.below * &other.below;
        (apart * ten(decimals)).magnitude() <= unit.magnitude()
    }
}

/// An expression, its value (`None` after a division by zero), and what no value on the way is greater than.
type Valued = (String, Option<(Fraction, BigInt)>);

fn decimal() -> impl Strategy<Value = Valued> + Clone {
    (-9_999_999_i64..10_000_000, 0..6_usize).prop_map(|(value, decimals)| {
        let fraction = Fraction::decimal(&value.to_string(), decimals);
        (format!("({value}e-{decimals})"), Some((fraction, BigInt::from(value.abs() + 1))))
    })
}

/// Divisors are single numbers: one that is a difference can be as small as what was rounded.
fn decimal_expression() -> impl Strategy<Value = Valued> {
    let joined = |((left, l), operator, (right, r)): (Valued, char, Valued)| {
        let value = l.zip(r).and_then(|((l, most_l), (r, most_r))| {
            let most = match operator {
                '/' if r.above == BigInt::ZERO => return None,
                '/' => most_l * BigInt::from((&r.below / &r.above).magnitude() + 1_u8) * most_r,
                _ => most_l * most_r,
            };
            Some((l.with(operator, r)?, most))
        });
        (format!("({left} {operator} {right})"), value)
    };
    decimal().prop_recursive(4, 16, 2, move |inner| {
        let operator = prop_oneof![Just('+'), Just('-'), Just('*')];
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(joined),
            (inner, Just('/'), decimal()).prop_map(joined),
        ]
    })
}

proptest! {
    #[test]
    fn decimals_are_calculated_as_fractions_are((expression, value) in decimal_expression()) {
        match (evaluate(&expression), value) {
            (Err(error), None) => prop_assert_eq!(error, CalculatorError::DivisionByZero),
            (Ok(number), Some((fraction, size))) => {
                let read = Fraction::read(&number.to_string());
                if number.is_rounded() {
                    prop_assert!(fraction.is_about(&read, &size), "{} {}", expression, number);
                    let right = fraction.is_within_a_unit(&read, &number.to_string());
                    prop_assert!(right, "{} {}", expression, number);
                } else {
                    prop_assert_eq!(fraction.above * read.below, read.above * fraction.below);
                }
            }
            (seen, want) => prop_assert!(false, "{} {:?} {:?}", expression, seen, want),
        }
    }

    #[test]
    fn whole_numbers_are_calculated_as_i128_does((expression, value) in whole_expression()) {
        if let Some(value) = value {
            prop_assert_eq!(answer(&expression), value.to_string());
        }
    }

    /// P59
    #[test]
    fn no_text_makes_it_panic(expression in ".{0,200}") {
        let _value = evaluate(&expression);
    }

    /// P59
    #[test]
    fn no_mix_of_its_own_signs_makes_it_panic(
        expression in "([0-9]{1,4}|[-+*/%^(),.ex ]|\\*\\*|sqrt\\(|round\\(|min\\(|pi){0,60}"
    ) {
        let _value = evaluate(&expression);
    }

    #[test]
    fn a_quotient_times_its_divisor_is_the_dividend(dividend in any::<i64>(), divisor in 1..i64::MAX) {
        let back = evaluate(&format!("({dividend}) / {divisor} * {divisor}")).unwrap();
        prop_assert_eq!(back.to_string(), dividend.to_string());
    }

    #[test]
    fn a_shown_number_reads_back(whole in any::<i64>(), decimals in 0..1_000_000_u32) {
        let text = evaluate(&format!("{whole}.{decimals:06}")).unwrap().to_string();
        prop_assert_eq!(evaluate(&text).unwrap().to_string(), text);
    }
}
