//! The program with a person at its terminal.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{path::Path, process::Command};

use example_tests::program::{Watched, command};

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut program = command("orchestrator", arguments);
    program.env(desk::NOW, "2026-11-26T01:00:00Z").env(desk::REPORT_MILLIS, "0");
    program.current_dir(folder);
    program
}

/// P46: a person decides by letters; "always" holds in the next turn, and `/ask-again` takes it back.
#[test]
fn a_letter_decides_and_always_holds() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--db", "a.db", "--user", "kim", "--gates", "step"];
    let mut kim = Watched::typing(program(folder.path(), &arguments));
    kim.reads("질문> ");
    kim.types("우유 사기 메모해 줘");
    kim.reads("[y / a / e / s / ?]");
    kim.types("?");
    kim.reads("이 도구는 30일 동안 묻지 않고 한다");
    kim.reads("[y / a / e / s / ?]");
    kim.types("a");
    kim.reads("30일 동안, 도구가 달라지지 않는 한 묻지 않습니다");
    kim.reads("질문> ");
    kim.types("빵 사기 메모해 줘");
    kim.reads("[step 통과]");
    kim.reads("질문> ");
    kim.types("/tools 메모 적어 줘");
    kim.reads("desk__add_note = 이름 ");
    kim.reads("질문> ");
    kim.types("/ask-again desk__add_note");
    kim.reads("다시 묻습니다");
    kim.reads("질문> ");
    kim.types("물 사기 메모해 줘");
    kim.reads("[y / a / e / s / ?]");
    kim.types("e {\"text\": \"물 두 병\"}");
    kim.reads("질문> ");
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
        program.env(desk::OLD, "1");
        let mut kim = Watched::typing(program);
        kim.reads("서버 `desk`이(가) 묻습니다: 어느 회의실을 몇 명이 씁니까?");
        kim.reads("[y 답한다 / n 거절한다 / s 넘어간다]");
        kim.types(letter);
        if letter == "y" {
            kim.reads("몇 명: ");
            kim.types("9");
            kim.reads("1) 대청");
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
    let said = example_tests::program::said(program.env(desk::OLD, "1").output().unwrap());
    assert!(!said.out.contains("9명"), "{}", said.out);
    assert!(said.out.contains("잡지 않았습니다"), "{} {}", said.out, said.err);
}
