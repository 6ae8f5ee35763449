//! The program as a script uses it: what it prints, and how it ends when something is wrong.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, Stdio},
};

use example_tests::program::command;
use serde_json::{Value, json};

/// The program of the example.
fn program() -> PathBuf {
    command("parse", &[]).get_program().into()
}

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn run(arguments: &[&str], input: &[u8]) -> Said {
    let mut child = Command::new(program())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that ends on wrong usage does not read.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let said =
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
    assert!(!said.err.contains("panicked"), "{}", said.err);
    said
}

const CASES: &str = concat!(
    r#"{"id":1,"text":"Thought: 찾자\nAction: find\nAction Input: {\"n\": 123456789012345678901234567890, 'q': 'a } b'}","tools":["find"]}"#,
    "\n\n",
    r#"{"id":"two","text":"Final Answer: 네\n\n- 하나","tools":[],"format":null,"more":true}"#,
    "\n",
    r#"{"id":[3],"text":"Action: fnd\nAction Input: {\"q\": 1.50}\nAction: find\nAction Input: {}","tools":["find"]}"#,
    "\n",
    r#"{"id":4,"text":"<tool_call>{\"name\": \"find\", \"arguments\": {\"q\": ","tools":null}"#,
    "\n",
    r#"{"id":5,"text":"Action: find\nAction Input: 휴가","tools":["find"],"schemas":{"find":{"q":"string"}}}"#,
    "\n",
    r#"{"id":6,"text":"Delegate: rag\nTask: 조사","tools":["rag"]}"#,
    "\n",
    r#"{"id":7,"text":"안녕하세요"}"#,
    "\n",
);

const OUTCOMES: [&str; 7] = [
    r#"{"id":1,"calls":[{"name":"find","args":{"n":123456789012345678901234567890,"q":"a } b"}}],"final":null,"error":null,"rejected":[]}"#,
    r#"{"id":"two","calls":[],"final":"네\n\n- 하나","error":null,"rejected":[]}"#,
    r#"{"id":[3],"calls":[{"name":"find","args":{}}],"final":null,"error":"unknown_tool","rejected":[{"name":"fnd","args":{"q":1.50},"error":"unknown_tool"}]}"#,
    r#"{"id":4,"calls":[],"final":null,"error":"truncated","rejected":[]}"#,
    r#"{"id":5,"calls":[{"name":"find","args":{"q":"휴가"}}],"final":null,"error":null,"rejected":[]}"#,
    r#"{"id":6,"calls":[{"name":"rag","args":{"task":"조사"}}],"final":null,"error":null,"rejected":[]}"#,
    r#"{"id":7,"calls":[],"final":null,"error":null,"rejected":[]}"#,
];

/// contract 10, 13
#[test]
fn each_case_gives_its_result_in_a_line_however_its_text_is_split() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cases.jsonl");
    fs::write(&file, CASES).unwrap();
    let file = file.to_str().unwrap();
    for arguments in [
        &["--jsonl"][..],
        &["--jsonl", "-"],
        &["--jsonl", file],
        &["--jsonl", "--split", "1"],
        &["--jsonl", "--split", "7"],
        &["--split", "1000000", "--jsonl", file],
    ] {
        let Said { code, out, err } = run(arguments, CASES.as_bytes());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
        assert_eq!(out.lines().collect::<Vec<_>>(), OUTCOMES, "{arguments:?}");
    }
}

