//! Passages are pieces of their document, and nothing is lost between them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, in its helpers too"
)]

use hanok_retrieval::{Document, Splitter};
use proptest::{collection::vec, prelude::*};

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("# 인사규정\n".to_owned()),
        Just("\n## 제3장 휴가\n".to_owned()),
        Just("제12조(연차휴가) ".to_owned()),
        Just("2.1 적용 범위\n".to_owned()),
        Just("\n1. 목적\n".to_owned()),
        Just("\n\n범위\n---\n".to_owned()),
        Just("===\n".to_owned()),
        Just("- 항목\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("```\n# 코드\n```\n".to_owned()),
        Just("회사는 근속년수에 따라 연차휴가를 부여한다. ".to_owned()),
        "[ \t\n가-힣a-z\u{301}🙂.]{0,60}",
        Just("띄어쓰기가없는글".repeat(12)),
    ]
}

/// Ways to count: words, bytes, letters, pairs that grow less than their parts, and one that takes back what it said.
const COUNTS: [fn(&str) -> usize; 6] = [
    |text| text.split_whitespace().count(),
    str::len,
    |text| text.chars().count(),
    |text| text.len().div_ceil(4),
    |text| text.chars().count() + 5 * usize::from(text.ends_with(['다', ' ', 'a'])),
    |_| 0,
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn by_tokens_nothing_is_lost_nor_too_long(
        pieces in vec(piece(), 0..20),
        max in 0_usize..120,
        overlap in 0_usize..60,
        count in 0..COUNTS.len(),
    ) {
        let document = Document::new("a.md", pieces.concat());
        let count = COUNTS[count];
        let passages = Splitter::new().tokens(max, overlap, count).split(&document);
        let mut covered = vec![false; document.text.len()];
        for passage in &passages {
            prop_assert_eq!(&passage.text, &document.text[passage.bytes.clone()]);
            let one = passage.text.chars().count() == 1;
            prop_assert!(one || count(&passage.text) <= max.max(1), "{:?}", passage.text);
            covered[passage.bytes.clone()].fill(true);
        }
        for (at, c) in document.text.char_indices() {
            prop_assert!(c.is_whitespace() || covered[at], "lost {c:?} at {at}");
        }
        for pair in passages.windows(2) {
            prop_assert!(pair[0].bytes.start < pair[1].bytes.start);
        }
    }
}

proptest! {
    // A failure is printed with its input; an integration test has no place to keep it.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passages_stand_in_the_document_and_cover_it(
        pieces in vec(piece(), 0..30),
        max in 0_usize..200,
        overlap in 0_usize..300,
        pages in vec(0_usize..400, 0..4),
    ) {
        let mut document = Document::new("a.md", pieces.concat());
        document.pages = pages.into_iter().filter(|at| document.text.is_char_boundary(*at)).collect();
        document.pages.retain(|at| *at <= document.text.len());
        document.pages.sort_unstable();
        document.pages.dedup();

        let passages = Splitter::new().max_chars(max).overlap_chars(overlap).split(&document);

        let mut covered = vec![false; document.text.len()];
        for (at, passage) in passages.iter().enumerate() {
            prop_assert_eq!(passage.ordinal, at);
            prop_assert_eq!(&passage.text, &document.text[passage.bytes.clone()]);
            prop_assert_eq!(passage.chars.start, document.text[..passage.bytes.start].chars().count());
            prop_assert_eq!(passage.chars.len(), passage.text.chars().count());
            prop_assert!(passage.chars.len() <= max.max(16));
            prop_assert!(!passage.text.trim().is_empty());
            prop_assert_eq!(passage.text.trim(), &passage.text);
            covered[passage.bytes.clone()].fill(true);
        }
        for (at, c) in document.text.char_indices() {
            prop_assert!(c.is_whitespace() || covered[at], "lost {c:?} at {at}");
        }
        for pair in passages.windows(2) {
            prop_assert!(pair[0].bytes.start < pair[1].bytes.start);
            prop_assert_ne!(&pair[0].id, &pair[1].id);
        }
    }
}

