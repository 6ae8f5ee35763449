//! Two sums of which one becomes the other.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use proptest::prelude::*;
use real_estate::money::{AmountError, StatedWon, pair, stated_pair};

#[test]
fn two_amounts_are_read_as_they_are_meant() {
    for (text, want) in [
        ("3억에서 3억1,500만원으로", (300_000_000, 315_000_000)),
        ("전세금을 3에서 3.3억으로", (300_000_000, 330_000_000)),
        ("전세금을 3억에서 3.3으로", (300_000_000, 330_000_000)),
        ("보증금 3억 → 3억 3천만원", (300_000_000, 330_000_000)),
        ("3억->10억", (300_000_000, 1_000_000_000)),
        ("월세를 50에서 60만원으로 올린대요", (500_000, 600_000)),
        ("3000에서 3,300만원으로", (30_000_000, 33_000_000)),
        ("300000000에서 315000000으로", (300_000_000, 315_000_000)),
        ("3억인데 3.3억으로 올려달래요", (300_000_000, 330_000_000)),
        ("3.3억으로 올려달래요. 지금은 3억이에요", (300_000_000, 330_000_000)),
        ("전세 5억원에서 4억 5천만원으로 내려 준대요", (500_000_000, 450_000_000)),
        ("서울에서 3억에서 3.3억으로", (300_000_000, 330_000_000)),
        ("3~3.3억", (300_000_000, 330_000_000)),
        ("0원에서 1억원으로", (0, 100_000_000)),
        ("2024년에 3억에서 2026년에 3.3억으로", (300_000_000, 330_000_000)),
        ("3억 5천에서 3억 7천만원으로", (350_000_000, 370_000_000)),
        ("2년 전 3억이던 것을 지금 3.3억으로 올려 달래요", (300_000_000, 330_000_000)),
        ("보증금 1억에 월세 50에서 60만원으로", (500_000, 600_000)),
        ("삼억원에서 삼억삼천만원으로", (300_000_000, 330_000_000)),
        ("전세 3억에서 5% 올리면?", (300_000_000, 315_000_000)),
        ("월세 55만원을 3.3프로 내려 주신대요", (550_000, 531_850)),
    ] {
        assert_eq!(pair(text), Ok(want), "{text}");
    }
}

#[test]
fn what_is_not_understood_is_asked_about() {
    for text in [
        "",
        "3에서 3.3으로 올린대요",
        "전세금을 올려달래요",
        "3억에서 올려달래요",
        "2억, 3억, 4억",
        "3에서 33억으로",
        "-3억에서 3억으로",
    ] {
        let asked = pair(text).unwrap_err().to_string();
        assert!(asked.ends_with("겠습니까?") || asked.ends_with("말씀하십니까?"), "{asked}");
    }
    let part = |text: &str| StatedWon::Text(text.to_owned());
    let partner = part("3.3억");
    assert_eq!(stated_pair(&part("3"), &partner), Ok((300_000_000, 330_000_000)));
    assert_eq!(stated_pair(&StatedWon::Won(3), &partner), Ok((300_000_000, 330_000_000)));
    assert_eq!(stated_pair(&StatedWon::Won(0), &partner), Ok((0, 330_000_000)));
    assert!(matches!(stated_pair(&part("3"), &part("4")), Err(AmountError::NoUnit { .. })));
    assert!(matches!(stated_pair(&part("조금"), &partner), Err(AmountError::NoAmount { .. })));
}

proptest! {
    #[test]
    fn no_text_panics(text in "(.|에서|억|만|천|원|3|%|올리|[0-9.,~-]){0,60}") {
        match pair(&text) {
            Ok((before, after)) => prop_assert!(before >= 0 && after >= 0),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
