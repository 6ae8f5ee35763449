//! Documents as people have them: Word, Hangul and HTML, whole, damaged and hostile.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use crate::options;
use hanok_documents::{Library, LoadOptions, SkipReason};
use hanok_retrieval::Document;

use crate::samples::{docx, html, hwpx, packed, unpacked};

/// What is read of one file.
fn read_with(options: LoadOptions, name: &str, bytes: &[u8]) -> Result<Document, SkipReason> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    let library = Library::open(options, folder.path()).unwrap();
    match library.report().skipped.first() {
        Some(skipped) => Err(skipped.reason.clone()),
        None => Ok(library.documents().next().unwrap().clone()),
    }
}

fn read(name: &str, bytes: &[u8]) -> Result<Document, SkipReason> {
    read_with(options(), name, bytes)
}

fn text(name: &str, bytes: &[u8]) -> String {
    read(name, bytes).unwrap().text
}

#[test]
fn of_a_word_document_headings_lists_tables_and_notes_are_read() {
    let want = "\
# 인사규정

## 제12조(연차휴가)

1년 이상 근속자는 연 15일이다. & 그 밖은 <별표>\u{201c}1\u{201d}에 따른다[^1].

[^1]: 근로기준법 제60조.

- 신청은 3일 전에
  - 반차는 당일
- 승인은 팀장이

| 근속 | 일수 |
| 1년 | 15일 |
| 3년 | 16일 이월 가능 |

둘째 줄이
여기서 바뀐다.\t끝-말

### 제13조(병가)

상자 안의 글

삽입된 글이다.
";
    let document = read("a.docx", &docx()).unwrap();
    assert_eq!(document.text, want);
    assert_eq!(document.title, "인사규정");
}

#[test]
fn of_a_hangul_document_headings_lists_tables_and_notes_are_read() {
    let want = "\
# 인사규정

## 제12조(연차휴가)

1년 이상 근속자는 연 15일이다[^1]. A & B

[^1]: 근로기준법 제60조.

- 신청은 3일 전에
  - 반차는 당일

| 근속 | 일수 |
| 1년 | 15일 |

틀 안의 글은
표가 아니다.

### 제13조(병가)

첫째\t줄
둘째 줄

둘째 구역이다.

열째 구역이다.
";
    assert_eq!(text("a.hwpx", &hwpx()), want);
}

#[test]
fn of_a_page_what_a_reader_sees_is_read() {
    let want = "\
# 인사규정

소개 글은 굵게 쓴 말과 링크를 담는다. 5 < 6 & 7

## 제12조(연차휴가)

- 신청은 3일 전에
  - 반차는 당일
- 승인은 팀장이

| 근속 | 일수 |
| 1년 | 15일 |

첫 줄
  둘째 줄

끝.
";
    let document = read("a.html", html().as_bytes()).unwrap();
    assert_eq!(document.text, want);
    assert_eq!(document.title, "인사규정");
    let untitled = read("b.htm", b"<title> A\n page </title><p>text").unwrap();
    assert_eq!((&*untitled.title, &*untitled.text), ("A page", "text\n"));
    let odd = "<p>a&#1;b&#x1100;&#x1161;";
    assert_eq!(text("d.html", odd.as_bytes()), "a b가\n");
    let korean = [0xBF, 0xAC, 0xC2, 0xF7];
    assert_eq!(text("c.html", &korean), "연차\n");
}

/// The splitter cuts each of them at its articles.
#[test]
fn articles_are_found_in_every_kind() {
    for (name, bytes) in [("a.docx", docx()), ("a.hwpx", hwpx()), ("a.html", html().into_bytes())] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), bytes).unwrap();
        let library = Library::open(options(), folder.path()).unwrap();
        let hits = library.search("연차휴가 15일", 1);
        assert_eq!(hits[0].passage.heading, "인사규정 > 제12조(연차휴가)", "{name}");
    }
}

