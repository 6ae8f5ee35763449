//! JSON objects that are calls: `{name, arguments}` and its relatives.

use crate::{
    declared::{CallKind, Declared},
    json::scan::{self, Scan, unquoted},
    reply::input::Input,
    text::{names, rule::Shape},
};

/// A name and what is given to it.
pub(crate) type Pair = (String, Input);

/// Keys that a call has before it is clear that it is one.
const KEYS: [&str; 19] = [
    "name",
    "arguments",
    "parameters",
    "args",
    "action",
    "action_input",
    "input",
    "type",
    "function",
    "id",
    "tool_calls",
    "function_call",
    "index",
    "thought",
    "tool",
    "tool_name",
    "tool_call_id",
    "reasoning",
    "tool_calls_id",
];
const NAMES: [&str; 3] = ["name", "action", "tool_name"];
const ARGUMENTS: [&str; 5] = ["arguments", "parameters", "args", "action_input", "input"];

/// The calls that an object stands for. A bare one needs arguments to be one.
pub(crate) fn calls(object: &Scan, shape: Shape, bare: bool) -> Vec<Pair> {
    // What nearly all calls look like.
    if shape == Shape::Members
        && let Some((name, arguments)) = object.pair("name", "arguments")
        && arguments.starts_with('{')
    {
        return pair(name, Some(arguments), bare).into_iter().collect();
    }
    if shape == Shape::Key {
        let calls: Vec<_> = keyed(object).collect();
        if !calls.is_empty() {
            return calls;
        }
    }
    if let Some(list) = object.get("tool_calls") {
        return objects(list).iter().filter_map(|item| call(item, bare)).collect();
    }
    if let Some(inner) = object.get("function_call").and_then(nested) {
        return named(&inner, bare).into_iter().collect();
    }
    call(object, bare).into_iter().collect()
}

/// `{"name": {…}}`.
fn keyed(object: &Scan) -> impl Iterator<Item = Pair> {
    let has_name = object.get("name").is_some_and(|name| name.starts_with('"'));
    object
        .entries()
        .filter(move |_| !has_name)
        .map(|(name, arguments)| (name, Input::from_json(arguments).announced()))
}

fn call(object: &Scan, bare: bool) -> Option<Pair> {
    if let Some(action) = object.get("action").filter(|action| action.starts_with('"')) {
        let input = object.get("action_input").or_else(|| object.get("input"));
        // ReAct in JSON: words may stand for the only string.
        let words = object.get("action_input").map(Input::from_json);
        return pair(action, input, bare).map(|(name, json)| (name, words.unwrap_or(json)));
    }
    match object.get("function") {
        Some(name) if name.starts_with('"') => pair(name, arguments(object), bare),
        Some(inner) => named(&nested(inner)?, bare),
        None => named(object, bare),
    }
}

fn named(object: &Scan, bare: bool) -> Option<Pair> {
    // A tool's definition has a name and parameters, too. Models repeat the list of tools.
    if bare && object.get("description").is_some() {
        return None;
    }
    let name = ["name", "tool_name", "tool"].iter().find_map(|key| object.get(key))?;
    pair(name, arguments(object), bare)
}

fn arguments(object: &Scan) -> Option<&str> {
    ["arguments", "parameters", "args"].iter().find_map(|key| object.get(key))
}

fn pair(name: &str, input: Option<&str>, bare: bool) -> Option<Pair> {
    if !name.starts_with('"') || (bare && input.is_none()) {
        return None;
    }
    Some((unquoted(name), input.map_or(Input::Empty, |json| Input::from_json(json).announced())))
}

fn nested(json: &str) -> Option<Scan> {
    scan::object(json, 0)
}

/// The objects of a JSON list that is known to be valid.
fn objects(json: &str) -> Vec<Scan> {
    let mut found = Vec::new();
    let mut at = 1;
    while let Some(object) = scan::object(json, at) {
        at = object.at + 1;
        found.push(object);
    }
    found
}

/// The name that an object gives, when it was read whole.
pub(crate) fn name(object: &Scan) -> Option<String> {
    let name = NAMES.iter().find_map(|key| object.whole(key)).map(unquoted);
    name.filter(|name| !name.is_empty())
}

/// The declared name of an object whose arguments are being read, and where they begin in what is written.
pub(crate) fn open_call(object: &Scan, declared: &Declared) -> Option<(String, usize)> {
    let arguments = object.open_member().filter(|(key, _)| ARGUMENTS.contains(&key.as_str()))?;
    let name = names::resolve(declared, CallKind::Tool, &name(object)?).ok()?;
    Some((name, arguments.1))
}

/// Whether an object without a marker, read so far, cannot be a call any more.
pub(crate) fn is_text(object: &Scan, declared: &Declared) -> bool {
    match name(object) {
        Some(name) => !is_known(declared, &name),
        None => object.entries().any(|(key, _)| !KEYS.contains(&key.as_str())),
    }
}

/// Whether an object without a marker that the text cut off was to be a call.
pub(crate) fn began_as_call(object: &Scan) -> bool {
    object.entries().next().is_some()
}

pub(crate) fn is_known(declared: &Declared, name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("final answer")
        || names::resolve(declared, CallKind::Tool, name).is_ok()
}
