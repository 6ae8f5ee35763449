//! The program as a person at a terminal sees it, and stops it: on a server that answers when the test lets it.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
};

use example_tests::program::{
    Watched, command,
    http::{read_request, write_answer},
    on_screen, said,
};
use serde_json::{Value, json};

/// A server that plans two searches at once and holds back what their teams ask for, until it is let go; then it refuses.
struct Server {
    url: String,
    /// One item for each request that is held back.
    held: mpsc::Receiver<()>,
    go: mpsc::Sender<()>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (holds, held) = mpsc::channel();
        let (go, gone) = mpsc::channel::<()>();
        // Held back as long as `go` lives; dropping it lets all go.
        let gone = std::sync::Arc::new(std::sync::Mutex::new(gone));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (holds, gone) = (holds.clone(), gone.clone());
                // A client that goes away is none of its business.
                std::thread::spawn(move || {
                    let request = read_request(&stream).unwrap_or_default();
                    let text = match reply_of(&request) {
                        Some(reply) => reply,
                        None => {
                            // A test that has ended reads it no more.
                            let _ = holds.send(());
                            let _ = gone.lock().unwrap().recv();
                            let refusal = json!({"error": {"message": "no"}});
                            return drop(write_answer(&stream, 400, &refusal));
                        }
                    };
                    let message = json!({"role": "assistant", "content": text.to_string()});
                    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
                    drop(write_answer(&stream, 200, &json!({"choices": [choice]})));
                });
            }
        });
        Self { url, held, go }
    }

    fn program(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = command("real-estate", arguments);
        command.current_dir(folder).env("OPENAI_BASE_URL", &self.url).env("OPENAI_MODEL", "m");
        command
    }
}

/// What the supervisor is answered; nothing for what a team asks.
fn reply_of(request: &Value) -> Option<Value> {
    let name = request["response_format"]["json_schema"]["name"].as_str()?;
    let step = |id: &str| json!({"id": id, "team": "search", "task": "시세", "description": "", "needs": []});
    match name {
        "intent" => Some(
            json!({"intent": "시세", "confidence": 0.9, "in_scope": true, "parts": [], "reason": "묻는다"}),
        ),
        "plan" => Some(
            json!({"steps": [step("seoul"), step("busan")], "reason": "둘", "confidence": 0.8}),
        ),
        _ => None,
    }
}

/// A person sees a lane for each team that works, one below the other in place, and none when they have ended.
#[test]
fn each_team_that_works_has_a_lane() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start();
    let mut watched = Watched::start(server.program(folder.path(), &["시세 알려줘"]));
    // Both teams ask, and are shown.
    server.held.recv().unwrap();
    server.held.recv().unwrap();
    let lane = |line: &String, name: &str| {
        let mut words = line.split(' ');
        words.next().is_some_and(|sign| sign.chars().all(|c| ('⠀'..='⣿').contains(&c)))
            && words.next() == Some(name)
    };
    let lanes = |written: &str| {
        let lines = on_screen(written);
        let of = |name: &str| lines.iter().position(|line| lane(line, name));
        of("seoul").zip(of("busan"))
    };
    watched.read_until(|written| lanes(written).is_some_and(|(one, other)| one + 1 == other));
    // They are drawn again where they stand.
    let drawn = watched.written.len();
    watched.read_until(|written| written[drawn..].matches('\u{1b}').count() >= 4);
    assert!(lanes(&watched.written).is_some());
    drop(server.go);
    let (status, written) = watched.end();
    // The server refused what is no text, and so the model did not answer.
    assert_eq!(status.code(), Some(1), "{written}");
    assert_eq!(lanes(&written), None, "{written}");
    let lines = on_screen(&written);
    assert!(!lines.iter().any(|line| lane(line, "seoul") || lane(line, "busan")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("시세")), "{lines:?}");
}

/// In a pipe there are no lanes, and nothing that acts on a terminal.
#[test]
fn a_pipe_has_no_lanes() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start();
    let mut program = server.program(folder.path(), &["시세 알려줘"]);
    let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.held.recv().unwrap();
    server.held.recv().unwrap();
    drop(server.go);
    // It refuses what is no text.
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(!said.err.contains("seoul 0."), "{}", said.err);
}

/// Ctrl-C stops the answer while teams work; the thread stays, and goes on with what they had.
#[test]
fn ctrl_c_stops_the_answer_and_the_thread_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start();
    let arguments = ["--db", "t.db", "마포구 전세 시세 알려줘"];
    let mut program = server.program(folder.path(), &arguments);
    let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.held.recv().unwrap();
    server.held.recv().unwrap();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let stopped = said(child.wait_with_output().unwrap());
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(stopped.err.contains("대화는 남아 있습니다"), "{}", stopped.err);

    // Without the server: the plan is in the log, and its teams work.
    let mut offline = command("real-estate", &["--db", "t.db", "--resume"]);
    let resumed = said(offline.current_dir(folder.path()).output().unwrap());
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    let mut offline = command("real-estate", &["--db", "t.db", "/steps"]);
    let steps = said(offline.current_dir(folder.path()).output().unwrap());
    for step in ["seoul", "busan"] {
        let line = steps.out.lines().find(|line| line.contains(step));
        assert!(line.is_some_and(|line| line.contains("완료")), "{}", steps.out);
    }
}