#[test]
fn what_cannot_be_read_says_what_to_do() {
    let compound = [&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1][..], &[0; 600]].concat();
    let manifest = "<odf:manifest xmlns:odf=\"x\"><odf:encryption-data/></odf:manifest>";
    for (name, bytes, want) in [
        ("a.hwp", compound.clone(), SkipReason::OldFormat { instead: ".hwpx" }),
        ("a.DOC", compound.clone(), SkipReason::OldFormat { instead: ".docx" }),
        ("a.docx", compound.clone(), SkipReason::Encrypted),
        ("a.hwpx", packed(&[("META-INF/manifest.xml", manifest)]), SkipReason::Encrypted),
        ("b.hwpx", compound, SkipReason::Encrypted),
        ("a.html", b"<script>x</script><p> </p>".to_vec(), SkipReason::Empty),
    ] {
        assert_eq!(read(name, &bytes), Err(want), "{name}");
    }
    for (name, bytes, detail) in [
        ("a.docx", b"no zip at all".to_vec(), ""),
        ("b.docx", Vec::new(), ""),
        ("c.docx", packed(&[("word/styles.xml", "<a/>")]), "no part `word/document.xml`"),
        ("d.docx", packed(&[("word/document.xml", "<a><b></a>")]), ""),
        ("e.docx", packed(&[("word/document.xml", "<a><b>")]), "markup breaks off"),
        ("a.hwpx", packed(&[("mimetype", "application/hwp+zip")]), "no section"),
    ] {
        match read(name, &bytes) {
            Err(SkipReason::Damaged { detail: told }) => assert!(told.contains(detail), "{told}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// No entity is ever expanded, and a document type is refused.
#[test]
fn entities_are_never_expanded() {
    let laughs: String = (1..12)
        .map(|n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10)))
        .collect();
    let bomb = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY l0 \"lol\">{laughs}<!ENTITY f SYSTEM \"file:///etc/passwd\">]><x><p><t>&l11;&f;</t></p></x>"
    );
    let typed = |detail: &str| Err(SkipReason::Damaged { detail: detail.to_owned() });
    for (name, part) in [("a.docx", "word/document.xml"), ("a.hwpx", "Contents/section0.xml")] {
        assert_eq!(read(name, &packed(&[(part, &bomb)])), typed("a document type"), "{name}");
        let undeclared = "<x><p><t>a&l11;&f;b&#xAC00;&#0;&#x110000;&lt;</t></p></x>";
        assert_eq!(text(name, &packed(&[(part, undeclared)])), "ab가<\n", "{name}");
    }
    let html = "<!DOCTYPE x [<!ENTITY l \"lol\">]><p>a&l;b&#xAC00;";
    assert_eq!(text("a.html", html.as_bytes()), "]>\n\na&l;b가\n");
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let body = |text: &str| format!("<x><p><t>{text}</t></p></x>");
    let part = |xml: &str| packed(&[("word/document.xml", xml)]);
    let spaces = part(&body(&" ".repeat(8_000_000)));
    assert!(spaces.len() < 100_000, "{}", spaces.len());
    assert!(
        matches!(read("a.docx", &spaces), Err(SkipReason::Expands { limit }) if limit < 4_000_000)
    );
    let small = options().max_unpacked_bytes(10_000);
    let long = part(&body(&"연차휴가 ".repeat(1_000)));
    assert_eq!(
        read_with(small.clone(), "a.docx", &long),
        Err(SkipReason::Expands { limit: 10_000 })
    );
    // Parts that are not read cost nothing; those that are, add up.
    let pictures =
        packed(&[("word/document.xml", body("휴가")), ("word/media/a.png", "x".repeat(1_000_000))]);
    assert_eq!(read_with(small.clone(), "a.docx", &pictures).unwrap().text, "휴가\n");
    let half = body(&"a ".repeat(3_000));
    let halves = packed(&[("Contents/section0.xml", &half), ("Contents/section1.xml", &half)]);
    assert_eq!(read_with(small, "a.hwpx", &halves), Err(SkipReason::Expands { limit: 10_000 }));

    let names: Vec<String> = (0..10_001).map(|n| format!("{n}")).collect();
    let parts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    assert_eq!(read("a.docx", &packed(&parts)), Err(SkipReason::TooManyParts { limit: 10_000 }));

    let deep = format!("{}{}", "<a>".repeat(300), "</a>".repeat(300));
    assert_eq!(read("a.docx", &part(&deep)), Err(SkipReason::TooNested { limit: 256 }));
    let tables = format!("{}{}", "<tbl><tr><tc>".repeat(70), "</tc></tr></tbl>".repeat(70));
    assert_eq!(read("a.docx", &part(&tables)), Err(SkipReason::TooNested { limit: 64 }));
    let deep = "<div>".repeat(100_000);
    assert_eq!(read("a.html", deep.as_bytes()), Err(SkipReason::Empty));
    let tables = "<table><tr><td>".repeat(1_000);
    assert_eq!(read("a.html", tables.as_bytes()), Err(SkipReason::TooNested { limit: 64 }));
}

