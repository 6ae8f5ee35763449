//! The program as a newcomer uses it, on the offline model: samples, files of all kinds, conversations, odd input.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{fs, io::Write, path::PathBuf, process::Stdio};

use example_tests::program::{Said, command, said};
use serde_json::Value;

fn run(arguments: &[&str]) -> Said {
    said(command("contract", arguments).output().unwrap())
}

fn lease() -> String {
    format!("{}/../contract/contracts/임대차계약서.docx", env!("CARGO_MANIFEST_DIR"))
}

/// A file of this content that is gone with its folder.
fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path: PathBuf = dir.path().join(name);
    fs::write(&path, content).unwrap();
    (dir, path.to_str().unwrap().to_owned())
}

#[test]
fn an_article_of_the_sample_is_answered_with_its_name() {
    let said = run(&["제5조 내용이 뭐야?"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("제5조"), "{}", said.out);
    assert!(said.err.contains("오프라인 모델") && said.err.contains("계약서:"), "{}", said.err);
    assert!(said.err.contains("표준"), "{}", said.err);
}

#[test]
fn a_contract_of_word_is_read_and_compared() {
    let said = run(&["--contract", &lease(), "차임 조항을 표준계약서와 비교해줘"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("계약서 제") && said.out.contains("표준계약서 제"), "{}", said.out);
}

#[test]
fn a_conversation_goes_on_in_another_process() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("t.db");
    let db = db.to_str().unwrap();
    let first = run(&["--db", db, "--thread", "t", "제5조 내용이 뭐야?"]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    let then = run(&["--db", db, "--thread", "t", "--trace", "그럼 비밀유지는?"]);
    assert!(then.err.contains("앞의 대화를 봅니다"), "{}", then.err);
    assert!(then.out.contains("제19조"), "{}", then.out);
}

#[test]
fn questions_are_read_from_a_pipe_and_commands_are_done() {
    let mut child = command("contract", &[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = "/help\n/articles\n제99조 알려줘\n오늘 날씨 어때?\n제5조는?\n/sources\n/history\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let said = said(child.wait_with_output().unwrap());
    for want in [
        "/sources",
        "제1조(",
        "제99조는 이 계약서에 없습니다",
        "이 계약서에 관한 질문에만",
        "[계약서] 제5조",
    ] {
        assert!(said.out.contains(want), "{want}\n{}", said.out);
    }
}

#[test]
fn programs_are_told_every_event_as_json() {
    let said = run(&["--json", "대금 지급을 표준계약서와 비교해줘"]);
    let events: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut names: Vec<&str> =
        events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    names.retain(|name| !name.starts_with("task_") && *name != "progress");
    names.dedup();
    assert_eq!(
        names,
        [
            "scope",
            "previous_context",
            "planning",
            "token",
            "tool_selected",
            "tool_finished",
            "evaluation_result",
            "generating",
            "token",
            "sources",
            "ended",
            "answer"
        ]
    );
    let sources = events.iter().find(|event| event["event"] == "sources").unwrap();
    assert_eq!(sources["node"], "respond");
    let origins: Vec<&str> = sources["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["origin"].as_str().unwrap())
        .collect();
    assert!(origins.contains(&"contract") && origins.contains(&"standard"), "{origins:?}");
    let written: String = events
        .iter()
        .filter(|event| event["event"] == "token" && event["answer"] == true)
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    let answer = events.last().unwrap()["text"].as_str().unwrap();
    assert_eq!(written.trim(), answer.trim(), "the tokens are the answer");
}

#[test]
fn the_graph_is_drawn_as_the_documents_draw_it() {
    insta::assert_snapshot!(run(&["--graph"]).out);
}

#[test]
fn what_cannot_be_read_is_said_in_plain_words() {
    let big = "제1조(목적) 아주 긴 계약이다.\n".repeat(1_300_000);
    let scan = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\nxref\n0 4\n0000000000 65535 f \n0000000009 00000 n \n\
        0000000053 00000 n \n0000000101 00000 n \ntrailer<</Size 4/Root 1 0 R>>\nstartxref\n161\n%%EOF\n";
    let files: [(&str, &[u8], &str); 7] = [
        ("크다.txt", big.as_bytes(), "보다 큽니다"),
        ("스캔.pdf", scan, "글자를 인식"),
        ("가짜.docx", b"PK\x03\x04 nothing", "깨졌습니다"),
        ("빈.md", b"  \n", "글자가 없습니다"),
        ("그림.jpg", &[0xFF, 0xD8], "읽을 수 있는 것은"),
        ("옛날.hwp", b"HWP", ".hwpx"),
        ("깨진.txt", &[0xFF, 0xFE, 0x00, 0xD8], "UTF-8"),
    ];
    for (name, content, want) in files {
        let (_dir, path) = file(name, content);
        let said = run(&["--contract", &path, "제1조는?"]);
        assert_eq!(said.code, Some(1), "{name}: {} {}", said.out, said.err);
        assert!(
            said.err.contains("계약서를 읽을 수 없습니다") && said.err.contains(want),
            "{name}: {}",
            said.err
        );
        assert!(said.err.contains(name) && said.out.is_empty(), "{name}: {}", said.err);
    }
    let gone = run(&["--contract", "/no/such/file.md", "제1조는?"]);
    assert!(gone.code == Some(1) && gone.err.contains("계약서를 읽을 수 없습니다"), "{}", gone.err);
    let gone = run(&["--dictionary", "/no/such", "제1조는?"]);
    assert!(gone.code == Some(1) && gone.err.contains("사전을 읽을 수 없습니다"), "{}", gone.err);
}

#[test]
fn a_contract_without_articles_is_searched_all_the_same() {
    let (_dir, path) = file("메모.txt", "합의서\n\n대여금 300만원은 2027년 3월 31일까지 갚기로 한다. 이자는 없다.\n두 사람은 서로 다른 청구를 하지 않는다.\n".as_bytes());
    let said = run(&["--contract", &path, "대여금은 언제까지 갚기로 했어?"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("3월 31일"), "{}", said.out);
    let none = run(&["--contract", &path, "제3조는?"]);
    assert!(none.out.contains("제3조는 이 계약서에 없습니다"), "{}", none.out);
}
