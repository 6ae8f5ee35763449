//! The program as a newcomer uses it, on the offline model: it remembers across processes, and its commands work.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::zombie_processes,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::{Command, Stdio},
    time::Duration,
};

use example_tests::program::{Said, command, said};

use crate::chat::server::{Answer, serve};

fn chat(arguments: &[&str]) -> Command {
    command("chat", arguments)
}

fn run(arguments: &[&str]) -> Said {
    said(chat(arguments).output().unwrap())
}

fn piped(arguments: &[&str], input: &str) -> Said {
    let mut child = chat(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    said(child.wait_with_output().unwrap())
}

/// A file of conversations that is gone with its folder.
fn database() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db").to_str().unwrap().to_owned();
    (dir, path)
}

#[test]
fn a_new_process_knows_what_was_said() {
    let (_dir, db) = database();
    assert_eq!(run(&["--db", &db, "--thread", "t", "내 이름은 철수야"]).code, Some(0));
    let said = run(&["--db", &db, "--thread", "t", "내 이름이 뭐라고 했지?"]);
    assert!(said.out.contains("철수"), "{}", said.out);
    let other = run(&["--db", &db, "--thread", "other", "내 이름이 뭐라고 했지?"]);
    assert!(!other.out.contains("철수"), "{}", other.out);
}

/// The same with forty turns between: the name is pinned, and its message long summarised.
#[test]
fn a_name_outlives_forty_turns() {
    let (_dir, db) = database();
    let arguments = ["--db", db.as_str(), "--thread", "t", "--trace"];
    run(&["--db", &db, "--thread", "t", "내 이름은 철수야"]);
    let asked =
        ["회사 휴가 정책이 뭐야?", "12 * 34 계산해줘", "지금 몇 시야?", "출장 숙박비 한도는?"];
    let turns: String = asked.iter().cycle().take(40).map(|asked| format!("{asked}\n")).collect();
    let talk = piped(&arguments, &turns);
    assert_eq!(talk.code, Some(0));
    assert!(talk.err.matches("[memory] summarise").count() > 10, "{}", talk.err);
    assert!(talk.err.contains("[memory] fold"), "{}", talk.err);
    let said = run(&["--db", &db, "--thread", "t", "내 이름이 뭐라고 했지?"]);
    assert!(said.out.contains("- 내 이름은 철수야"), "{}", said.out);
    // The state shrank, and the log has every message.
    let history = run(&["--db", &db, "--thread", "t", "/history"]).out;
    assert!(history.lines().count() >= 84, "{history}");
    assert!(history.contains("   1 [user] 내 이름은 철수야"), "{history}");
    let summary = run(&["--db", &db, "--thread", "t", "/summary"]).out;
    assert!(summary.contains("[대화 기록 3]") && !summary.contains("[대화 기록 4]"), "{summary}");
}

#[test]
fn commands_go_back_and_branch_off() {
    let (_dir, db) = database();
    let input = "내 이름은 철수야\n내 이름은 영희야\n/rewind 1\n내 이름이 뭐라고 했지?\n/fork 다른\n내 이름은 민수야\n\
                 /rewind 9\n/rewind x\n/none\n/help\n/tools\n/tokens\n";
    let Said { code, out, err } = piped(&["--db", &db], input);
    assert_eq!(code, Some(0), "{err}");
    let recalled = out.split("하신 말씀입니다.").nth(1).unwrap();
    assert!(recalled.contains("철수") && !recalled.contains("영희"), "{out}");
    for text in ["1차례를 되돌렸습니다", "대화 `다른`로", "/rewind N", "calculator", "토큰 (어림값"]
    {
        assert!(out.contains(text), "{text}: {out}");
    }
    for text in ["되돌릴 수 있는 차례", "1 이상의 수", "/none 명령은 없습니다"] {
        assert!(err.contains(text), "{text}: {err}");
    }
    // The first conversation is where it was before the branch.
    let main = run(&["--db", &db, "내 이름이 뭐라고 했지?"]).out;
    assert!(main.contains("철수") && !main.contains("민수"), "{main}");
    let other = run(&["--db", &db, "--thread", "다른", "내 이름이 뭐라고 했지?"]).out;
    assert!(other.contains("민수"), "{other}");
}

#[test]
fn events_are_json_a_line_each() {
    let said = run(&["--json", "12 * 34 계산해줘"]);
    let events: Vec<serde_json::Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(names.len(), events.len());
    let nodes: Vec<&str> = events
        .iter()
        .filter(|event| event["event"] == "task_started")
        .filter_map(|event| event["node"].as_str())
        .collect();
    assert_eq!(nodes, ["router", "memory", "agent", "tools", "agent"]);
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["exit"]), (&"answer".into(), &0.into()));
    assert!(last["text"].as_str().unwrap().contains("408"), "{last}");
    let ended = events.iter().find(|event| event["event"] == "ended").unwrap();
    assert_eq!(ended["spent"]["model_calls"], 3, "{ended}");
}

#[test]
fn a_drawing_shows_the_five_nodes() {
    insta::assert_snapshot!(run(&["--graph"]).out);
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let (_dir, db) = database();
    for (arguments, code, line) in [
        (vec!["--docs", "/no/such/folder", "휴가?"], 1, "/no/such/folder"),
        (vec!["--db", "/no/such/folder/t.db", "휴가?"], 1, "/no/such/folder/t.db"),
        (vec!["--db", &db, "--resume"], 1, "이(가) 없습니다"),
        (vec!["/rewind 1"], 2, "되돌릴 수 있는 차례"),
        (vec![" "], 2, "질문이 비어 있습니다"),
    ] {
        let said = run(&arguments);
        assert_eq!(said.code, Some(code), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(line), "{arguments:?}: {}", said.err);
    }
    assert_eq!(run(&["--max-messages", "3"]).code, Some(2));
}

