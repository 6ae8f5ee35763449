//! The arithmetic of numbers.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_figures::{CalculatorError, Number, Rounding, evaluate};
use proptest::prelude::*;

fn number(text: &str) -> Number {
    text.parse().unwrap()
}

#[test]
fn reads_plain_decimals_and_nothing_else() {
    for (text, want) in
        [("0", "0"), ("-0", "0"), ("007", "7"), ("-12.50", "-12.5"), ("0.001", "0.001")]
    {
        assert_eq!(number(text).to_string(), want, "{text}");
    }
    for text in ["", "-", ".", "1.", ".5", "--1", "1e3", "1,000", " 1", "１", "1.2.3", "1-2"] {
        let error = text.parse::<Number>().unwrap_err();
        assert!(matches!(error, CalculatorError::Syntax { .. }), "{text:?}: {error}");
    }
    let long = "9".repeat(4097).parse::<Number>();
    assert_eq!(long, Err(CalculatorError::TooLong { limit: 4096 }));
    assert_eq!("9".repeat(1001).parse::<Number>(), Err(CalculatorError::TooLarge));
}

#[test]
fn operations_are_those_of_the_calculator() {
    for (left, right) in
        [("1", "3"), ("0.1", "0.2"), ("-7", "2"), ("350000000", "0.035"), ("5", "0")]
    {
        let (a, b) = (number(left), number(right));
        assert_eq!(a.add(&b), evaluate(&format!("({left}) + ({right})")), "{left} {right}");
        assert_eq!(a.subtract(&b), evaluate(&format!("({left}) - ({right})")), "{left} {right}");
        assert_eq!(a.multiply(&b), evaluate(&format!("({left}) * ({right})")), "{left} {right}");
        assert_eq!(a.divide(&b), evaluate(&format!("({left}) / ({right})")), "{left} {right}");
    }
    let third = number("1").divide(&number("3")).unwrap();
    assert!(third.is_rounded());
    assert_eq!(third.to_string(), format!("0.{}", "3".repeat(30)));
    let whole = third.multiply(&number("3")).unwrap();
    assert_eq!(whole.round(20, Rounding::Floor).unwrap().to_string(), "1");
    assert_eq!(whole.to_string(), "1");
}

#[test]
fn places_past_the_limit_are_refused_and_far_places_are_not() {
    for places in [1001, -1001, i64::MAX, i64::MIN] {
        assert_eq!(number("1").round(places, Rounding::Floor), Err(CalculatorError::Places));
    }
    assert_eq!(number("15").round(-1000, Rounding::HalfAway).unwrap(), number("0"));
    assert_eq!(number("1.5").round(1000, Rounding::HalfAway).unwrap(), number("1.5"));
}

#[test]
fn an_integer_is_told_only_of_an_exact_whole_number_that_fits() {
    let long = i128::MAX.to_string();
    assert_eq!(number(&long).to_i128(), Some(i128::MAX));
    assert_eq!(number(&long).add(&number("1")).unwrap().to_i128(), None);
    assert_eq!(number("0.5").to_i128(), None);
}

proptest! {
    #[test]
    fn sums_and_products_are_those_of_integers(a in any::<i32>(), b in any::<i32>()) {
        let (x, y) = (Number::from(i64::from(a)), Number::from(i64::from(b)));
        let (wide, broad) = (i128::from(a), i128::from(b));
        prop_assert_eq!(x.add(&y).unwrap().to_i128(), Some(wide + broad));
        prop_assert_eq!(x.subtract(&y).unwrap().to_i128(), Some(wide - broad));
        prop_assert_eq!(x.multiply(&y).unwrap().to_i128(), Some(wide * broad));
        prop_assert_eq!(x.compare(&y), a.cmp(&b));
    }

    #[test]
    fn what_is_displayed_is_read_as_the_same(a in any::<i64>(), places in 0..12_u32) {
        let value = Number::from(a).divide(&Number::from(10_i64.pow(places))).unwrap();
        prop_assert_eq!(value.to_string().parse::<Number>().unwrap(), value);
    }
}
