//! What models are asked: one request of each kind that a program makes, as it was sent, with its tokens. Judged by readers.

use example_tests::{
    cached::without_codes,
    program::said,
    served::{Manner, Served},
};
use hanok_model::TokenCounter;
use serde_json::Value;

use super::{ALL, Example};

/// The requests of `example` for its question, the first of each kind.
fn prompts(example: &Example) -> String {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(Manner::Well, example.model());
    let mut command = example.on(served.url(), &folder.path().join("a.db"));
    let answered = said(command.arg(example.question).output().unwrap());
    assert_eq!(answered.code, Some(0), "{answered:?}");
    let mut kinds: Vec<(String, Value)> = Vec::new();
    for request in served.requests() {
        let kind = kind(&request);
        if kinds.iter().all(|(known, _)| *known != kind) {
            kinds.push((kind, request));
        }
    }
    let of = |(kind, request): &(String, Value)| format!("{kind}\n\n{}", shown(request));
    let all: Vec<_> = kinds.iter().map(of).collect();
    format!("{} requests\n\n{}", served.requests().len(), all.join("\n\n"))
}

/// Of which kind a request is: by its form, or by the beginning of its system prompt.
fn kind(request: &Value) -> String {
    match request["response_format"]["json_schema"]["name"].as_str() {
        Some(form) => form.to_owned(),
        None => system(request).lines().next().unwrap_or_default().chars().take(40).collect(),
    }
}

fn system(request: &Value) -> &str {
    request["messages"][0]["content"].as_str().unwrap_or_default()
}

/// A request as a reader judges it.
fn shown(request: &Value) -> String {
    let mut text = String::new();
    for message in request["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap_or_default();
        let content = message["content"].as_str().unwrap_or_default();
        text.push_str(&format!("[{role}]\n{}\n", content.trim()));
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            text.push_str(&format!("{}\n", call["function"]));
        }
    }
    for tool in request["tools"].as_array().into_iter().flatten() {
        let tool = &tool["function"];
        text.push_str(&format!("[tool] {} {}\n", tool["name"], tool["description"]));
        text.push_str(&format!("  {}\n", tool["parameters"]));
    }
    if let Some(form) = request["response_format"]["json_schema"].get("schema") {
        text.push_str(&format!("[form] {form}\n"));
    }
    let text = settled(&text);
    // What is offered and asked for in JSON is counted by itself: schemas are most of a small prompt.
    let is_schema =
        |line: &&str| ["[tool] ", "  {", "[form] "].iter().any(|it| line.starts_with(it));
    let (schemas, said): (Vec<&str>, Vec<&str>) = text.lines().partition(is_schema);
    let tokens = |lines: &[&str]| TokenCounter::for_model("gpt-4o").text(&lines.join("\n"));
    format!("{} tokens, and {} of schemas\n\n{text}", tokens(&said), tokens(&schemas))
}

/// `text` with a fixed day, and the codes of its data marks as numbers.
fn settled(text: &str) -> String {
    let is_day = |line: &&str| ["오늘: 2", "지금: 2"].iter().any(|day| line.starts_with(day));
    let line = |line: &str| match Some(line).filter(is_day) {
        Some(line) => format!("{} (the day)", line.get(..7).unwrap_or_default()),
        None => line.to_owned(),
    };
    let lines: Vec<_> = text.lines().map(line).collect();
    without_codes(&lines.join("\n"))
}

macro_rules! prompts {
    ($($name:ident $at:literal)*) => {
        $(#[test]
        fn $name() {
            let prompts = prompts(&ALL[$at]);
            println!("{prompts}");
            insta::assert_snapshot!(stringify!($name), prompts);
        })*
    };
}

prompts! { rag 0 chat 1 contract 2 real_estate 3 orchestrator 4 }
