//! The program as a newcomer uses it, on the offline model.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{fs, io::Write, path::Path, process::Stdio, thread::sleep, time::Duration};

use example_tests::program::{Said, command, http, said};
use serde_json::Value;

const LEASE: &str = "임대인은 김철수, 임차인은 이영희입니다. 서울특별시 마포구 월드컵로 12 101동 1203호를 보증금 3억원에 월세 50만원으로 \
    빌립니다. 전용면적 84.97㎡, 계약금 3천만원, 월세는 매달 25일, 잔금일 2026년 3월 2일, 기간은 2026년 3월 2일부터 2028년 3월 1일까지. 임대차계약서 써줘";

fn run(folder: &Path, arguments: &[&str]) -> Said {
    said(command("real-estate", arguments).current_dir(folder).output().unwrap())
}

/// A conversation from a pipe.
fn talk(folder: &Path, arguments: &[&str], lines: &str) -> Said {
    let mut child = command("real-estate", arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    said(child.wait_with_output().unwrap())
}

fn written(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("documents")).into_iter().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The seed's question: the rate of the increase is exact, and its article and the prices stand beside it.
#[test]
fn an_increase_is_judged_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let question = "전세금을 3억에서 3.3억으로 올려 달라는데 올려 줘야 해? 마포구 시세도 보여줘";
    let said = run(folder.path(), &[question]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for text in ["10.0% 오릅니다", "주택임대차보호법 제7조", "3억 1,500만원", "마포구", "지어낸"]
    {
        assert!(said.out.contains(text), "{text}: {}", said.out);
    }
    assert!(!said.out.contains("확인되지 않은 수치"), "{}", said.out);
    assert!(said.err.contains("자문이 아닙니다") && said.err.contains("--user"), "{}", said.err);
}

/// A question that goes on keeps what was asked, and adds to it.
#[test]
fn what_was_asked_before_holds_for_what_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let said = talk(folder.path(), &[], "은평구 전세 3억 이하 매물 있어?\n그중에 방 3개짜리는?\n");
    let (_, second) = said.out.split_once("출처").unwrap();
    let homes: Vec<_> = second.lines().filter(|line| line.starts_with("- L")).collect();
    assert!(!homes.is_empty(), "{second}");
    for home in homes {
        assert!(home.contains("은평구") && home.contains("전세"), "{home}");
        assert!(!home.contains("방 1개") && !home.contains("방 2개"), "{home}");
    }
}

/// What rules find is no answer of the model's: its silence is said, with its cause, and the exit code says so too.
#[test]
fn a_model_that_does_not_answer_is_said() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refuses = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = http::read_request(&stream);
            let refusal = serde_json::json!({"error": {"message": "no such key"}});
            drop(http::write_answer(&stream, 401, &refusal));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    for (url, cause) in
        [(refuses.as_str(), "no such key"), ("http://127.0.0.1:9/v1", "127.0.0.1:9")]
    {
        let mut program = command("real-estate", &["강남구 전세 시세 알려줘"]);
        program.env("OPENAI_BASE_URL", url).env("OPENAI_MODEL", "m").current_dir(folder.path());
        let said = said(program.output().unwrap());
        assert_eq!(said.code, Some(1), "{} {}", said.out, said.err);
        let first = said.out.lines().next().unwrap_or_default();
        assert!(first.contains("모델이 답하지 않아") && first.contains(cause), "{}", said.out);
    }
}

#[test]
fn what_the_teams_cannot_do_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(folder.path(), &["오늘 날씨 어때?"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("다룰 수 있는 일이 아닙니다"), "{}", said.out);
    let said = run(folder.path(), &["--data", "no-such-folder", "안녕"]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("no-such-folder"), "{}", said.err);
}

/// A lease that lacks something asks for it, and another process answers; what was answered once is not asked again.
#[test]
fn what_a_lease_lacks_is_asked_and_answered_in_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let ask = ["--db", "t.db", "--json", "임대인 김철수, 임차인 이영희. 전세 계약서 작성해줘"];
    let asked = run(folder.path(), &ask);
    assert_eq!(asked.code, Some(5), "{}", asked.err);
    let lines: Vec<Value> =
        asked.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let question = lines.iter().find(|line| line["event"] == "question").unwrap();
    let fields = question["schema"]["properties"].as_object().unwrap();
    assert!(!fields.contains_key("landlord") && fields.contains_key("address"), "{fields:?}");
    assert_eq!(written(folder.path()), [""; 0]);
    let id = question["id"].as_str().unwrap();

    // What does not fit is refused, and the question stays open.
    let wrong = run(folder.path(), &["--db", "t.db", "--answer", id, r#"{"deposit": "많이"}"#]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    let answer = r#"{"address": "서울특별시 마포구 월드컵로 12 101동 1203호", "area": "84.97㎡", "deposit": 300000000,
        "down_payment": 30000000, "balance_date": "2026-03-02", "from": "2026-03-02", "until": "2028-03-01"}"#;
    let answered = run(folder.path(), &["--db", "t.db", "--answer", id, answer]);
    assert_eq!(answered.code, Some(0), "{} {}", answered.out, answered.err);
    let files = written(folder.path());
    assert_eq!(files.len(), 2, "{files:?}");
    let markdown = files.iter().find(|name| name.ends_with(".md")).unwrap();
    let text = fs::read_to_string(folder.path().join("documents").join(markdown)).unwrap();
    assert!(text.contains("김철수") && text.contains("이영희"), "{text}");
    let again = run(folder.path(), &["--db", "t.db", "--answer", id, answer]);
    assert_eq!(again.code, Some(2), "{}", again.err);
    assert_eq!(written(folder.path()), files);
}

