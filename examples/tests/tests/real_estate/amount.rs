//! Sums and rates as people write them.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use proptest::prelude::*;
use real_estate::money::{AmountError, StatedRate, StatedWon, percent, won};

#[test]
fn what_is_not_understood_is_asked_about() {
    for text in ["3", "백", "삼", "1억과 2억", "약간"] {
        assert!(won(text).is_err(), "{text}");
    }
    assert_eq!(won("0원"), Ok(0));
    assert_eq!(
        won("99999조원").unwrap_err(),
        AmountError::OutOfRange { text: "99999000000000000".into() }
    );
}

#[test]
fn rates_are_read_without_a_binary_fraction() {
    for (text, want) in
        [("4.0", "4"), ("4.25%", "4.25"), ("연 3.5퍼센트", "3.5"), ("0", "0"), ("-1", "-1")]
    {
        assert_eq!(percent(text).unwrap().to_string(), want);
    }
    assert!(percent("싼 이자").is_err());
    let fraction = serde_json::from_str::<StatedRate>("4.5").unwrap_err();
    assert_eq!(fraction.to_string(), "이율은 정수(4)나 글자(\"4.25%\")로 적습니다");
    let fraction = serde_json::from_str::<StatedWon>("1e8").unwrap_err();
    assert!(fraction.to_string().starts_with("금액은 원 단위의 정수"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "(.|에서|억|만|천|원|3|[0-9.,~-]){0,60}") {
        let (one, two) = (won(&text), percent(&text));
        prop_assert!(one.is_ok() || !one.unwrap_err().to_string().is_empty());
        drop(two);
    }
}
