//! The program as a newcomer uses it, on the offline model and its own sample server.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

use example_tests::program::{Said, command, said};
use serde_json::{Value, json};

/// The program, which asks nobody unless `arguments` say where.
fn program(folder: &Path, arguments: &[&str]) -> Command {
    let gates: &[&str] = if arguments.contains(&"--gates") { &[] } else { &["--gates", "none"] };
    by_default(folder, &[gates, arguments].concat())
}

/// The program as it comes.
fn by_default(folder: &Path, arguments: &[&str]) -> Command {
    let mut program = command("orchestrator", arguments);
    let names = [
        "ENABLE_HITL",
        "ENABLE_PLAN_APPROVAL",
        "ENABLE_STEP_APPROVAL",
        "ENABLE_CLARIFICATION_APPROVAL",
        "ENABLE_LKM_MEMORY",
    ];
    for name in names {
        program.env_remove(name);
    }
    program.env(desk::NOW, "2026-11-26T01:00:00Z").env(desk::REPORT_MILLIS, "0");
    program.current_dir(folder);
    program
}

fn run(folder: &Path, arguments: &[&str]) -> Said {
    said(program(folder, arguments).output().unwrap())
}

/// A conversation from a pipe.
fn talk(folder: &Path, arguments: &[&str], lines: &str) -> Said {
    let mut child = program(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    said(child.wait_with_output().unwrap())
}

/// The id of the question that a run prints.
fn open_id(said: &Said) -> String {
    let (_, after) = said.err.split_once('[').unwrap();
    after.split_once(']').unwrap().0.to_owned()
}

/// The events that a run prints.
fn events(said: &Said) -> Vec<Value> {
    said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The calls in the ledger of the sample server, by tool and key, each with how often it came.
fn ledger(folder: &Path) -> BTreeMap<(String, String), usize> {
    let text = fs::read_to_string(folder.join("a.desk/ledger.txt")).unwrap_or_default();
    let mut calls = BTreeMap::new();
    for line in text.lines() {
        let (tool, key) = line.split_once(' ').unwrap();
        *calls.entry((tool.to_owned(), key.to_owned())).or_default() += 1;
    }
    calls
}

#[test]
fn it_does_what_is_asked_without_any_setting() {
    let folder = tempfile::tempdir().unwrap();
    let said = said(by_default(folder.path(), &["10 km를 마일로 바꿔 줘"]).output().unwrap());
    assert_eq!((said.code, said.out.trim()), (Some(0), "10 km = 6.2137 mi"), "{}", said.err);
    assert!(said.err.contains("--db") && said.err.contains("도구 9개"), "{}", said.err);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let help = run(folder.path(), &["--help"]);
    for words in ["--gates", "ENABLE_HITL", "TOOL_CHECK_INTERVAL", "--locked", "Exit: 0"] {
        assert!(help.out.contains(words), "{words}");
    }
    let wrong = run(folder.path(), &["--gates", "plam", "안녕"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("no gate is called `plam`"), "{}", wrong.err);
}

/// Where nobody can be asked, a tool that writes ends the run, and what reads does not wait.
#[test]
fn nothing_is_written_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let unasked = |arguments: &[&str]| {
        let all = [&["--db", "a.db"], arguments].concat();
        said(by_default(folder.path(), &all).output().unwrap())
    };
    let written = || ledger(folder.path()).keys().filter(|(tool, _)| tool == "add_note").count();
    let waits = unasked(&["우유 사기 메모해 줘"]);
    assert_eq!(waits.code, Some(5), "{} {}", waits.out, waits.err);
    assert_eq!(written(), 0, "{:?}", ledger(folder.path()));
    let reads = unasked(&["--thread", "b", "메모 목록 보여 줘"]);
    assert_eq!(reads.code, Some(0), "{}", reads.err);

    let id = open_id(&waits);
    let made = unasked(&["--answer", &id, r#"{"decision": "approve"}"#]);
    assert_eq!(made.code, Some(0), "{} {}", made.out, made.err);
    assert_eq!(written(), 1, "{:?}", ledger(folder.path()));

    let off = unasked(&["--thread", "c", "--gates", "none", "빵 사기 메모해 줘"]);
    assert_eq!(off.code, Some(0), "{}", off.err);
    assert!(off.err.contains("쓰는 도구도 묻지 않고 부릅니다"), "{}", off.err);
    assert_eq!(written(), 2, "{:?}", ledger(folder.path()));
}

/// A folder that cannot be made is said by its name, before anything is done.
#[test]
fn results_that_cannot_be_written_stop_the_turn_before_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let arguments = ["--db", "a.db", "--results", "file/results", "우유 사기 메모해 줘"];
    let said = run(folder.path(), &arguments);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("`file/results` cannot be written"), "{}", said.err);
    let after = run(folder.path(), &["--db", "a.db", "메모 목록 보여 줘"]);
    assert!(after.out.contains("없습니다"), "{} {}", after.out, after.err);
}

/// The seed's events by their names.
#[test]
fn events_are_told_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--db", "a.db", "--gates", "plan", "--json", "우유 사기 메모해 줘"];
    let said = run(folder.path(), &arguments);
    assert_eq!(said.code, Some(5), "{}", said.err);
    let names: Vec<_> = events(&said).iter().map(|event| event["event"].to_string()).collect();
    for name in ["start", "status", "human_input_required"] {
        assert!(names.contains(&format!("{name:?}")), "{names:?}");
    }
    let id = events(&said).iter().find(|it| it["event"] == "human_input_required").unwrap()["id"]
        .clone();
    let arguments = [
        "--db",
        "a.db",
        "--as",
        "ann",
        "--json",
        "--answer",
        id.as_str().unwrap(),
        r#"{"decision": "approve"}"#,
    ];
    let said = run(folder.path(), &arguments);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let events = events(&said);
    let end = events.iter().find(|event| event["event"] == "end").unwrap();
    assert_eq!((end["end"].as_str(), &end["statistics"]["succeeded"]), (Some("done"), &json!(1)));
    assert!(events.iter().any(|event| event["event"] == "token" && event["answer"] == true));
    let approvals = run(folder.path(), &["--db", "a.db", "/approvals"]);
    assert!(approvals.out.contains("답: approve, ann (terminal"), "{}", approvals.out);
}

/// P35, P46: what was asked in one process is answered in others; the server's own question too, and its call is one call.
#[test]
fn a_turn_goes_on_in_other_processes() {
    let folder = tempfile::tempdir().unwrap();
    let db =
        |more: &[&str]| run(folder.path(), &[&["--db", "a.db", "--gates", "step"], more].concat());
    let said = db(&["회의실 예약해 줘"]);
    assert_eq!(said.code, Some(5), "{}", said.err);
    let id = open_id(&said);
    let wrong = db(&["--answer", &id, r#"{"decision": "edit", "arguments": {"room": "a"}}"#]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    let said = db(&["--answer", &id, r#"{"decision": "approve"}"#]);
    assert_eq!(said.code, Some(5), "{}", said.err);
    assert!(said.err.contains("서버 `desk`이(가) 묻습니다"), "{}", said.err);
    let answer =
        json!({"decision": "edit", "arguments": {"room": "대청", "people": 9}}).to_string();
    let said = db(&["--answer", &open_id(&said), &answer]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("회의실 대청을(를) 9명으로 잡았습니다."), "{}", said.out);
    let late = db(&["--answer", &id, r#"{"decision": "skip"}"#]);
    assert_eq!(late.code, Some(2), "{}", late.err);
    // Asked and answered are two requests of one call.
    let calls = ledger(folder.path());
    assert_eq!(calls.values().collect::<Vec<_>>(), [&2], "{calls:?}");
}

/// P46: what waits is listed and answered by a program that knows nothing of this one.
#[test]
fn a_turn_that_waits_is_answered_by_another_program() {
    answered_by_another_program("a.db", "main", &["--db", "a.db"]);
}

/// P46: the same on PostgreSQL.
#[cfg(feature = "postgres")]
#[test]
fn a_turn_waits_on_postgresql() {
    let url = match postgres_for_tests::url() {
        Ok(url) => url,
        Err(missing) => {
            eprintln!("skipped: {missing}");
            return;
        }
    };
    answered_by_another_program(&url, &format!("pg-{}", std::process::id()), &["--postgres", &url]);
}

/// The command `hanok`, which knows nothing of the orchestrator.
fn hanok_program(folder: &Path) -> Command {
    let example = command("orchestrator", &[]).get_program().to_owned();
    let program = Path::new(&example).parent().unwrap().with_file_name("hanok");
    assert!(program.exists(), "build it first: cargo build -p hanok-cli --all-features");
    let mut program = Command::new(program);
    program.current_dir(folder);
    program
}

/// A turn on `thread` of the store at `db` that waits for a person; `place` names that store to the other program.
fn answered_by_another_program(db: &str, thread: &str, place: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let run =
        |more: &[&str]| run(folder.path(), &[&["--db", db, "--thread", thread], more].concat());
    let asked = run(&["--gates", "step", "우유 사기 메모해 줘"]);
    assert_eq!(asked.code, Some(5), "{}", asked.err);
    let hanok = |arguments: &[&str]| {
        said(hanok_program(folder.path()).args(place).args(arguments).output().unwrap())
    };
    let open = &*open_id(&asked);
    let inbox = hanok(&["inbox", "--json"]);
    let waits = |line: &&str| line.contains(thread) && line.contains(open);
    assert_eq!(inbox.out.lines().filter(waits).count(), 1, "{}{}", inbox.out, inbox.err);
    let answered = hanok(&["answer", thread, open, "--approve"]);
    assert_eq!(answered.code, Some(0), "{}", answered.err);
    let ended = run(&["--resume"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let desk = if db == "a.db" { "a.desk" } else { "orchestrator.desk" };
    let notes = fs::read_to_string(folder.path().join(desk).join("desk.json")).unwrap();
    let desk: Value = serde_json::from_str(&notes).unwrap();
    assert_eq!(desk["notes"].as_array().unwrap().len(), 1, "{notes}");
}

/// P46: eight people answer at once, each in a process of their own: one is heard, and the server sees one call or none.
#[test]
fn of_many_answers_at_once_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let db = |more: &[&str]| run(folder.path(), &[&["--db", "a.db"], more].concat());
    let asked = db(&["--gates", "step", "우유 사기 메모해 줘"]);
    assert_eq!(asked.code, Some(5), "{}", asked.err);
    let open = &*open_id(&asked);
    let people: Vec<_> = (0..8)
        .map(|nth| {
            let decision = if nth % 2 == 0 { "approve" } else { "skip" };
            let decision = json!({"decision": decision}).to_string();
            let mut person = hanok_program(folder.path());
            person.args(["--db", "a.db", "answer", "main", open, &decision]);
            person.args(["--as", &format!("person-{nth}")]);
            person.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let said: Vec<_> =
        people.into_iter().map(|person| said(person.wait_with_output().unwrap())).collect();
    let heard: Vec<_> = (0..8).filter(|nth| said[*nth].code == Some(0)).collect();
    let [heard] = *heard else { panic!("{:?}", said.iter().map(|it| &it.err).collect::<Vec<_>>()) };
    let ended = db(&["--resume"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let calls = ledger(folder.path());
    let made = calls.keys().filter(|(tool, _)| tool == "add_note").count();
    assert_eq!(made, usize::from(heard % 2 == 0), "person {heard}: {calls:?}");
    let audit = db(&["/approvals"]).out;
    assert!(audit.contains(&format!("person-{heard}")), "{audit}");
}

/// P46: what was asked stays asked, and its answer counts, whatever gates the process has that goes on.
#[test]
fn a_gate_that_has_asked_is_not_passed_by_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let db = |more: &[&str]| run(folder.path(), &[&["--db", "a.db"], more].concat());
    for (gate, text, answer, words) in [
        ("plan", "우유 사기 메모해 줘", r#"{"decision": "reject"}"#, "거절"),
        ("step", "우유 사기 메모해 줘", r#"{"decision": "skip"}"#, "건너뛰었습니다"),
        (
            "clarify",
            "그거 해 줘",
            r#"{"decision": "respond", "result": "빵 사기를 메모해 줘"}"#,
            "빵 사기",
        ),
    ] {
        let asked = db(&["--thread", gate, "--gates", gate, text]);
        assert_eq!(asked.code, Some(5), "{}", asked.err);
        let id = &*open_id(&asked);
        let open = db(&["--thread", gate, "--gates", "none", "--resume"]);
        assert_eq!(open.code, Some(5), "{gate}: {}", open.err);
        let said = db(&["--thread", gate, "--gates", "none", "--answer", id, answer]);
        assert_eq!(said.code, Some(0), "{gate}: {}", said.err);
        assert!(said.out.contains(words), "{gate}: {}", said.out);
    }
}

/// What is learned is shown, used and forgotten; also what a server taught.
#[test]
fn it_learns_and_forgets() {
    let folder = tempfile::tempdir().unwrap();
    let of = |lines: &str| talk(folder.path(), &["--db", "a.db", "--user", "kim"], lines);
    let said = of("우유 사기 메모해 줘\n10 km를 마일로 바꿔 줘\n");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let memory = of("/memory\n").out;
    for kind in ["[계획]", "[도구]", "[흐름]"] {
        assert!(memory.contains(kind), "{memory}");
    }
    assert!(of("/forget desk\n").out.contains("모든 사용자의 기억에서 "));
    assert!(of("/help\n").out.contains("모든 사용자에게서 배운 것"));
    let memory = of("/memory\n").out;
    assert!(!memory.contains("[도구]"), "{memory}");
    of("/forget 모두\n");
    assert!(of("/memory\n").out.contains("배운 것이 없습니다"));
    assert!(run(folder.path(), &["--db", "a.db", "/memory"]).out.contains("--user"));
    let long = run(folder.path(), &["--db", "a.db", "--user", &"a".repeat(3_000), "안녕"]);
    assert_eq!(long.code, Some(2), "{}", long.err);
    assert!(long.err.contains("200바이트까지"), "{}", long.err);
}

/// What is too long for a memory ends no turn: the work is done, and its call is learned.
#[test]
fn a_request_that_is_too_long_for_a_memory_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--db", "a.db", "--user", "kim"];
    // The second is too long for a search, too.
    for (times, bytes) in [(1_500, 5_000), (20_000, 65_536)] {
        let request = format!("우유 사기 메모해 줘. {}", "꼭 ".repeat(times));
        assert!(request.len() > bytes);
        let said = run(folder.path(), &[&arguments[..], &[&*request]].concat());
        assert_eq!(said.code, Some(0), "{bytes}: {}", said.err);
    }
    let memory = talk(folder.path(), &arguments, "/memory\n").out;
    assert!(memory.contains("[계획]") && memory.contains("[흐름]"), "{memory}");
}

/// A server is forgotten by the name that it has, also where models know its tools by others.
#[test]
fn a_server_of_any_name_is_forgotten() {
    let program = command("orchestrator", &[]).get_program().to_owned();
    for server in ["문서", "a_", "my-files", "모두"] {
        let folder = tempfile::tempdir().unwrap();
        let config = json!({"mcpServers": {server: {
            "command": program.to_str().unwrap(), "args": [desk::ARGUMENT], "trust": "annotations",
            "env": {desk::NOW: "2026-11-26T01:00:00Z", desk::REPORT_MILLIS: "0"},
        }}});
        fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
        let arguments = ["--mcp", "mcp.json", "--db", "a.db", "--user", "kim"];
        let of = |lines: &str| talk(folder.path(), &arguments, lines);
        let said = of("/diff\n/accept\n우유 사기 메모해 줘\n");
        assert_eq!(said.code, Some(0), "{server}: {}", said.err);
        let memory = of("/memory\n").out;
        assert!(memory.contains("[도구]"), "{server}: {memory}");
        let word = if server == "모두" { "서버 " } else { "" };
        let forgotten = of(&format!("/forget {word}{server}\n")).out;
        assert!(forgotten.contains("모든 사용자의"), "{server}: {forgotten}");
        let memory = of("/memory\n").out;
        assert!(!memory.contains("[도구]"), "{server}: {memory}");
    }
}

/// P44: tools of a server are offered when a person has seen them; a configuration that lies about is none.
#[test]
fn tools_of_others_are_used_after_a_look() {
    let folder = tempfile::tempdir().unwrap();
    let program = command("orchestrator", &[]).get_program().to_owned();
    let config = json!({"mcpServers": {"desk": {
        "command": program.to_str().unwrap(), "args": [desk::ARGUMENT], "trust": "annotations",
        "env": {desk::NOW: "2026-11-26T01:00:00Z", desk::REPORT_MILLIS: "0"},
    }}});
    fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
    let with = |lines: &str| talk(folder.path(), &["--mcp", "mcp.json"], lines);
    let said = with("10 km를 마일로 바꿔 줘\n");
    assert!(said.err.contains("승인을 기다리는 도구 정의 9개"), "{}", said.err);
    assert!(said.out.contains("찾지 못했습니다"), "{}", said.out);
    assert!(said.out.contains("--accept"), "{}", said.out);
    let once = run(folder.path(), &["--mcp", "mcp.json", "10 km를 마일로 바꿔 줘"]);
    assert_eq!(once.code, Some(1), "{}", once.out);
    assert!(with("/accept\n").err.contains("/diff"));
    let whole = with("/diff desk/add_note\n").out;
    assert!(whole.contains("properties") && !whole.contains("delete_notes"), "{whole}");
    assert!(with("/diff\n/accept nobody\n").err.contains("nobody"));
    let locked = run(folder.path(), &["--mcp", "mcp.json", "--locked", "안녕"]);
    assert_eq!(locked.code, Some(2), "{}", locked.err);
    let said = with("/diff\n/accept\n10 km를 마일로 바꿔 줘\n");
    assert!(
        said.out.contains("9가지를 승인했습니다") && said.out.contains("6.2137"),
        "{}",
        said.out
    );
    let locked = run(folder.path(), &["--mcp", "mcp.json", "--locked", "10 km를 마일로 바꿔 줘"]);
    assert_eq!(locked.code, Some(0), "{}", locked.err);
    let missing = run(folder.path(), &["--mcp", "other.json", "안녕"]);
    assert_eq!(missing.code, Some(2), "{}", missing.err);
}

/// What a configuration says to no purpose is shown before anything is done.
#[test]
fn warnings_of_a_configuration_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let program = command("orchestrator", &[]).get_program().to_owned();
    let config = json!({"mcpServers": {"desk": {
        "command": program.to_str().unwrap(), "args": [desk::ARGUMENT], "alwaysAllow": [],
        "tools": {"add_note": {"approval": "ask"}, "delete_note": {"approval": "deny"}},
    }}});
    fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
    let said = run(folder.path(), &["--mcp", "mcp.json", "안녕하세요"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for warning in [
        "살펴볼 것: mcpServers.desk.alwaysAllow: this says nothing here",
        "살펴볼 것: mcpServers.desk.tools: the server lists no tool `delete_note`",
    ] {
        assert!(said.err.contains(warning), "{}", said.err);
    }
    assert!(!said.err.contains("no tool `add_note`"), "{}", said.err);
}

/// P55: no key of a model and no secret of a server stands in what is printed, told, stored or written, whatever goes wrong.
#[test]
fn what_is_secret_stands_nowhere() {
    const OF_SERVER: &str = "planted-for-the-server";
    const OF_MODEL: &str = "planted-for-the-model";
    let folder = tempfile::tempdir().unwrap();
    let desk = command("orchestrator", &[]).get_program().to_owned();
    let config = json!({"mcpServers": {
        "desk": {
            "command": desk.to_str().unwrap(), "args": [desk::ARGUMENT], "trust": "annotations",
            "env": {desk::NOW: "2026-11-26T01:00:00Z", desk::REPORT_MILLIS: "0", "DESK_KEY": "${PLANTED}"},
        },
        "web": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${PLANTED}"}},
    }});
    fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
    // A server of a model that says which key it refuses.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = example_tests::program::http::read_request(&stream);
            let refusal = json!({"error": {"message": format!("no such key: {OF_MODEL}")}});
            drop(example_tests::program::http::write_answer(&stream, 401, &refusal));
        }
    });
    let run = |arguments: &[&str], by_model: bool, lines: &str| {
        let all = ["--mcp", "mcp.json", "--db", "a.db", "--results", "results", "--trace"];
        let mut program = program(folder.path(), &[&all, arguments].concat());
        program.env("PLANTED", OF_SERVER).env("HANOK_AUDIT_KEY", "planted-for-the-audit");
        if by_model {
            program.env("OPENAI_BASE_URL", &url).env("OPENAI_MODEL", "m");
            program.env("OPENAI_API_KEY", OF_MODEL);
        }
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let said = said(child.wait_with_output().unwrap());
        assert!(
            !said.out.contains("planted-") && !said.err.contains("planted-"),
            "{} {}",
            said.out,
            said.err
        );
        said
    };
    let lines = "/servers\n/diff\n/accept\n우유 사기 메모해 줘\n/why\n/tools\n/approvals\n";
    let first = run(&["--gates", "none"], false, lines);
    assert!(
        first.out.contains("10가지") || first.out.contains("9가지를 승인했습니다"),
        "{}",
        first.out
    );
    run(&["--gates", "step", "--json", "빵 사기 메모해 줘"], false, "");
    let refused = run(&["--thread", "refused", "메모 목록 보여 줘"], true, "");
    assert!(refused.err.contains("키를 받지 않습니다"), "{}", refused.err);
    let mut files = vec![folder.path().to_owned()];
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let is_there = bytes.windows(8).any(|piece| piece == b"planted-");
        assert!(!is_there, "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

/// The server that a run has started.
#[cfg(target_os = "linux")]
fn child_of(program: u32) -> Option<String> {
    let children = fs::read_to_string(format!("/proc/{program}/task/{program}/children")).ok()?;
    children.split_whitespace().next().map(str::to_owned)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn child_of(_: u32) -> Option<String> {
    None
}

/// P4, P20: killed at any time, the program or its server, a call that must not be repeated is made once or in doubt, and one that may be
/// repeated has one key.
#[cfg(unix)]
#[test]
fn a_killed_run_goes_on_and_does_nothing_twice() {
    for round in hanok_testkit::sampled(0_u64..30) {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["--json", "--db", "a.db", "우유 사기 메모해 줘. 그리고 보고서 만들어 줘?"];
        let mut child = program(folder.path(), &arguments)
            .env(desk::REPORT_MILLIS, "300")
            .env_remove(desk::NOW)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Scattered over what a whole run takes.
        sleep(Duration::from_millis(150 + round * 97 % 1_100));
        let server = child_of(child.id()).filter(|_| round % 3 == 2);
        match &server {
            Some(server) => {
                let _ = Command::new("kill").args(["-KILL", server]).status();
            }
            None => child.kill().unwrap(),
        }
        child.wait_with_output().unwrap();
        let said = run_to_end(folder.path());
        let calls = ledger(folder.path());
        let of = |tool: &str| calls.iter().filter(|((it, _), _)| it == tool).collect::<Vec<_>>();
        let what = format!("round {round}, server {server:?}: {calls:?}");
        assert!(of("add_note").len() <= 1, "{what}");
        assert!(of("build_report").iter().all(|(_, times)| **times == 1), "{what}");
        assert!(of("build_report").len() <= 1, "{what}");
        let desk = fs::read_to_string(folder.path().join("a.desk/desk.json")).unwrap_or_default();
        assert!(desk.matches("우유 사기").count() <= 2, "round {round}: {desk}");
        assert!(said.err.contains("도구") || !said.out.is_empty(), "round {round}: {}", said.err);
    }
}

/// P4: killed around a server's own question, the form is asked once more at most, and its call books once.
#[cfg(unix)]
#[test]
fn a_run_that_is_killed_around_a_form_books_once() {
    for round in hanok_testkit::sampled(0_u64..6) {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["--json", "--db", "a.db", "--gates", "none", "회의실 예약해 줘"];
        let mut child = program(folder.path(), &arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(200 + round * 150));
        child.kill().unwrap();
        child.wait_with_output().unwrap();
        let db = |more: &[&str]| run(folder.path(), &[&["--db", "a.db"], more].concat());
        let mut said = db(&["--resume"]);
        if said.err.contains("대화 `main`이(가) 없습니다") {
            // Nothing was stored yet.
            said = db(&["--gates", "none", "회의실 예약해 줘"]);
        }
        assert_eq!(said.code, Some(5), "round {round}: {}", said.err);
        let id = open_id(&said);
        let answer = json!({"decision": "edit", "arguments": {"room": "대청", "people": 9}});
        let said = db(&["--answer", &id, &answer.to_string()]);
        assert_eq!(said.code, Some(0), "round {round}: {}", said.err);
        let calls = ledger(folder.path());
        let booked: Vec<_> = calls.keys().filter(|(tool, _)| tool == "book_room").collect();
        assert_eq!(booked.len(), 1, "round {round}: {calls:?}");
        let desk = fs::read_to_string(folder.path().join("a.desk/desk.json")).unwrap();
        let desk: Value = serde_json::from_str(&desk).unwrap();
        assert_eq!(desk["bookings"].as_array().unwrap().len(), 1, "round {round}: {desk}");
    }
}

/// Ctrl-C while a server works: its task is cancelled, the server ends with the program, and the turn can go on.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_cancels_the_task_and_ends_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let child = program(folder.path(), &["--db", "a.db", "--gates", "none", "보고서 만들어 줘"])
        .env(desk::REPORT_MILLIS, "600000")
        .env_remove(desk::NOW)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let came = |what: &str| ledger(folder.path()).keys().any(|(tool, _)| tool == what);
    while !came("poll") {
        sleep(Duration::from_millis(20));
    }
    let server = child_of(child.id()).unwrap();
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}", said.err);
    while Path::new("/proc").join(&server).exists() {
        sleep(Duration::from_millis(20));
    }
    assert!(came("cancel"), "{:?}", ledger(folder.path()));
}

/// What ends the program while its servers start, or while it waits for a line, ends them too.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_servers_with_the_program() {
    use std::io::{BufRead, BufReader};
    let is_alive = |server: &str| {
        let stat = fs::read_to_string(Path::new("/proc").join(server).join("stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    for signal in ["-INT", "-TERM", "-HUP"] {
        let folder = tempfile::tempdir().unwrap();
        let (script, pid) = (folder.path().join("slow.sh"), folder.path().join("pid"));
        let text =
            format!("echo $$ > '{0}.part'; mv '{0}.part' '{0}'; exec sleep 600", pid.display());
        fs::write(&script, text).unwrap();
        let config = json!({"mcpServers": {"slow": {"command": "sh", "args": [script]}}});
        fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
        let child = program(folder.path(), &["--mcp", "mcp.json", "안녕"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while !pid.exists() {
            sleep(Duration::from_millis(20));
        }
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
        let said = said(child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(130), "{signal}: {}", said.err);
        let server = fs::read_to_string(&pid).unwrap();
        while is_alive(server.trim()) {
            sleep(Duration::from_millis(20));
        }

        let mut child = program(folder.path(), &[])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It stays open: the program does not end by itself.
        let mut input = child.stdin.take().unwrap();
        input.write_all("10 km를 마일로 바꿔 줘\n".as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
        assert!(!answer.trim().is_empty(), "{signal}");
        let server = child_of(child.id()).unwrap();
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        drop(input);
        while is_alive(&server) {
            sleep(Duration::from_millis(20));
        }
    }
}

/// A required server that is down is no wrong usage, and a configuration that makes no sense is.
#[test]
fn a_server_that_is_down_has_another_exit_than_a_faulty_configuration() {
    let folder = tempfile::tempdir().unwrap();
    for (server, code, words) in [
        (
            json!({"command": "no-such-program", "required": true}),
            1,
            "도구의 서버를 쓸 수 없습니다",
        ),
        (json!({"comand": "no-such-program", "required": true}), 2, "mcpServers.desk.comand"),
    ] {
        let config = json!({"mcpServers": {"desk": server}});
        fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
        let said = run(folder.path(), &["--mcp", "mcp.json", "안녕"]);
        assert_eq!(said.code, Some(code), "{}", said.err);
        assert!(said.err.contains(words), "{}", said.err);
    }
}

/// Goes on with whatever a killed run left: a call in doubt is given up.
#[cfg(unix)]
fn run_to_end(folder: &Path) -> Said {
    let resume = |more: &[&str]| {
        let mut program = program(folder, &[&["--db", "a.db"], more].concat());
        program.env(desk::REPORT_MILLIS, "300").env_remove(desk::NOW);
        said(program.output().unwrap())
    };
    let mut said = resume(&["--resume"]);
    for _ in 0..40 {
        match said.code {
            Some(3) => {
                sleep(Duration::from_millis(500));
                said = resume(&["--resume"]);
            }
            Some(5) => {
                let id = open_id(&said);
                said = resume(&["--answer", &id, r#""give_up""#]);
            }
            _ => return said,
        }
    }
    panic!("never over: {:?} {}", said.code, said.err);
}
