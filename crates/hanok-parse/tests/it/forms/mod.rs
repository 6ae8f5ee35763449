//! Every format, as models write it.
#![allow(dead_code, reason = "not every test file writes calls in all ways")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test helper: a panic is a failed test"
)]

mod json;
mod raw;

use hanok_parse::{Declared, Format, ParamType};
use serde_json::{Value, json};

/// The arguments of a call, in order.
pub(crate) type Args = [(&'static str, Value)];
/// A call: its name, its arguments.
pub(crate) type Meant<'a> = (&'static str, &'a Args);

/// A way to write calls.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) format: Format,
    pub(crate) write: fn(&[Meant<'_>]) -> String,
    /// What no string may hold: it would end there.
    pub(crate) never: &'static [&'static str],
    /// It holds several calls.
    pub(crate) several: bool,
    /// Prose may stand before it.
    pub(crate) prose: bool,
    /// Objects are written as elements, so that texts in them have no type.
    pub(crate) elements: bool,
    /// It is looked for only where it is named.
    pub(crate) hinted: bool,
}

pub(crate) const NEW: Form = Form {
    format: Format::React,
    write: |_| String::new(),
    never: &[],
    several: true,
    prose: true,
    elements: false,
    hinted: false,
};

pub(crate) fn all() -> impl Iterator<Item = Form> {
    json::ALL.iter().chain(raw::ALL).copied()
}

/// What the calls are made to: `find` takes a string and anything else, `ping` nothing.
pub(crate) fn declared() -> Declared {
    let param = |name: &str, kind| (name.to_owned(), kind, false);
    Declared::new()
        .tool_with(
            "find",
            [
                param("q", ParamType::String),
                param("n", ParamType::Integer),
                param("deep", ParamType::Object),
                param("list", ParamType::Array),
                param("on", ParamType::Boolean),
            ],
        )
        .tool_with("crm.search-kb", [param("q", ParamType::String)])
        .tool_with("ping", [])
}

/// Texts that break parsers.
pub(crate) const HOSTILE: [&str; 18] = [
    "전세 🏠",
    "",
    " two  blanks ",
    "}",
    "\"}]}",
    "'it''s'",
    "\\ \\n \\\"",
    "a\n\nb\n",
    "Action: ping\nAction Input: {}",
    "Final Answer: x",
    "</tool_call>",
    "<tool_call>{\"name\": \"ping\", \"arguments\": {}}</tool_call>",
    "<think>x</think>",
    "<|eot_id|><|im_end|>",
    "```\ncode\n```",
    "[ping()]",
    "true",
    "123",
];

/// The JSON text of some arguments.
pub(crate) fn object(args: &Args) -> String {
    let members = args.iter().map(|(key, value)| format!("{}:{value}", json!(key)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

pub(crate) fn each(calls: &[Meant<'_>], write: impl Fn(&str, &Args) -> String) -> String {
    calls.iter().map(|(name, args)| write(name, args)).collect()
}

pub(crate) fn joined(
    calls: &[Meant<'_>],
    between: &str,
    write: impl Fn(&str, &Args) -> String,
) -> String {
    calls.iter().map(|(name, args)| write(name, args)).collect::<Vec<_>>().join(between)
}

/// A value as it stands between tags.
pub(crate) fn raw(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
