//! The program as a newcomer uses it: what it prints, and how it ends when something is wrong.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::zombie_processes,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use example_tests::program::{Said, command, said};

fn rag(arguments: &[&str]) -> Command {
    command("rag", arguments)
}

fn run(arguments: &[&str]) -> Said {
    said(rag(arguments).output().unwrap())
}

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rag/documents")
}

/// A copy of the sample documents.
fn copied() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(documents()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
    }
    dir
}

#[test]
fn questions_are_answered_by_the_agent_they_are_about() {
    for (question, facts) in [
        ("회사 휴가 정책 알려줘", &["월 1일", "15일", "20일", "80%", "인사규정"][..]),
        ("김하늘 연차 며칠 남았어?", &["12.5일", "사내 디렉터리"]),
        ("123 * 456은?", &["56,088"]),
    ] {
        let Said { code, out, err } = run(&["--trace", question]);
        assert_eq!(code, Some(0), "{err}");
        assert!(facts.iter().all(|fact| out.contains(fact)), "{question}: {out}");
        assert!(err.starts_with("대화는 저장되지 않습니다"), "{err}");
        assert!(err.contains("오프라인 모델") && err.contains("토큰"), "{err}");
    }
    for (question, agent) in
        [("김하늘 연차 며칠 남았어?", "internal_agent"), ("123 * 456은?", "external_agent")]
    {
        assert!(run(&["--trace", question]).err.contains(&format!("라우팅: {agent}")));
    }
}

#[test]
fn a_question_without_an_answer_says_so() {
    let Said { code, out, .. } = run(&["토끼는 무슨 색을 좋아해?"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("찾지 못"), "{out}");
}

#[test]
fn after_a_number_in_a_document_is_edited_the_answer_changes() {
    let dir = copied();
    let path = dir.path().join("인사규정.md");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("연 15일"));
    fs::write(&path, text.replace("연 15일", "연 17일")).unwrap();
    let folder = dir.path().to_str().unwrap();
    let Said { out, .. } = run(&["--docs", folder, "회사 휴가 정책 알려줘"]);
    assert!(out.contains("17일") && !out.contains("연 15일"), "{out}");
}

