//! What a rent may rise by, and what a deposit is as rent.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use hanok_figures::Number;
use proptest::prelude::*;
use real_estate::data::Limits;
use real_estate::money::{
    MoneyError, pair,
    rent::{
        Terms, Verdict, change, change_of_both, conversion_rate, deposit_to_rent, rent_to_deposit,
    },
};

fn limits() -> Limits {
    Limits::shipped().unwrap()
}

#[test]
fn increases_are_as_the_table_says() {
    use Verdict::{AboveCap, Decrease, NoBase, Unchanged, WithinCap};
    for (text, rate, verdict) in [
        ("3억에서 3억1,500만원으로", Some("5.0"), WithinCap),
        ("3억에서 3.3억으로", Some("10.0"), AboveCap),
        ("전세금을 3에서 3.3억으로", Some("10.0"), AboveCap),
        ("3억에서 10억으로", Some("233.3"), AboveCap),
        ("3억에서 3억1,500만1원으로", Some("5.0"), AboveCap),
        ("3억에서 2억 7,000만원으로", Some("-10.0"), Decrease),
        ("3억에서 3억으로", Some("0.0"), Unchanged),
        ("0원에서 1억원으로", None, NoBase),
        ("0원에서 0원으로", None, Unchanged),
        ("1억에서 0원으로", Some("-100.0"), Decrease),
    ] {
        let pair = pair(text).unwrap();
        let change = change(pair.0, pair.1, &limits()).unwrap();
        assert_eq!((change.rate_percent.as_deref(), change.verdict), (rate, verdict), "{text}");
        assert!(change.not_covered.iter().any(|line| line.contains("새로 맺는 계약")));
    }
}

#[test]
fn the_words_for_a_reader_name_the_article() {
    let said = |after| change(300_000_000, after, &limits()).unwrap().said_in_korean();
    insta::assert_snapshot!(
        [315_000_000, 330_000_000, 300_000_000, 290_000_000].map(said).join("\n")
    );
}

#[test]
fn the_rate_of_conversion_is_the_lower_of_two() {
    let mut limits = limits();
    let rate = conversion_rate(&limits).unwrap();
    assert_eq!(rate.percent.to_string(), "4.5");
    assert_eq!(rate.source.article, "제9조제2항");
    // 1억 at 4.5 % is 450만 a year, 37만 5,000 a month.
    assert_eq!(deposit_to_rent(100_000_000, &rate), Ok(375_000));
    assert_eq!(rent_to_deposit(375_000, &rate), Ok(100_000_000));
    limits.base_rate.value = Number::from(9);
    let rate = conversion_rate(&limits).unwrap();
    assert_eq!(
        (rate.percent.to_string().as_str(), rate.source.article.as_str()),
        ("10", "제9조제1항")
    );
}

#[test]
fn a_rate_of_zero_makes_no_deposit() {
    let mut limits = limits();
    limits.base_rate.value = Number::from(0);
    limits.conversion_margin.value = Number::from(0);
    let rate = conversion_rate(&limits).unwrap();
    assert_eq!(deposit_to_rent(1, &rate), Ok(0));
    assert!(matches!(rent_to_deposit(1, &rate), Err(MoneyError::Calculation(_))));
}

#[test]
fn a_deposit_and_a_rent_change_together() {
    let before = Terms { deposit: 100_000_000, rent: 375_000 };
    let after = Terms { deposit: 100_000_000, rent: 412_500 };
    let both = change_of_both(before, after, &limits()).unwrap();
    assert_eq!((both.before, both.after), (200_000_000, 210_000_000));
    assert_eq!(both.verdict, Verdict::WithinCap);
    // One third of a won is seen: 105 % of 233,333,333.33… is 245,000,000 and no less.
    let before = Terms { deposit: 100_000_000, rent: 500_000 };
    let at =
        |deposit| change_of_both(before, Terms { deposit, rent: 0 }, &limits()).unwrap().verdict;
    assert_eq!([at(245_000_000), at(245_000_001)], [Verdict::WithinCap, Verdict::AboveCap]);
}

proptest! {
    #[test]
    fn the_cap_is_the_greatest_amount_within_it(before in 1..1_000_000_000_000_i64) {
        let limits = limits();
        let most = change(before, before, &limits).unwrap().most;
        let at = |after| change(before, after, &limits).unwrap().verdict;
        prop_assert!(matches!(at(most), Verdict::WithinCap | Verdict::Unchanged));
        prop_assert_eq!(at(most + 1), Verdict::AboveCap);
    }

    #[test]
    fn a_deposit_that_became_rent_is_no_more_when_it_comes_back(deposit in 0..1_000_000_000_000_i64) {
        let rate = conversion_rate(&limits()).unwrap();
        let rent = deposit_to_rent(deposit, &rate).unwrap();
        let back = rent_to_deposit(rent, &rate).unwrap();
        prop_assert!(back <= deposit && deposit - back < 267 + 1);
    }
}
