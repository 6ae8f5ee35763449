//! The program with a person at its terminal.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{path::Path, process::Command};

use orchestrator::sample;
use terminal::program::{Watched, command};

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut program = command("orchestrator", arguments);
    program.env(sample::NOW, "2026-11-26T01:00:00Z").env(sample::REPORT_MILLIS, "0");
    program.current_dir(folder);
    program
}

/// Reads until `words` are written behind what was read before.
fn reads(watched: &mut Watched, words: &str) {
    let from = watched.written.len();
    watched.read_until(|written| written.get(from..).is_some_and(|new| new.contains(words)));
}

/// P46: a person decides by letters; "always" holds in the next turn, and `/ask-again` takes it back.
#[test]
fn a_letter_decides_and_always_holds() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--db", "a.db", "--user", "kim", "--gates", "step"];
    let mut kim = Watched::typing(program(folder.path(), &arguments));
    reads(&mut kim, "질문> ");
    kim.types("우유 사기 메모해 줘");
    reads(&mut kim, "[y / a / e / s / ?]");
    kim.types("?");
    reads(&mut kim, "이 도구는 30일 동안 묻지 않고 한다");
    reads(&mut kim, "[y / a / e / s / ?]");
    kim.types("a");
    reads(&mut kim, "30일 동안, 도구가 달라지지 않는 한 묻지 않습니다");
    reads(&mut kim, "질문> ");
    kim.types("빵 사기 메모해 줘");
    reads(&mut kim, "[step 통과]");
    reads(&mut kim, "질문> ");
    kim.types("/tools 메모 적어 줘");
    reads(&mut kim, "desk__add_note = 이름 ");
    reads(&mut kim, "질문> ");
    kim.types("/ask-again desk__add_note");
    reads(&mut kim, "다시 묻습니다");
    reads(&mut kim, "질문> ");
    kim.types("물 사기 메모해 줘");
    reads(&mut kim, "[y / a / e / s / ?]");
    kim.types("e {\"text\": \"\\\"물 두 병\\\"이라고 적어 줘\"}");
    reads(&mut kim, "질문> ");
    kim.types("\u{4}");
    let (status, written) = kim.end();
    assert!(status.success(), "{written}");
    let desk = std::fs::read_to_string(folder.path().join("a.desk/desk.json")).unwrap();
    assert!(desk.contains("물 두 병") && !desk.contains("물 사기"), "{desk}");
}

/// A server of the older version waits for its answer within the call: whoever types gives it, or declines.
#[test]
fn what_an_old_server_asks_is_asked_of_whoever_types() {
    for (letter, ends) in
        [("y", "회의실 대청을(를) 9명으로 잡았습니다."), ("n", "회의실을 잡지 않았습니다")]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut program = program(folder.path(), &["--gates", "none", "회의실 예약해 줘"]);
        program.env(sample::OLD, "1");
        let mut kim = Watched::typing(program);
        reads(&mut kim, "서버 `desk`이(가) 묻습니다: 어느 회의실을 몇 명이 씁니까?");
        reads(&mut kim, "[y 답한다 / n 거절한다 / s 넘어간다]");
        kim.types(letter);
        if letter == "y" {
            reads(&mut kim, "몇 명: ");
            kim.types("9");
            reads(&mut kim, "1) 대청");
            kim.types("1");
        }
        let (status, written) = kim.end();
        assert!(status.success() && written.contains(ends), "{written}");
    }
}

/// Where nobody types, the question is cancelled and the model reads why.
#[test]
fn what_an_old_server_asks_where_nobody_types_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), &["--gates", "none", "회의실 예약해 줘"]);
    let said = terminal::program::said(program.env(sample::OLD, "1").output().unwrap());
    assert!(!said.out.contains("9명"), "{}", said.out);
    assert!(said.out.contains("잡지 않았습니다"), "{} {}", said.out, said.err);
}
