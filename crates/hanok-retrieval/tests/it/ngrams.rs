//! The embedder that needs no model: what is near what.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use hanok_checkpoint::Vector;
use hanok_retrieval::NgramEmbedder;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

fn vector(text: &str) -> Vector {
    Vector::new(&NgramEmbedder::default().vector(text)).unwrap()
}

fn similarity(one: &str, other: &str) -> f32 {
    vector(one).similarity(&vector(other))
}

#[test]
fn what_is_written_nearly_alike_is_near_and_what_means_the_same_is_not() {
    for (one, near, far) in [
        ("재택근무", "제택근무", "육아휴직"),
        ("재택근무는", "재택근무를 하려면", "육아휴직은"),
        ("연차 이월", "연차의 이월", "연장 근로"),
        ("비밀번호", "비밀번오", "숙박비"),
        ("code review", "code reviews", "deployment"),
        ("휴가 며칠이야? 알려줘", "휴가", "알려줘"),
        ("급여는 25일", "급여가 25일에", "월급이 25번"),
    ] {
        let (near, far) = (similarity(one, near), similarity(one, far));
        assert!(near > 0.4 && far < near - 0.2, "{one}: {near} {far}");
    }
    for (one, other) in [("급여", "월급"), ("비밀번호", "password"), ("연차", "휴가")] {
        assert!(similarity(one, other).abs() < 0.25, "{one} {other}");
    }
}

#[test]
fn a_word_said_a_hundred_times_does_not_drown_the_others() {
    let text = format!("{} 비밀번호", "휴가 ".repeat(100));
    assert!(similarity(&text, "비밀번호") > 0.2);
    assert!(similarity(&text, "휴가") > similarity(&text, "비밀번호"));
}

/// Whoever stored vectors under this name compares new ones with them.
#[test]
fn the_vectors_are_those_of_their_version() {
    let text = "연차휴가는 근속년수에 따라 부여한다. VPN 2대";
    let told = NgramEmbedder::new(8).vector(text);
    let want = [
        -0.180_814, -0.246_565, 0.049_313, -0.131_501, 0.328_754, -0.854_759, -0.049_313, 0.213_690,
    ];
    for (told, want) in told.iter().zip(want) {
        assert!((told - want).abs() < 1e-5, "{told} {want}");
    }
}

proptest! {
    #[test]
    fn every_text_has_a_direction_and_the_same_in_every_normal_form(
        text in "\\PC{0,60}", dimensions in 0_usize..300,
    ) {
        let embedder = NgramEmbedder::new(dimensions);
        let numbers = embedder.vector(&text);
        prop_assert_eq!(numbers.len(), dimensions.max(1));
        let length: f32 = numbers.iter().map(|number| number * number).sum();
        prop_assert!((length - 1.0).abs() < 1e-3, "{}", length);
        let apart: String = text.nfd().collect();
        prop_assert_eq!(embedder.vector(&apart), embedder.vector(&text.nfc().collect::<String>()));
    }
}