#[test]
fn no_decoder_takes_longer_than_allowed() {
    let long = "<p>연차휴가 <b>규정</b></p>".repeat(400_000);
    let sections = packed(&[("Contents/section0.xml", &format!("<x>{long}</x>"))]);
    let slow = Duration::from_millis(1);
    let options = options().max_decode_time(slow).max_file_bytes(u64::MAX);
    for (name, bytes) in [("a.html", long.into_bytes()), ("a.hwpx", sections)] {
        let began = Instant::now();
        assert_eq!(
            read_with(options.clone(), name, &bytes),
            Err(SkipReason::TooSlow { limit: slow }),
            "{name}"
        );
        println!("{name}: {:?}", began.elapsed());
    }
}

/// Writes copies of `bytes` in which every so many bytes one is flipped, or that end there. `whole` makes a file of one.
fn damage(folder: &Path, name: &str, bytes: &[u8], whole: impl Fn(&[u8]) -> Vec<u8>) -> usize {
    let (mut copies, step) = (0, (bytes.len() / 100).max(1));
    for at in (0..bytes.len()).step_by(step) {
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 1 << (at % 8);
        fs::write(folder.join(format!("f{at}{name}")), whole(&flipped)).unwrap();
        fs::write(folder.join(format!("t{at}{name}")), whole(&bytes[..at])).unwrap();
        copies += 2;
    }
    copies
}

/// All copies below `folder` are text or a reason, and so many are text.
fn read_damaged(folder: &Path, copies: usize) -> usize {
    let library = Library::open(options(), folder).unwrap();
    let report = library.report();
    assert_eq!(report.documents + report.skipped.len(), copies);
    for skipped in &report.skipped {
        assert!(!skipped.reason.to_string().contains("panicked"), "{skipped}");
    }
    report.documents
}

#[test]
fn damaged_copies_are_text_or_a_reason_and_never_a_panic() {
    for (name, bytes) in [("a.docx", docx()), ("a.hwpx", hwpx()), ("a.html", html().into_bytes())] {
        let folder = tempfile::tempdir().unwrap();
        let copies = damage(folder.path(), name, &bytes, <[u8]>::to_vec);
        let read = read_damaged(folder.path(), copies);
        println!("{name}: {read} of {copies} copies read");
    }
}

/// The archive is whole and its markup is not.
#[test]
fn damaged_parts_are_text_or_a_reason_and_never_a_panic() {
    for (name, archive) in [("a.docx", docx()), ("a.hwpx", hwpx())] {
        let parts = unpacked(&archive);
        let all: Vec<(&str, &[u8])> = parts.iter().map(|(name, part)| (&**name, &**part)).collect();
        // The first part says what the archive is.
        for at in 1..4 {
            let folder = tempfile::tempdir().unwrap();
            let part = all[at].1;
            let whole = |new: &[u8]| {
                let with = |(index, (name, part))| (name, if index == at { new } else { part });
                packed(&all.iter().copied().enumerate().map(with).collect::<Vec<_>>())
            };
            let copies = damage(folder.path(), name, part, whole);
            let read = read_damaged(folder.path(), copies);
            println!("{name}, part {at}: {read} of {copies} copies read");
            assert!(read > copies / 10, "damage never meets text");
        }
    }
}