/// A model that never answers: Ctrl-C ends the answer, and the next question is answered on the same thread.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_stops_the_answer_and_keeps_the_thread() {
    let (_dir, db) = database();
    run(&["--db", &db, "내 이름은 철수야"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let child = chat(&["--db", &db, "안녕하세요"])
        .env("OPENAI_BASE_URL", format!("http://{}/v1", listener.local_addr().unwrap()))
        .env("OPENAI_MODEL", "m")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It is asked, and says nothing.
    let asked = listener.accept().unwrap();
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let Said { code, err, .. } = said(child.wait_with_output().unwrap());
    assert_eq!(code, Some(130), "{err}");
    assert!(err.contains("대화는 남아 있습니다"), "{err}");
    drop(asked);
    let recalled = run(&["--db", &db, "내 이름이 뭐라고 했지?"]);
    assert!(recalled.out.contains("철수"), "{} {}", recalled.out, recalled.err);
}

/// The program, on a model's server.
fn served(answer: Answer, arguments: &[&str]) -> Command {
    let mut command = chat(arguments);
    command.env("OPENAI_BASE_URL", serve(answer)).env("OPENAI_MODEL", "m");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Characters that act on a terminal, in an answer: JSON stays JSON, and does not act either.
#[test]
fn whatever_a_model_writes_the_events_are_json() {
    let pieces =
        Answer::Pieces(&["네\u{202e}, ", "\u{9b}31m\u{200b}", "\u{feff}😀 끝"], Duration::ZERO);
    let said = said(served(pieces, &["--json", "안녕"]).output().unwrap());
    let events: Vec<serde_json::Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!said.out.contains(['\u{202e}', '\u{9b}']), "{:?}", said.out);
    assert_eq!(events.last().unwrap()["text"], "네\u{202e}, \u{9b}31m\u{200b}\u{feff}😀 끝");
}

/// A model that writes for longer than a test may take: one Ctrl-C is enough, whenever it comes. Unheard, it is waited for
/// until the test is ended.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_is_heard_while_an_answer_is_written() {
    for _ in 0..3 {
        let pieces = Answer::Pieces(&["말 "; 60_000], Duration::from_millis(10));
        let mut child = served(pieces, &["--json", "안녕"]).spawn().unwrap();
        // Some of the answer is there.
        let mut first = [0; 2_000];
        child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        let Said { code, err, .. } = said(child.wait_with_output().unwrap());
        assert_eq!(code, Some(130), "{err}");
    }
}

/// What its server refuses stays in the conversation until it is taken back.
#[test]
fn a_question_that_was_refused_can_be_taken_back() {
    let (_dir, db) = database();
    run(&["--db", &db, "내 이름은 철수야"]);
    let refused = served(Answer::Refuse(400), &["--db", &db, "독사과"]).output().unwrap();
    assert_eq!(said(refused).code, Some(1));
    assert!(run(&["--db", &db, "/history"]).out.contains("독사과"));
    assert_eq!(run(&["--db", &db, "/rewind 1"]).code, Some(0));
    let history = run(&["--db", &db, "/history"]).out;
    assert!(history.contains("철수") && !history.contains("독사과"), "{history}");
    assert!(run(&["--db", &db, "내 이름이 뭐라고 했지?"]).out.contains("철수"));
}

/// A question that another process's answer keeps out is not in the conversation, and nobody is advised to take a turn back.
#[cfg(target_os = "linux")]
#[test]
fn what_is_said_after_a_conflict_leaves_the_other_turn_alone() {
    let (_dir, db) = database();
    run(&["--db", &db, "내 이름은 철수야"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut other = chat(&["--db", &db, "안녕하세요"])
        .env("OPENAI_BASE_URL", format!("http://{}/v1", listener.local_addr().unwrap()))
        .env("OPENAI_MODEL", "m")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has the thread: it asks its model, which says nothing.
    let asked = listener.accept().unwrap();
    let Said { out, err, .. } = piped(&["--db", &db], "독사과\n/history\n");
    assert!(err.contains("이 질문은 대화에 들어가지 않았습니다"), "{err}");
    assert!(!err.contains("/rewind"), "{err}");
    assert!(out.contains("안녕하세요") && !out.contains("독사과"), "{out}");
    drop(asked);
    other.kill().unwrap();
    other.wait().unwrap();
}

/// What is advised after a failure can be done: a first turn cannot be taken back, a later one can.
#[test]
fn what_is_advised_after_a_failure_can_be_done() {
    let (_dir, db) = database();
    let refused = |input: &str| {
        let mut command = served(Answer::Refuse(400), &["--db", &db]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        said(child.wait_with_output().unwrap()).err
    };
    let first = refused("독사과\n");
    assert!(first.contains("되돌릴 수는 없습니다") && !first.contains("/rewind"), "{first}");
    run(&["--db", &db, "내 이름은 철수야"]);
    assert!(refused("독버섯\n").contains("/rewind 1로 되돌릴 수 있습니다"));
    assert_eq!(run(&["--db", &db, "/rewind 1"]).code, Some(0));
    let history = run(&["--db", &db, "/history"]).out;
    assert!(history.contains("철수") && !history.contains("독버섯"), "{history}");
}
