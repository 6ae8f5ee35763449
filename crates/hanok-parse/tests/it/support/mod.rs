//! Shows a reply as one line, so that whole replies stand in tables.

#[allow(dead_code, reason = "not every test file makes texts")]
pub(crate) mod soup;
#[allow(dead_code, reason = "not every test file reads streams")]
pub(crate) mod stream;

use hanok_parse::{Bare, CallKind, Declared, ParamType, Parser, Reply};

/// `find` takes one string, `ping` nothing, `plan` more than one thing; the rest is for names.
pub(crate) fn declared() -> Declared {
    let string = |name: &str, required| (name.to_owned(), ParamType::String, required);
    Declared::new()
        .tool_with("find", [string("q", true)])
        .tool_with("ping", [])
        .tool_with("plan", [string("goal", true), ("days".to_owned(), ParamType::Integer, true)])
        .tool("f")
        .tool("g")
        .tool("search-kb")
        .tool("crm.find")
        .tool("문서검색")
        .tool("3d_render")
        .tool("Web Search")
        .tool("lookup (v2)")
        .tool("functions.raw")
        .agent("rag_agent")
        .agent("real-estate-agent")
        .agent("real")
        .agent("계약-검토")
        .agent("계약")
}

/// A parser that reads forms without a mark, too.
pub(crate) fn reads_all(declared: Declared) -> Parser {
    Parser::new(declared).policy(Bare::On)
}

pub(crate) fn parser() -> Parser {
    reads_all(declared())
}

/// Calls as `name{…}`, delegations as `@name:task`, the answer as `=answer`, the error as `!code(name)?suggestion`.
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test helper: a panic is a failed test"
)]
pub(crate) fn line(reply: &Reply) -> String {
    let mut parts: Vec<String> = reply
        .calls
        .iter()
        .map(|call| match call.kind {
            CallKind::Tool => format!("{}{}", call.name, call.arguments),
            CallKind::Delegate => {
                let task: serde_json::Value = call.arguments.decode().unwrap();
                format!("@{}:{}", call.name, task["task"].as_str().unwrap())
            }
        })
        .collect();
    parts.extend(reply.answer.iter().map(|answer| format!("={answer}")));
    parts.extend(reply.error.iter().map(|error| {
        let name = error.name.as_ref().map_or(String::new(), |name| format!("({name})"));
        let near = error.suggestion.as_ref().map_or(String::new(), |near| format!("?{near}"));
        format!("!{}{name}{near}", error.kind.code())
    }));
    parts.join(" ")
}

#[allow(dead_code, reason = "not every test file reads tables")]
pub(crate) fn read(text: &str) -> String {
    line(&parser().parse(text))
}

#[allow(dead_code, reason = "not every test file reads tables")]
pub(crate) fn check(cases: &[(&str, &str)]) {
    for (text, want) in cases {
        assert_eq!(read(text), *want, "{text}");
    }
}
