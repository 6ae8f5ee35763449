//! Documents are written as they are read: by our own reader, by `python-docx`, and whatever stands in them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{collections::BTreeMap, fs, io::Cursor, path::Path};

use hanok_documents::LoadOptions;
use hanok_documents::{AppendixKind, Contract};
use real_estate::documents::{
    BlockKind, DocumentKind, Field, FileError, LeaseError, LeaseTerms, TermsError, draft,
    file_stem, form, lease, missing, write,
};

use crate::real_estate::leases::terms;
use crate::real_estate::python;

const TITLES: [&str; 15] = [
    "제1조(목적)",
    "제2조(보증금)",
    "제3조(차임)",
    "제4조(임대차 기간)",
    "제5조(주택의 인도와 대항력)",
    "제6조(권리의 유지와 정보의 제시)",
    "제7조(수선)",
    "제8조(사용과 전대)",
    "제9조(차임과 보증금의 증감)",
    "제10조(갱신)",
    "제11조(해지)",
    "제12조(보증금의 반환과 주택의 반환)",
    "제13조(계약의 해제)",
    "제14조(중개)",
    "제15조(법의 적용)",
];

fn read(path: &Path) -> String {
    hanok_documents::open(path, &hanok_documents::readers(LoadOptions::new())).unwrap().text
}

/// Markdown without its escapes, as a page of Word says it.
fn unescaped(markdown: &str) -> String {
    let mut text = String::new();
    let mut chars = markdown.chars();
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    text.replace("&amp;", "&")
}

fn check_articles(text: &str) {
    let contract = Contract::parse(text);
    let labels: Vec<String> = contract.articles.iter().map(|article| article.label()).collect();
    assert_eq!(labels, TITLES);
    assert_eq!(contract.notes, []);
    let kinds: Vec<AppendixKind> = contract.appendices.iter().map(|part| part.kind).collect();
    assert_eq!(kinds, [AppendixKind::Special, AppendixKind::Closing]);
    assert!(text.contains("법률 자문이 아니다"));
}

#[test]
fn thirty_leases_are_read_back_by_our_own_reader() {
    let out = tempfile::tempdir().unwrap();
    for number in 0..30 {
        let page = lease(&terms(number)).unwrap();
        let files = write(out.path(), &file_stem("t", number as u64), &page).unwrap();
        let (markdown, word) = (read(&files.markdown), read(&files.docx));
        assert_eq!(unescaped(&markdown), word, "{number}");
        check_articles(&markdown);
        check_articles(&word);
        let terms = terms(number);
        for value in
            [terms.landlord, terms.address, terms.special.last().cloned()].into_iter().flatten()
        {
            assert!(word.contains(&value), "{value}");
        }
    }
}

/// Says so and passes where there is no Python or no PyPI.
#[test]
fn thirty_leases_are_read_by_python_docx() {
    let out = tempfile::tempdir().unwrap();
    let pages: Vec<_> = (0..30).map(|number| lease(&terms(number)).unwrap()).collect();
    let files: Vec<_> = pages
        .iter()
        .zip(0..)
        .map(|page| write(out.path(), &file_stem("t", page.1), page.0).unwrap().docx)
        .collect();
    let read = match python::paragraphs(&files) {
        Ok(read) => read,
        Err(why) => return eprintln!("not checked: no python-docx: {why}"),
    };
    assert_eq!(read.len(), pages.len());
    for (page, paragraphs) in pages.iter().zip(read) {
        let want: Vec<(String, String)> = page
            .blocks
            .iter()
            .map(|block| {
                let style = match block.kind {
                    BlockKind::Heading(rank) => format!("Heading {rank}"),
                    BlockKind::Item => "List Bullet".to_owned(),
                    BlockKind::Paragraph => "Normal".to_owned(),
                };
                (style, block.text.clone())
            })
            .collect();
        assert_eq!(paragraphs, want);
    }
}

#[test]
fn a_lease_reads_as_a_lease() {
    insta::assert_snapshot!("monthly", lease(&terms(4)).unwrap().markdown());
    insta::assert_snapshot!("jeonse", lease(&terms(0)).unwrap().markdown());
}

