//! JSON as models write it, through the parser and through crates that mend JSON: how much comes out as it was meant.

use std::panic::catch_unwind;

use hanok_parse::{Bare, Declared, Parser};

/// What is written, and what it means; nothing for what was cut off, of which nobody knows what it was to be.
const CASES: [(&str, &str, Option<&str>); 25] = [
    ("a comma too many", r#"{"a":1,}"#, Some(r#"{"a":1}"#)),
    ("a comma too few", r#"{"a":1 "b":2}"#, Some(r#"{"a":1,"b":2}"#)),
    ("single quotes", "{'q': 'it'}", Some(r#"{"q":"it"}"#)),
    ("an apostrophe in single quotes", r"{'q': 'it\'s'}", Some(r#"{"q":"it's"}"#)),
    ("double quotes in single ones", r#"{'q': 'say "hi"'}"#, Some(r#"{"q":"say \"hi\""}"#)),
    ("smart quotes", "{“q”: “전세”}", Some(r#"{"q":"전세"}"#)),
    ("smart quotes in a string", r#"{"q": "그는 “네” 라고"}"#, Some(r#"{"q":"그는 “네” 라고"}"#)),
    (
        "Python's literals",
        r#"{"a": True, "b": None, "c": False}"#,
        Some(r#"{"a":true,"b":null,"c":false}"#),
    ),
    ("Python's literals in a string", r#"{"a": "True, None"}"#, Some(r#"{"a":"True, None"}"#)),
    ("keys without quotes", r#"{a: 1, 이름: "x"}"#, Some(r#"{"a":1,"이름":"x"}"#)),
    ("comments", "{\"a\": 1, // one\n \"b\": /* two */ 2}", Some(r#"{"a":1,"b":2}"#)),
    (
        "marks of comments in a string",
        r#"{"u": "http://x/*y*/"}"#,
        Some(r#"{"u":"http://x/*y*/"}"#),
    ),
    ("a raw line break", "{\"a\": \"x\ny\"}", Some(r#"{"a":"x\ny"}"#)),
    ("an escape that is none", r#"{"re": "\d+"}"#, Some(r#"{"re":"\\d+"}"#)),
    ("doubled braces", r#"{{"a": 1}}"#, Some(r#"{"a":1}"#)),
    ("a closer too many", r#"{"a": 1}}"#, Some(r#"{"a":1}"#)),
    ("text behind it", r#"{"a": 1} so I call it"#, Some(r#"{"a":1}"#)),
    ("a long number", r#"{"n": 123456789012345678901,}"#, Some(r#"{"n":123456789012345678901}"#)),
    ("the digits of a number", r#"{"n": 1.10,}"#, Some(r#"{"n":1.10}"#)),
    ("the order of keys", r#"{"b": 1, "a": 2,}"#, Some(r#"{"b":1,"a":2}"#)),
    ("a key twice", r#"{"a": 1, "a": 2,}"#, Some(r#"{"a":2}"#)),
    ("a fence in a string", r#"{"a": "```json\n{}\n```",}"#, Some(r#"{"a":"```json\n{}\n```"}"#)),
    ("cut off in a string", r#"{"path": "/home/kim/"#, None),
    ("cut off in a word", r#"{"force": false, "dry_run": tr"#, None),
    ("cut off behind a value", r#"{"force": false"#, None),
];

type Mends = fn(&str) -> Option<String>;

const ALL: [(&str, Mends); 4] = [
    ("hanok", hanok),
    ("jsonrepair", |text| jsonrepair::repair_to_string(text, &Default::default()).ok()),
    ("jsonrepair-rs", |text| jsonrepair_rs::jsonrepair(text).ok()),
    ("llm_json", |text| llm_json::repair_json(text, &Default::default()).ok()),
];

/// The arguments of a call.
fn hanok(text: &str) -> Option<String> {
    let parser = Parser::new(Declared::new().tool("f")).policy(Bare::On);
    let mut reply = parser.parse(&format!("Action: f\nAction Input: {text}"));
    reply.calls.pop().map(|call| call.arguments.into_string())
}

/// Prints how many cases each has right, and which it has not.
pub(crate) fn print() {
    println!("\nJSON that is mended, of {} cases", CASES.len());
    for (name, mends) in ALL {
        let wrong = CASES.iter().filter(|(_, text, want)| {
            let got = catch_unwind(|| mends(text)).ok().map(|got| got.map(|got| bare(&got)));
            got.as_ref().map(Option::as_deref) != Some(*want)
        });
        let wrong: Vec<_> = wrong.map(|(case, ..)| *case).collect();
        println!("{name:<14} {:>2}  {}", CASES.len() - wrong.len(), wrong.join("; "));
    }
}

/// `json` without the blanks outside of its strings.
fn bare(json: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let mut keep = |letter: &char| {
        let blank = letter.is_whitespace() && !quoted;
        (quoted, escaped) = match letter {
            '"' if !escaped => (!quoted, false),
            '\\' => (quoted, !escaped),
            _ => (quoted, false),
        };
        !blank
    };
    json.chars().filter(|letter| keep(letter)).collect()
}