/// contract 13
#[test]
fn the_events_of_a_text_are_lines_whose_pieces_join_to_what_it_says() {
    let text = "안녕하세요.\n<tool_call>\n{\"name\": \"find\", \"arguments\": {\"n\": 12345678901234567890, \"q\": \"</tool_call>\",}}\n</tool_call>";
    for arguments in [&["--tool", "find"][..], &["--split", "1"], &["--format", "hermes"]] {
        let Said { code, out, err } = run(arguments, text.as_bytes());
        assert_eq!((code, err.as_str()), (Some(0), ""));
        let events: Vec<Value> =
            out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let joined = |event: &str, key: &str| -> String {
            let pieces = events.iter().filter(|one| one["event"] == event);
            pieces.map(|one| one[key].as_str().unwrap()).collect()
        };
        assert_eq!(joined("content", "text").trim(), "안녕하세요.");
        assert_eq!(joined("call_started", "name"), "find");
        assert_eq!(joined("arguments", "json"), r#"{"n":12345678901234567890,"q":"</tool_call>"}"#);
        assert_eq!(events.last().unwrap(), &json!({ "event": "finished" }));
    }
    let unknown = run(&["--tool", "other"], text.as_bytes());
    assert!(unknown.out.contains(r#""kind":"unknown_tool""#), "{}", unknown.out);
}

/// contract 13
#[test]
fn what_is_known_is_told_while_the_text_still_comes() {
    let mut child = Command::new(program())
        .args(["--tool", "find"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    // Each piece waits for what is told of the one before.
    stdin.write_all("Let me see, 기다리세요.\n<tool_".as_bytes()).unwrap();
    assert!(next().starts_with(r#"{"event":"content","text":"Let me see, "#));
    stdin.write_all(b"call>{\"name\": \"find\", \"arguments\": {\"q\": \"it ").unwrap();
    assert_eq!(next(), r#"{"event":"call_started","call":0,"kind":"tool","name":"find"}"#);
    let mut json = String::new();
    while !json.contains("it") {
        let event: Value = serde_json::from_str(&next()).unwrap();
        assert_eq!(event["event"], "arguments");
        json.push_str(event["json"].as_str().unwrap());
    }
    stdin.write_all(b"comes\"}}</tool_call>").unwrap();
    drop(stdin);
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(rest.last().unwrap(), r#"{"event":"finished"}"#);
    assert!(child.wait().unwrap().success());
}

#[test]
fn bytes_that_are_no_text_are_read_as_replacement_characters() {
    let said = run(&["--split", "1"], b"Final Answer: a\xff\xea\xb0\x80\xe2\x82");
    assert_eq!(said.code, Some(0));
    assert!(said.out.contains(r#"{"event":"answer","text":"a"#), "{}", said.out);
    assert!(said.out.contains('\u{fffd}') && said.out.contains('가'), "{}", said.out);
}

#[test]
fn a_whole_result_holds_what_stands_beside_the_calls() {
    let case = r#"{"id":1,"text":"<think>Action: f</think>Let me look.\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"}"#;
    let said = run(&["--jsonl", "--whole"], case.as_bytes());
    let outcome: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        outcome,
        json!({
            "id": 1, "calls": [{"name": "f", "format": "hermes", "mark": "tag", "args": {}}], "final": null,
            "error": null, "rejected": [], "content": "Let me look.", "reasoning": "Action: f",
        })
    );
}

/// A case of others may name its format in their words. On the command line such a name is wrong usage.
#[test]
fn a_case_of_a_format_that_there_is_not_is_read_as_any_with_a_note() {
    let text = "Action: f\nAction Input: {}";
    for (format, calls, note) in [
        (json!("react"), 1, None),
        (json!("hermes"), 0, None),
        (json!(null), 1, None),
        (
            json!("HermesDetector"),
            1,
            Some("there is no format `HermesDetector`, so all are looked for"),
        ),
    ] {
        let case = json!({ "id": 1, "text": text, "tools": ["f"], "format": format });
        let Said { code, out, err } = run(&["--jsonl"], case.to_string().as_bytes());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{case}");
        let outcome: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(outcome["calls"].as_array().unwrap().len(), calls, "{case}");
        assert_eq!(outcome.get("note").and_then(Value::as_str), note, "{case}");
    }
}

/// contract 10
#[test]
fn parameters_are_declared_by_json_schema_or_by_their_types() {
    let call = "<function=find><parameter=q>7</parameter></function>";
    let text = "Action: find\nAction Input: 7";
    for (schema, text, args) in [
        (json!({ "q": "string" }), call, json!({ "q": "7" })),
        (json!({ "q": "integer" }), call, json!({ "q": 7 })),
        (
            json!({ "type": "object", "properties": { "q": { "type": "string" } } }),
            call,
            json!({ "q": "7" }),
        ),
        (
            json!({ "properties": { "q": { "type": ["string", "null"] } } }),
            call,
            json!({ "q": "7" }),
        ),
        (
            json!({ "properties": "string" }),
            "Action: find\nAction Input: a",
            json!({ "properties": "a" }),
        ),
        (json!({ "type": "string" }), text, json!({ "type": "7" })),
        // No parameter is known then.
        (json!({ "type": "object" }), call, json!({ "q": 7 })),
        (json!({ "type": "object", "required": ["q"] }), call, json!({ "q": 7 })),
        (
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "properties": { "q": { "type": "string" } } } } }),
            call,
            json!({ "q": "7" }),
        ),
    ] {
        let case =
            json!({ "id": 1, "text": text, "tools": ["find"], "schemas": { "find": schema } });
        let Said { code, out, err } = run(&["--jsonl"], case.to_string().as_bytes());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{case}");
        let outcome: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(outcome["calls"], json!([{ "name": "find", "args": args }]), "{case}");
    }
    let plain = json!({ "id": 1, "text": text, "tools": ["find"], "schemas": { "find": { "type": "object" } } });
    let out = run(&["--jsonl"], plain.to_string().as_bytes()).out;
    assert!(out.contains(r#""error":"malformed""#), "{out}");
    assert!(run(&["--help"], b"").out.contains("JSON Schema"));
}

/// A table that is printed is read again, and nothing else is looked for then.
#[test]
fn the_table_of_a_format_is_printed_and_read() {
    let Said { code, out, err } = run(&["--table", "hermes"], b"");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let table: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(table["name"], "hermes");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.json");
    fs::write(&file, out.replace("tool_call", "my_call")).unwrap();
    let with = ["--with", file.to_str().unwrap()];
    for (mark, calls) in [("my_call", true), ("tool_call", false)] {
        let text = format!("<{mark}>{{\"name\": \"find\", \"arguments\": {{}}}}</{mark}>");
        let said = run(&with, text.as_bytes());
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert_eq!(said.out.contains("call_started"), calls, "{}", said.out);
    }
    fs::write(&file, "{}").unwrap();
    let said = run(&with, b"");
    assert_eq!((said.code, said.err.lines().count()), (Some(1), 1), "{}", said.err);
    assert_eq!(run(&["--table", "hermse"], b"").code, Some(2));
}

/// Each wrong line is told in one sentence, and the lines around it are read.
#[test]
fn a_line_that_is_no_case_is_told_and_the_others_are_read() {
    let good = r#"{"id":1,"text":"hello"}"#;
    for (bad, sentence) in [
        (&b"not json"[..], "no case: "),
        (b"[]", "no case: "),
        (b"{\"id\":1}", "missing field `text`"),
        (b"{\"text\":\"a\"}", "missing field `id`"),
        (b"{\"id\":1,\"text\":7}", "no case: "),
        (b"{\"id\":1,\"text\":\"\xff\"}", "no case: "),
        (
            b"{\"id\":1,\"text\":\"a\",\"schemas\":{\"f\":{\"q\":\"text\"}}}",
            "`q` of `f` has a type that there is not",
        ),
    ] {
        let input = [good.as_bytes(), b"\n", bad, b"\n", good.as_bytes()].concat();
        let Said { code, out, err } = run(&["--jsonl"], &input);
        assert_eq!(code, Some(1), "{err}");
        assert_eq!(out.lines().count(), 2, "{out}");
        let lines: Vec<_> = err.lines().collect();
        assert!(lines[0].starts_with("parse: line 2: ") && lines[0].contains(sentence), "{err}");
        assert_eq!(lines[1..], ["parse: 1 of 3 lines could not be read"]);
    }
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    for (arguments, code, sentence) in [
        (&["/no/such/file"][..], 1, "cannot read /no/such/file"),
        (&["--jsonl", "/no/such/file"], 1, "cannot read /no/such/file"),
        (&["/"], 1, "cannot read /"),
        (&["--format", "hermse"], 2, "there is no format `hermse`"),
    ] {
        let said = run(arguments, b"");
        assert_eq!((said.code, said.err.lines().count()), (Some(code), 1), "{}", said.err);
        assert!(said.err.contains(sentence), "{}", said.err);
        assert_eq!(said.out, "");
    }
    for wrong in [
        &["--no-such-option"][..],
        &["--split", "0"],
        &["--split", "many"],
        &["--split"],
        &["--jsonl", "--tool", "f"],
        &["--whole"],
        &["one", "two"],
    ] {
        assert_eq!(run(wrong, b"").code, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let mut child = Command::new(program())
        .arg("--jsonl")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    drop(stdin.write_all(CASES.as_bytes()));
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// The answer to a question comes before the next question is asked.
#[test]
fn a_case_over_a_pipe_is_answered_at_once() {
    let mut child = Command::new(program())
        .arg("--jsonl")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (case, outcome) in CASES.lines().filter(|line| !line.is_empty()).zip(OUTCOMES) {
        stdin.write_all(format!("{case}\n").as_bytes()).unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), outcome);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