#[test]
fn structure_comes_before_size() {
    let text = "인사규정\n\n제1장 휴가\n\n제1조(연차) ① 연 15일이다.\n② 제1조에 따른다.\n\n제2조(병가)\n30일이다.\n\n제2장 급여\n";
    let document = Document::new("규정.txt", text);
    let passages = Splitter::new().split(&document);
    let got: Vec<_> = passages.iter().map(|p| (p.heading.as_str(), p.text.as_str())).collect();
    assert_eq!(
        got,
        [
            ("", "인사규정"),
            (
                "제1장 휴가 > 제1조(연차)",
                "제1장 휴가\n\n제1조(연차) ① 연 15일이다.\n② 제1조에 따른다."
            ),
            ("제1장 휴가 > 제2조(병가)", "제2조(병가)\n30일이다."),
            ("제2장 급여", "제2장 급여"),
        ]
    );
}

#[test]
fn a_list_is_no_row_of_headings_and_a_comment_in_code_none_either() {
    for (text, want) in [
        ("할 일\n\n1. 배포 준비\n2. 알림\n3. 회고\n", vec![""]),
        ("1. 목적\n\n이 문서는 약속이다.\n\n2. 범위\n\n모두이다.\n", vec!["1. 목적", "2. 범위"]),
        ("# 설치\n\n```sh\n# 받는다\nmake\n```\n", vec!["설치"]),
        ("인사규정\n======\n\n휴가\n---\n15일\n", vec!["인사규정 > 휴가"]),
        ("휴가\n---\n15일\n\n급여\n----\n25일\n", vec!["휴가", "급여"]),
        ("15일이다.\n끝이다.\n---\n", vec![""]),
        ("- 항목\n---\n| a | b |\n|---|---|\n", vec![""]),
        ("---\ntitle: 휴가\n---\n15일\n", vec![""]),
        ("```\n\n휴가\n---\n```\n", vec![""]),
        ("", vec![]),
        (" \n\t\n", vec![]),
    ] {
        let passages = Splitter::new().split(&Document::new("a.md", text));
        let headings: Vec<_> = passages.iter().map(|passage| passage.heading.as_str()).collect();
        assert_eq!(headings, want, "{text:?}");
    }
}

#[test]
fn a_long_section_is_cut_at_sentences_and_overlaps() {
    let text = "연차휴가는 근속년수에 따라 부여한다. ".repeat(20);
    let passages =
        Splitter::new().max_chars(100).overlap_chars(25).split(&Document::new("a", &text));
    assert!(passages.len() > 4);
    for pair in passages.windows(2) {
        assert!(pair[0].text.ends_with("부여한다."), "{}", pair[0].text);
        assert!(pair[1].text.starts_with("연차휴가는"), "{}", pair[1].text);
        assert!(pair[1].bytes.start < pair[0].bytes.end);
    }
}

/// A passage is as long as its limit lets it be, and a long text costs no more for each of its passages.
#[test]
fn by_tokens_passages_are_full_and_cheap() {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    let (asked, read) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counting = {
        let (asked, read) = (Arc::clone(&asked), Arc::clone(&read));
        move |text: &str| {
            asked.fetch_add(1, Ordering::Relaxed);
            read.fetch_add(text.len(), Ordering::Relaxed);
            text.split_whitespace().count()
        }
    };
    let text = "연차휴가는 근속년수에 따라 부여한다. ".repeat(5_000);
    let passages = Splitter::new().tokens(300, 20, counting).split(&Document::new("a", &text));
    assert!((70..=75).contains(&passages.len()), "{}", passages.len());
    for passage in &passages[..passages.len() - 1] {
        assert!((290..=300).contains(&passage.text.split_whitespace().count()));
    }
    for pair in passages.windows(2) {
        let repeated = &pair[0].text[pair[1].bytes.start - pair[0].bytes.start..];
        assert!((15..=20).contains(&repeated.split_whitespace().count()), "{repeated}");
    }
    let (asked, read) = (asked.load(Ordering::Relaxed), read.load(Ordering::Relaxed));
    println!("{asked} questions, {read} bytes for {} of text", text.len());
    assert!(asked < 40 * passages.len());
    assert!(read < 40 * text.len());
}

#[test]
fn an_id_outlives_changes_elsewhere() {
    let split = |text: &str| Splitter::new().split(&Document::new("a.md", text));
    let before = split("## 가\n하나\n\n## 나\n둘\n");
    let after = split("## 다\n셋\n\n## 가\n하나 하고 반\n\n## 나\n둘\n");
    assert_eq!(before[1].id, after[2].id);
    assert_ne!(before[0].id, after[1].id);
}
