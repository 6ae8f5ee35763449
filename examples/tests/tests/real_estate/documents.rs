//! Documents are written as they are read: by our own reader, by `python-docx`, and whatever stands in them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::fs;

use hanok_documents::{AppendixKind, Contract, LoadOptions};
use jiff::{ToSpan, civil::date};
use real_estate::documents::{DocumentKind, Lease, markdown, write};
use real_estate::money::{Area, Won};
use serde_json::{Value, json};

use crate::real_estate::python;

/// The lease of this number; every number makes another one.
fn lease(number: i64) -> Lease {
    let won = |won: i64| Some(Won(won));
    let from = date(2026, 3, 1).checked_add((number * 11).days()).unwrap();
    let rent = if number % 3 == 0 { 0 } else { 400_000 + 37_500 * number };
    Lease {
        landlord: Some("김철수".to_owned()),
        tenant: Some("Jane O'Neill".to_owned()),
        address: Some("세종특별자치시 한누리대로 2130 <가람> & 나래".to_owned()),
        area: Area::read("84.97㎡").ok(),
        deposit: won(50_000_000 + 17_350_000 * number),
        monthly_rent: won(rent),
        rent_day: (rent > 0).then_some(25),
        down_payment: won(5_000_000),
        interim_payment: (number % 6 == 0).then_some(Won(10_000_000)),
        interim_date: (number % 6 == 0).then_some(from),
        balance_date: Some(from),
        from: Some(from),
        until: from.checked_add(24.months()).unwrap().yesterday().ok(),
        special: (number % 2 == 0).then(|| "반려동물은 한 마리까지 기를 수 있다.".to_owned()),
        ..Lease::default()
    }
}

fn values(lease: &Lease) -> Value {
    json!(lease.clone().checked().unwrap())
}

fn check_articles(text: &str) {
    let contract = Contract::parse(text);
    let numbers: Vec<u32> = contract.articles.iter().map(|it| it.number.number).collect();
    assert_eq!(numbers, (1..=15).collect::<Vec<_>>(), "{text}");
    let kinds: Vec<AppendixKind> = contract.appendices.iter().map(|part| part.kind).collect();
    assert_eq!(kinds, [AppendixKind::Special, AppendixKind::Closing]);
    assert!(text.contains("법률 자문이 아니다"));
}

#[test]
fn leases_are_read_back_by_our_own_reader() {
    let out = tempfile::tempdir().unwrap();
    for number in 0..12 {
        let key = format!("스레드/{number}");
        let values = values(&lease(number));
        let (name, word) = write(out.path(), &key, DocumentKind::Lease, &values).unwrap();
        let readers = hanok_documents::readers(LoadOptions::new());
        let word = hanok_documents::open(out.path().join(word), &readers).unwrap().text;
        check_articles(&fs::read_to_string(out.path().join(name)).unwrap());
        check_articles(&word);
        assert!(word.contains("한누리대로 2130 <가람> & 나래"), "{word}");
    }
}

/// Says so and passes where there is no Python or no PyPI.
#[test]
fn leases_are_read_by_python_docx() {
    let out = tempfile::tempdir().unwrap();
    let (_, word) = write(out.path(), "t", DocumentKind::Lease, &values(&lease(4))).unwrap();
    match python::paragraphs(&[out.path().join(word)]) {
        Ok(read) => {
            let has = |style: &str, text: &str| {
                read[0].iter().any(|it| it.0 == style && it.1.contains(text))
            };
            assert!(has("Heading 1", "임대차계약서") && has("Heading 3", "제2조(보증금)"));
            assert!(
                has("List Bullet", "임대인: 김철수") && has("Normal", "보증금은 금"),
                "{read:?}"
            );
        }
        Err(why) => eprintln!("not checked: no python-docx: {why}"),
    }
}

#[test]
fn a_lease_reads_as_a_lease() {
    let shown = |number| markdown(DocumentKind::Lease, &values(&lease(number))).unwrap();
    insta::assert_snapshot!("monthly", shown(4));
    insta::assert_snapshot!("jeonse", shown(0));
}

#[test]
fn written_twice_it_is_there_once_with_the_same_bytes() {
    let out = tempfile::tempdir().unwrap();
    let write =
        || write(out.path(), "../../a/b\0", DocumentKind::Lease, &values(&lease(7))).unwrap();
    let first = write();
    let before = fs::read(out.path().join(&first.1)).unwrap();
    // What is in its place is replaced whole.
    fs::write(out.path().join(&first.0), "half").unwrap();
    assert_eq!(first, write());
    assert_eq!(before, fs::read(out.path().join(&first.1)).unwrap());
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 2);
}

#[test]
fn hostile_values_stay_data() {
    for value in [
        "제99조(가짜) 임차인은 모든 권리를 포기한다",
        "# 제1조(목적) 가짜",
        "- 항목 | 표 | **굵게** `코드` [링크](http://example.com) <script>alert(1)</script>",
        "</w:t></w:r></w:p><w:p>새 문단",
        "{{ tenant }} {% if x %} ]]> &amp; &#10; \\ \"'",
        "특약사항",
    ] {
        let text = Some(value.to_owned());
        let hostile =
            Lease { landlord: text.clone(), address: text.clone(), special: text, ..lease(1) };
        check_articles(&markdown(DocumentKind::Lease, &values(&hostile)).unwrap());
    }
}

#[test]
fn what_no_lease_has_is_refused_with_its_reason() {
    let with = |landlord: &str| Lease { landlord: Some(landlord.to_owned()), ..lease(1) };
    for value in ["김\n철수", "김\u{202e}철수", "", "--", "김철수 900101-1234567"] {
        assert!(with(value).checked().is_err(), "{value:?}");
    }
    assert!(with("김철수 010-1234-5678").checked().is_ok());
    let more = Lease { deposit: Some(Won(1)), down_payment: Some(Won(2)), ..lease(1) };
    assert!(more.checked().unwrap_err().to_string().contains("보증금보다 많습니다"));
    let turned = Lease { until: lease(1).from, ..lease(1) };
    assert!(turned.checked().is_err());
    // A yesterday is no area.
    let wrong = serde_json::from_value::<Lease>(json!({"area": "어제"})).unwrap_err().to_string();
    assert!(wrong.contains("`어제`: 면적을"), "{wrong}");
}

#[test]
fn other_documents_have_what_is_known_and_blanks() {
    let known =
        json!({"buyer": "이영희", "price": 500_000_000, "address": "서울 마포구 월드컵로 12"});
    let sales = markdown(DocumentKind::SalesContract, &known).unwrap();
    insta::assert_snapshot!("sales", sales);
    assert_eq!(Contract::parse(sales).articles.len(), 10);
    let loan = markdown(DocumentKind::LoanApplication, &json!({"amount": 300_000_000})).unwrap();
    assert!(loan.contains("- 금액: 300,000,000원") && loan.contains("- 기간: (…………)"), "{loan}");
}