#[test]
fn written_twice_it_is_there_once_with_the_same_bytes() {
    let out = tempfile::tempdir().unwrap();
    let page = lease(&terms(7)).unwrap();
    let first = write(out.path(), &file_stem("스레드/1", 2), &page).unwrap();
    let before = fs::read(&first.docx).unwrap();
    let second = write(out.path(), &file_stem("스레드/1", 2), &page).unwrap();
    assert_eq!((first.clone(), before), (second, fs::read(&first.docx).unwrap()));
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 2);
    // Something else in its place is replaced whole.
    fs::write(&first.markdown, "half").unwrap();
    write(out.path(), &file_stem("스레드/1", 2), &page).unwrap();
    assert_eq!(fs::read_to_string(&first.markdown).unwrap(), page.markdown());
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 2);
}

#[test]
fn nothing_of_the_time_or_the_machine_is_in_a_document() {
    let bytes = lease(&terms(7)).unwrap().docx().unwrap();
    assert_eq!(bytes, lease(&terms(7)).unwrap().docx().unwrap());
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    for at in 0..archive.len() {
        let part = archive.by_index(at).unwrap();
        assert_eq!(part.last_modified(), Some(zip::DateTime::default()), "{:?}", part.name());
        assert_eq!((part.comment(), part.extra_data()), ("", None), "{:?}", part.name());
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_document_is_replaced_and_not_followed() {
    let out = tempfile::tempdir().unwrap();
    let victim = out.path().join("victim");
    fs::write(&victim, "untouched").unwrap();
    std::os::unix::fs::symlink(&victim, out.path().join("t.1.md")).unwrap();
    let page = lease(&terms(1)).unwrap();
    let files = write(out.path(), &file_stem("t", 1), &page).unwrap();
    assert_eq!(fs::read_to_string(victim).unwrap(), "untouched");
    assert!(fs::symlink_metadata(files.markdown).unwrap().is_file());
}

#[test]
fn a_name_that_leads_out_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let page = lease(&terms(1)).unwrap();
    for stem in ["../t.1", "/etc/passwd.1", "t", "", "a/b.1", "A.1"] {
        assert!(matches!(write(out.path(), stem, &page), Err(FileError::Name { .. })), "{stem}");
    }
    let file = out.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(write(&file, "t.1", &page), Err(FileError::Io { .. })));
}

#[test]
fn hostile_values_stay_data() {
    let out = tempfile::tempdir().unwrap();
    for (number, value) in [
        "제99조(가짜) 임차인은 모든 권리를 포기한다",
        "# 제1조(목적) 가짜",
        "- 항목 | 표 | **굵게** `코드` [링크](http://example.com) <script>alert(1)</script>",
        "</w:t></w:r></w:p><w:p>새 문단",
        "{{tenant}} {{*special}} ]]> &amp; &#10; \\ \"'",
        "../../etc/passwd",
        "특약사항",
        "이 계약을 증명하기 위하여",
        "1. 번호 ① 동그라미 2) 괄호",
    ]
    .into_iter()
    .enumerate()
    {
        let hostile = LeaseTerms {
            landlord: Some(value.to_owned()),
            tenant_address: Some(value.to_owned()),
            address: Some(value.to_owned()),
            broker: Some(value.to_owned()),
            special: vec![value.to_owned(), format!("{value}\u{a0}  끝")],
            ..terms(1)
        };
        let page = lease(&hostile).unwrap();
        let files = write(out.path(), &file_stem("h", number as u64), &page).unwrap();
        let (markdown, word) = (read(&files.markdown), read(&files.docx));
        assert_eq!(unescaped(&markdown), word, "{value}");
        assert!(word.contains(value), "{word}");
        check_articles(&markdown);
        check_articles(&word);
    }
}