/// What a user said is remembered for them alone, across conversations, until it is forgotten.
#[test]
fn a_user_is_remembered_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let of = |user: &'static str, thread: &'static str| {
        ["--db", "t.db", "--user", user, "--thread", thread]
    };
    talk(
        folder.path(),
        &of("7", "a"),
        "마포구에서 전세를 찾고 있어. 예산은 4억이야. 시세 알려줘\n",
    );
    let said = talk(folder.path(), &of("7", "b"), "전세 시세 알려줘\n/memory\n");
    assert!(said.out.contains("서울 마포구"), "{}", said.out);
    for text in ["지역: 마포구", "거래: 전세", "예산: 4억"] {
        assert!(said.out.contains(text), "{text}: {}", said.out);
    }
    let other = talk(folder.path(), &of("8", "c"), "전세 시세 알려줘\n/memory\n");
    assert!(!other.out.contains("마포구"), "{}", other.out);
    talk(folder.path(), &of("7", "b"), "/forget 모두\n");
    let said = talk(folder.path(), &of("7", "d"), "/memory\n전세 시세 알려줘\n");
    assert!(said.out.contains("기억하는 것이 없습니다"), "{}", said.out);
    assert!(!said.out.contains("서울 마포구"), "{}", said.out);
}

#[test]
fn plans_steps_and_choices_are_shown_and_another_one_is_tried() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "강남구 전세 시세 알려줘. 그리고 전세자금대출 상품도 보여줘\n/plan\n/steps\n/decisions\n/why 3\n/what-if 3 legal_search\n/what-if 3 cook\n/what-if 99 x\n";
    let said = talk(folder.path(), &["--db", "t.db"], lines);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for text in [
        "모델이 만든 계획",
        "search      완료",
        "[search·tools] market_data, loan_data",
        "## 바꾸었다면",
        "달라진 단계: search",
    ] {
        assert!(said.out.contains(text), "{text}: {}", said.out);
    }
    assert!(said.err.contains("`cook` was none of the options"), "{}", said.err);
    // The thread itself is as it was.
    let said = talk(folder.path(), &["--db", "t.db"], "/decisions\n");
    assert!(said.out.contains("[search·tools] market_data, loan_data"), "{}", said.out);
}

/// Killed again and again, the program goes on where it was: one document, each choice once, one memory of it.
#[test]
fn killed_again_and_again_it_ends_as_it_would_have() {
    let folder = tempfile::tempdir().unwrap();
    let of = |thread: &'static str| ["--db", "t.db", "--user", "7", "--thread", thread];
    let shown = |thread| talk(folder.path(), &of(thread), "/decisions\n/memory\n").out;
    let quiet = run(folder.path(), &[&of("quiet")[..], &[LEASE]].concat());
    assert_eq!(quiet.code, Some(0), "{} {}", quiet.out, quiet.err);
    let files = written(folder.path()).len();
    let decisions = |text: &str| {
        text.lines().filter(|line| line.starts_with("  ") && line.contains('·')).count()
    };
    let memories = |text: &str| text.lines().filter(|line| line.starts_with("[대화]")).count();
    let want = decisions(&shown("quiet"));
    assert!(want > 2 && files == 2, "{want} {files}");

    let threads = ["a", "b", "c", "d", "e"];
    for (number, thread) in threads.into_iter().enumerate() {
        for kill in 0..4 {
            let last = if kill == 0 { LEASE } else { "--resume" };
            let mut child = command("real-estate", &[&of(thread)[..], &[last]].concat())
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            sleep(Duration::from_millis(u64::try_from(30 + 17 * number + 40 * kill).unwrap()));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let end = run(folder.path(), &[&of(thread)[..], &["--resume"]].concat());
        if !shown(thread).contains("·plan") {
            // It was killed before it had stored the question.
            let asked = run(folder.path(), &[&of(thread)[..], &[LEASE]].concat());
            assert_eq!(asked.code, Some(0), "{thread}: {} {} {}", end.err, asked.out, asked.err);
        }
        let text = shown(thread);
        assert_eq!(decisions(&text), want, "{thread}: {text}");
        assert_eq!(memories(&text), number + 2, "{thread}: {text}");
        assert_eq!(written(folder.path()).len(), files * (number + 2), "{thread}");
    }
}
