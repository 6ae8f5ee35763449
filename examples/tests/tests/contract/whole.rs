//! What is compared as a whole, everyday words, greetings, and which standard contract it is compared with, on the
//! offline model.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{fs, path::Path};

use clap::Parser;
use contract::{Book, ContractState, Expert, Options};
use hanok_model::SharedModel;
use kit::OfflineModel;

use crate::contract::support::Talk;

fn sample(name: &str) -> String {
    format!("{}/../contract/contracts/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn options(contract: &str, more: &[&str]) -> Options {
    Options::parse_from(["contract", "--contract", contract].iter().chain(more))
}

async fn asked(contract: &str, question: &str) -> ContractState {
    let options = options(contract, &[]);
    let book = Book::open(&options).await.unwrap();
    let expert = Expert::new(SharedModel::new(OfflineModel::new()), book, &options).unwrap();
    Talk::with(expert).ask(question).await.state
}

#[tokio::test]
async fn what_the_example_suggests_it_can_do() {
    let (service, lease) = (sample("용역계약서.md"), sample("임대차계약서.docx"));
    for (contract, question, facts) in [
        (
            &service,
            "표준계약서와 뭐가 달라?",
            &[
                "표준계약서 제9조(용역대금) ↔ 이 계약서 제11조(용역대금), 제12조(대금의 지급)",
                "1,000분의 1.5",
                "표준계약서에만 있는 조",
            ][..],
        ),
        (
            &lease,
            "표준이랑 비교해서 을한테 불리한 조항이 뭐야?",
            &["숫자가 다른 조", "제7조의2(반려동물)"],
        ),
        (&lease, "보증금 반환은 언제 해?", &["제19조"]),
        (&lease, "보증금 반환은 표준이랑 달라?", &["제19조", "표준계약서"]),
    ] {
        let state = asked(contract, question).await;
        let answer = state.answer.unwrap();
        // The offline model quotes the beginning of a long comparison; a language model has all of it.
        let known = state.sources.iter().map(|it| it.text.as_str()).chain([answer.as_str()]);
        let known = known.collect::<Vec<_>>().join("\n");
        for fact in facts {
            assert!(known.contains(fact), "{question} lacks {fact}: {answer}");
        }
        assert!(!answer.contains("찾지 못했습니다"), "{question}: {answer}");
    }
}

/// Everyday words are no reason to refuse a question, and whoever greets is told what can be asked.
#[tokio::test]
async fn only_what_is_about_something_else_is_refused() {
    let (service, lease) = (sample("용역계약서.md"), sample("임대차계약서.docx"));
    for (contract, question, refused) in [
        (&service, "하청 줘도 돼?", false),
        (&service, "재판은 어디서 해?", false),
        (&lease, "강아지 키워도 돼?", false),
        (&lease, "집세는 얼마까지 올릴 수 있어?", false),
        (&lease, "벽에 못 박아도 돼?", false),
        (&lease, "복비는 누가 내?", false),
        (&lease, "What is the deposit?", false),
        (&lease, "안녕하세요", true),
        (&lease, "오늘 날씨 어때?", true),
        (&lease, "하이킹 코스 추천해줘", true),
    ] {
        let answer = asked(contract, question).await.answer.unwrap();
        assert_eq!(answer.contains("질문에만 답할 수 있습니다"), refused, "{question}: {answer}");
    }
    let greeted = asked(&lease, "안녕하세요").await.answer.unwrap();
    assert!(greeted.contains("해지는 어떻게 해?"), "{greeted}");
}

/// A contract of another kind has titles that every contract has; it is compared with none, and that is said.
#[tokio::test]
async fn a_standard_contract_of_another_kind_is_not_compared_with() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("근로계약서.md");
    let titles = [
        "계약기간",
        "근무 장소와 업무",
        "근로시간",
        "임금",
        "휴일과 휴가",
        "사회보험",
        "손해배상",
        "비밀유지",
    ];
    let articles =
        (1..).zip(titles).map(|(number, title)| format!("제{number}조({title}) 정한다.\n"));
    fs::write(&path, format!("# 근로계약서\n\n{}", articles.collect::<String>())).unwrap();
    let about = async |path: &Path| {
        Book::open(&options(path.to_str().unwrap(), &[])).await.unwrap().about()
    };
    let other = about(&path).await;
    assert!(other.contains("비슷한 종류의 표준이 없습니다"), "{other}");
    assert!(about(Path::new(&sample("용역계약서.md"))).await.contains("용역계약서"));
    let lease = about(Path::new(&sample("임대차계약서.docx"))).await;
    assert!(lease.ends_with("임대차계약서"), "{lease}");
}
