//! Amounts as people write them, and what a rent may rise by.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_figures::Number;
use proptest::prelude::*;
use real_estate::money::{Area, Change, Rate, Terms, Won};

#[test]
fn amounts_rates_and_areas_are_read_as_they_are_written() {
    for (text, want) in [
        ("3억", Some(300_000_000)),
        ("3.3억", Some(330_000_000)),
        ("3억 5천만원", Some(350_000_000)),
        ("삼억 이천만원", Some(320_000_000)),
        ("50만원", Some(500_000)),
        ("0원", Some(0)),
        ("3", None),
        ("많이", None),
        ("3억과 4억", None),
        ("1000000000조원", None),
        ("5%", None),
    ] {
        assert_eq!(Won::read(text).ok().map(|won| won.0), want, "{text}");
    }
    for (text, want) in
        [("3.6%", Some("3.6")), ("연 4프로", Some("4")), ("101%", None), ("3억원", None)]
    {
        assert_eq!(Rate::read(text).ok().map(|rate| rate.0.to_string()).as_deref(), want, "{text}");
    }
    for (text, want) in [
        ("84.97㎡", Some("84.97㎡")),
        ("25평", Some("25평")),
        ("59", Some("59㎡")),
        ("어제", None),
        ("3억원", None),
        ("0㎡", None),
    ] {
        assert_eq!(Area::read(text).ok().map(|area| area.text).as_deref(), want, "{text}");
    }
    assert_eq!(Area::read("25평").unwrap().metres.to_string(), "82.64");
}

fn change(before: Terms, after: Terms) -> Change {
    Change::of(before, after, &Number::from(5), &"4.5".parse().unwrap()).unwrap()
}

fn deposit(deposit: i64) -> Terms {
    Terms { deposit, rent: 0 }
}

#[test]
fn increases_are_as_the_table_says() {
    for (before, after, percent, is_above) in [
        (300_000_000, 315_000_000, Some("5.0"), false),
        (300_000_000, 330_000_000, Some("10.0"), true),
        (300_000_000, 1_000_000_000, Some("233.3"), true),
        (300_000_000, 315_000_001, Some("5.0"), true),
        (300_000_000, 270_000_000, Some("-10.0"), false),
        (300_000_000, 300_000_000, Some("0.0"), false),
        (0, 100_000_000, None, false),
        (100_000_000, 0, Some("-100.0"), false),
    ] {
        let change = change(deposit(before), deposit(after));
        assert_eq!((change.percent.as_deref(), change.is_above), (percent, is_above), "{after}");
    }
}

#[test]
fn a_deposit_and_a_rent_change_together() {
    let terms = |rent| Terms { deposit: 100_000_000, rent };
    let both = change(terms(375_000), terms(412_500));
    assert_eq!((both.before, both.after, both.is_above), (200_000_000, 210_000_000, false));
    let rents = change(Terms { deposit: 0, rent: 500_000 }, Terms { deposit: 0, rent: 600_000 });
    assert_eq!((rents.percent.as_deref(), rents.most), (Some("20.0"), 525_000));
}

proptest! {
    #[test]
    fn the_cap_is_the_greatest_amount_within_it(before in 1..1_000_000_000_000_i64) {
        let most = change(deposit(before), deposit(before)).most;
        prop_assert!(!change(deposit(before), deposit(most)).is_above);
        prop_assert!(change(deposit(before), deposit(most + 1)).is_above);
    }
}