#[test]
fn what_no_line_has_is_refused_with_its_reason() {
    let with = |value: &str| LeaseTerms { landlord: Some(value.to_owned()), ..terms(1) };
    let refused = |terms: &LeaseTerms| match lease(terms) {
        Err(LeaseError::Terms(error)) => error,
        other => panic!("{other:?}"),
    };
    let name = "임대인의 이름";
    for character in ['\n', '\0', '\u{1b}', '\u{202e}', '\u{200b}', '\u{feff}', '\u{ffff}', '\t'] {
        let code = u32::from(character);
        assert_eq!(
            refused(&with(&format!("김{character}철수"))),
            TermsError::Character { name, code }
        );
    }
    assert_eq!(refused(&with(&"가".repeat(1 << 20))), TermsError::TooLong { name, most: 200 });
    for blank in ["", "  ", "--"] {
        assert_eq!(refused(&with(blank)), TermsError::Empty { name });
    }
    for value in ["김철수 900101-1234567", "9001011234567", "900101 8234567번"] {
        assert_eq!(refused(&with(value)), TermsError::ResidentNumber { name }, "{value}");
    }
    for value in ["김철수 010-1234-5678", "계좌 110-123-456789", "90010112345678", "991301-1234567"]
    {
        assert!(lease(&with(value)).is_ok(), "{value}");
    }
    let clause = LeaseTerms { special: vec!["가".repeat(1_001)], ..terms(1) };
    assert_eq!(refused(&clause), TermsError::TooLong { name: "특약", most: 1_000 });
    let clauses = LeaseTerms { special: vec!["가".to_owned(); 31], ..terms(1) };
    assert_eq!(refused(&clauses), TermsError::TooMany { most: 30 });
    let negative = LeaseTerms { deposit: Some(-1), down_payment: Some(0), ..terms(1) };
    assert_eq!(refused(&negative), TermsError::Amount { name: "보증금", amount: -1 });
    let more = LeaseTerms { deposit: Some(1), down_payment: Some(2), ..terms(1) };
    assert_eq!(refused(&more), TermsError::Parts { paid: 2, deposit: 1 });
    let turned = LeaseTerms { until: terms(1).from, ..terms(1) };
    assert!(matches!(refused(&turned), TermsError::Period { .. }));
    let day = LeaseTerms { rent_day: Some(32), ..terms(1) };
    assert_eq!(refused(&day), TermsError::RentDay { day: 32 });
}

#[test]
fn what_is_missing_is_asked_for_and_nothing_else() {
    let none = LeaseTerms::default();
    // Without a rent or an interim payment nobody is asked for its day.
    let is_needed = |field: &Field| !matches!(field, Field::RentDay | Field::InterimDate);
    let all: Vec<Field> = Field::ALL.into_iter().filter(is_needed).collect();
    assert_eq!(missing(&none), all);
    let some = LeaseTerms { area: None, rent_day: None, until: None, ..terms(1) };
    let fields = missing(&some);
    assert_eq!(fields, [Field::Area, Field::RentDay, Field::Until]);
    insta::assert_json_snapshot!("form", form(&fields));
    assert!(matches!(lease(&some), Err(LeaseError::Missing { fields: named }) if named == fields));

    let answer = serde_json::json!({"area": "84.97㎡", "rent_day": 25, "until": "2028년 3월 11일"});
    let filled = some.clone().filled(&answer).unwrap();
    assert_eq!(missing(&filled), []);
    assert!(lease(&filled).is_ok());
    for (wrong, reason) in [
        (serde_json::json!({"area": "84.97㎡", "rent": 1}), "unknown field `rent`"),
        (serde_json::json!({"until": "모레"}), "날짜가 아닙니다"),
        (serde_json::json!({"deposit": "많이"}), "금액을 알아듣지 못했습니다"),
        (serde_json::json!({"deposit": 1.5}), "금액은 원 단위의 정수"),
        (serde_json::json!({"tenant": "\u{0}"}), "쓸 수 없는 글자(U+0000)"),
        (serde_json::json!("x"), "읽지 못했습니다"),
    ] {
        let error = some.clone().filled(&wrong).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn drafts_of_other_documents_have_blanks_for_what_nobody_stated() {
    let stated = BTreeMap::from([
        ("buyer".to_owned(), "이영희".to_owned()),
        ("price".to_owned(), "5억원 # 제1조".to_owned()),
    ]);
    let page = draft(DocumentKind::Sales, &stated).unwrap();
    insta::assert_snapshot!("sales", page.markdown());
    let contract = Contract::parse(page.markdown());
    assert_eq!(contract.articles.len(), 10);
    let loan = draft(DocumentKind::LoanApplication, &BTreeMap::new()).unwrap().markdown();
    assert!(loan.contains("- 금액: (…………)") && loan.contains("법률 자문이나 금융 자문이 아니다"));
    let error = draft(DocumentKind::LoanApplication, &stated).unwrap_err();
    assert!(error.to_string().starts_with("이 문서에는 `buyer` 칸이 없습니다"), "{error}");
    let control = BTreeMap::from([("buyer".to_owned(), "a\nb".to_owned())]);
    assert!(matches!(draft(DocumentKind::Sales, &control), Err(LeaseError::Terms(_))));
}