#[test]
fn a_drawing_shows_the_supervisor_and_its_agents() {
    let Said { code, out, .. } = run(&["--graph"]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(out);
}

#[test]
fn piped_questions_are_answered_one_a_line_until_the_end() {
    let mut child = rag(&[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("1 + 1은?\n\n  \n2 * 21은?\n\u{1b}[2J\u{7}안녕\n3 * 5는?".as_bytes()).unwrap();
    drop(stdin);
    let Said { code, out, err } = said(child.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains('2') && out.contains("42") && out.contains("15"), "{out}");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let mut child = rag(&["회사 휴가 정책 알려줘"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let Said { code, err, .. } = said(child.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{err}");
    assert!(!err.contains("오류"), "{err}");
}

/// One clear sentence and the right exit, for each thing that can be wrong.
#[test]
fn what_is_wrong_is_said_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("text.db"), "this is no database, and long enough to be read as one".repeat(40))
        .unwrap();
    fs::create_dir(path("empty")).unwrap();
    for (arguments, code, line) in [
        (vec!["--docs", "/no/such/folder", "휴가?"], 1, "/no/such/folder"),
        (vec!["--db", &path("text.db"), "휴가?"], 1, "text.db"),
        (vec!["--db", &path("no/such/folder/t.db"), "휴가?"], 1, "no/such/folder/t.db"),
        (vec!["--db", &path("new.db"), "--resume"], 1, "이(가) 없습니다"),
        (vec!["--thread", "a\u{7}b", "휴가?"], 2, "U+0007"),
        (vec!["  "], 2, "질문이 비어 있습니다"),
    ] {
        let said = run(&arguments);
        assert_eq!(said.code, Some(code), "{arguments:?}: {}", said.err);
        let last = said.err.lines().last().unwrap_or_default();
        assert!(last.contains(line), "{arguments:?}: {}", said.err);
    }
    for wrong in [&["--no-such-option"][..], &["--resume", "휴가?"], &["--docs"]] {
        assert_eq!(run(wrong).code, Some(2), "{wrong:?}");
    }
    let nothing = run(&["--docs", &path("empty"), "휴가 정책은?"]);
    assert_eq!(nothing.code, Some(0));
    assert!(nothing.err.contains("읽을 수 있는 문서가 없습니다"), "{}", nothing.err);
    assert!(nothing.out.contains("찾지 못"), "{}", nothing.out);
}

#[test]
fn a_locked_database_is_said_and_works_again() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("t.db");
    let db = db.to_str().unwrap();
    assert_eq!(run(&["--db", db, "1 + 1은?"]).code, Some(0));
    let connection = rusqlite::Connection::open(db).unwrap();
    connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;").unwrap();
    let locked = run(&["--db", db, "1 + 2는?"]);
    assert_eq!(locked.code, Some(1), "{}", locked.err);
    assert!(locked.err.contains("잠그고 있거나"), "{}", locked.err);
    drop(connection);
    assert_eq!(run(&["--db", db, "1 + 2는?"]).code, Some(0));
}

/// P7: a record that was damaged is told, with what is still good.
#[test]
fn a_damaged_conversation_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("t.db");
    assert_eq!(run(&["--db", db.to_str().unwrap(), "1 + 1은?"]).code, Some(0));
    let connection = rusqlite::Connection::open(&db).unwrap();
    let flipped = "UPDATE records SET bytes = CAST(substr(bytes, 1, 30) || x'ff' || substr(bytes, 32) AS BLOB) \
                   WHERE position = 3";
    assert_eq!(connection.execute(flipped, []).unwrap(), 1);
    drop(connection);
    let damaged = run(&["--db", db.to_str().unwrap(), "1 + 2는?"]);
    assert_eq!(damaged.code, Some(1), "{}", damaged.err);
    assert!(damaged.err.contains("2번째까지는 온전합니다"), "{}", damaged.err);
}

#[test]
fn a_binary_file_among_the_documents_is_passed_over_and_named() {
    let dir = copied();
    fs::write(dir.path().join("blob.md"), [0u8, 159, 146, 150, 0, 1, 2, 255]).unwrap();
    fs::write(dir.path().join("broken.pdf"), b"%PDF-1.7\nnothing").unwrap();
    let said = run(&["--docs", dir.path().to_str().unwrap(), "회사 휴가 정책 알려줘"]);
    assert_eq!(said.code, Some(0));
    assert!(
        said.err.contains("건너뜀: blob.md") && said.err.contains("건너뜀: broken.pdf"),
        "{}",
        said.err
    );
    assert!(said.out.contains("15일"));
}

/// A server that gives every request the same answer.
fn server(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut request = [0; 65_536];
            let _ = stream.read(&mut request);
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

/// P16, P55: each failure of a model's server is one sentence without the key.
#[test]
fn a_broken_model_server_is_said_and_the_key_is_not() {
    let nonsense = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"Delegate: nobody\nTask: x"},"finish_reason":"stop"}]}"#;
    for (url, line) in [
        ("http://127.0.0.1:9/v1".to_owned(), "127.0.0.1:9"),
        (
            server(
                "401 Unauthorized",
                r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#,
            ),
            "API 키",
        ),
        (server("200 OK", "<html>hello</html>"), ""),
        (server("200 OK", nonsense), "nobody"),
    ] {
        let output = rag(&["휴가?"])
            .env("OPENAI_BASE_URL", &url)
            .env("OPENAI_API_KEY", "sk-canary-7391")
            .env("OPENAI_MODEL", "m")
            .output()
            .unwrap();
        let said = said(output);
        assert_eq!(said.code, Some(1), "{url}: {} {}", said.out, said.err);
        let last = said.err.lines().last().unwrap_or_default();
        assert!(last.starts_with("오류: ") && last.contains(line), "{}", said.err);
        assert!(!format!("{}{}", said.out, said.err).contains("canary"), "{}", said.err);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_while_nothing_runs_ends_with_130() {
    let mut child = rag(&[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("1 + 1은?\n".as_bytes()).unwrap();
    // Its answer shows that it waits for the next question.
    let mut answer = [0; 1];
    child.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
    // The first may still stop the answer; the next one finds nothing that runs.
    let ended = (0..100).find_map(|_| {
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        std::thread::sleep(std::time::Duration::from_millis(100));
        child.try_wait().unwrap()
    });
    assert_eq!(ended.unwrap().code(), Some(130));
    drop(stdin);
}
