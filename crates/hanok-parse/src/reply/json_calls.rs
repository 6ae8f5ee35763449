//! JSON objects that are calls: `{name, arguments}` and its relatives.

use crate::{
    declared::{CallKind, Declared},
    json::{json_text::unquoted, members, object, scan::Scan},
    reply::input::Input,
    text::{names, rule::Shape},
};

/// A name, what is given to it, and its id.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) input: Input,
    pub(crate) id: Option<String>,
    /// It is told once its object is whole: its name and arguments stand in another one.
    pub(crate) whole: bool,
}

/// Keys of a name, and of what is given to it.
const NAMES: [&str; 5] = ["name", "action", "tool_name", "function_name", "recipient_name"];
const ARGUMENTS: [&str; 7] =
    ["arguments", "parameters", "args", "action_input", "tool_input", "input", "params"];
const IDS: [&str; 3] = ["id", "tool_call_id", "call_id"];
/// Keys of an object that holds the call, and of a list of calls.
const INNER: [&str; 3] = ["function_call", "functionCall", "tool_use"];
const LISTS: [&str; 2] = ["tool_calls", "tool_uses"];
/// Other keys that a call has before it is clear that it is one.
const OTHERS: [&str; 8] =
    ["type", "function", "index", "thought", "tool", "reasoning", "tool_calls_id", "call_type"];

/// The calls that an object stands for. A bare one needs arguments to be one.
pub(crate) fn calls(object: &Scan, shape: Shape, bare: bool) -> Vec<Pair> {
    // What nearly all calls look like.
    if shape == Shape::Members {
        if let Some((name, arguments)) = object.pair("name", "arguments") {
            if arguments.starts_with('{') {
                return pair(name, Some(arguments), bare).into_iter().collect();
            }
        }
    }
    if shape == Shape::Key {
        let calls: Vec<_> = keyed(object).collect();
        if !calls.is_empty() {
            return calls;
        }
    }
    if let Some(list) = LISTS.iter().find_map(|key| object.get(key)) {
        let calls = objects(list);
        let calls = calls.iter().filter_map(|item| call(item, bare));
        return calls.map(|pair| Pair { whole: true, ..pair }).collect();
    }
    if let Some(inner) = INNER.iter().find_map(|key| object.get(key)).and_then(nested) {
        return named(&inner, bare).map(|pair| Pair { whole: true, ..pair }).into_iter().collect();
    }
    call(object, bare).into_iter().collect()
}

/// `{"name": {…}}`.
fn keyed(object: &Scan) -> impl Iterator<Item = Pair> {
    let has_name = object.get("name").is_some_and(|name| name.starts_with('"'));
    object.entries().filter(move |_| !has_name).map(|(name, arguments)| Pair {
        name,
        input: Input::from_json(arguments).announced(),
        id: None,
        whole: false,
    })
}

fn call(object: &Scan, bare: bool) -> Option<Pair> {
    let id = IDS.iter().find_map(|key| object.get(key)).filter(|id| id.starts_with('"'));
    let call = spelled(object, bare)?;
    Some(Pair { id: id.map(unquoted), ..call })
}

/// The call, without its id.
fn spelled(object: &Scan, bare: bool) -> Option<Pair> {
    if let Some(action) = object.get("action").filter(|action| action.starts_with('"')) {
        let input = object.get("action_input").or_else(|| arguments(object));
        let words = object.get("action_input").map(Input::from_json);
        // ReAct in JSON: words may stand for the only string.
        return pair(action, input, bare)
            .map(|pair| Pair { input: words.unwrap_or(pair.input), ..pair });
    }
    match object.get("function") {
        Some(name) if name.starts_with('"') => pair(name, arguments(object), bare),
        Some(inner) => named(&nested(inner)?, bare).map(|pair| Pair { whole: true, ..pair }),
        None => named(object, bare),
    }
}

fn named(object: &Scan, bare: bool) -> Option<Pair> {
    // A tool's definition has a name and parameters, too. Models repeat the list of tools.
    if bare && object.get("description").is_some() {
        return None;
    }
    let text = |key: &&str| object.get(key).filter(|name| name.starts_with('"'));
    let name = NAMES.iter().chain(&["tool"]).find_map(text)?;
    pair(name, arguments(object), bare)
}

/// Whether `object` defines the tool of this name: its parameters are a schema, and the tool has none that are named like that.
pub(crate) fn is_definition(object: &Scan, declared: &Declared, name: &str) -> bool {
    let inner = object.get("function").filter(|inner| inner.starts_with('{')).and_then(nested);
    let object = inner.as_ref().unwrap_or(object);
    let schema = object.get("parameters").filter(|schema| schema.starts_with('{'));
    let Some(schema) = schema.filter(|_| object.get("arguments").is_none()) else { return false };
    let has = |key: &str, value: &str| {
        let mut entries = members::top_level(schema);
        entries.any(|(own, at)| {
            members::is_key(own, key) && schema.get(at).is_some_and(|own| own.starts_with(value))
        })
    };
    let tool = names::resolve(declared, CallKind::Tool, name);
    let is_param = tool.is_ok_and(|tool| declared.param(&tool, "properties").is_some());
    !is_param && has("type", "\"object\"") && has("properties", "{")
}

fn arguments(object: &Scan) -> Option<&str> {
    ARGUMENTS.iter().find_map(|key| object.get(key))
}

fn pair(name: &str, input: Option<&str>, bare: bool) -> Option<Pair> {
    if !name.starts_with('"') || (bare && input.is_none()) {
        return None;
    }
    let input = input.map_or(Input::Empty, |json| Input::from_json(json).announced());
    Some(Pair { name: unquoted(name), input, id: None, whole: false })
}

fn nested(json: &str) -> Option<Scan> {
    object::object(json, 0)
}

/// The objects of a JSON list that is known to be valid.
fn objects(json: &str) -> Vec<Scan> {
    let mut found = Vec::new();
    let mut at = 1;
    while let Some(object) = object::object(json, at) {
        at = object.at + 1;
        found.push(object);
    }
    found
}

/// The name that an object gives, when it was read whole.
pub(crate) fn name(object: &Scan) -> Option<String> {
    let name = NAMES.iter().chain(&["tool"]).find_map(|key| object.whole(key)).map(unquoted);
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
        None => object.entries().any(|(key, _)| !is_key(&key)),
    }
}

/// Whether an object that is a call may have `key`.
pub(crate) fn is_key(key: &str) -> bool {
    let lists: [&[&str]; 6] = [&NAMES, &ARGUMENTS, &IDS, &INNER, &LISTS, &OTHERS];
    lists.iter().any(|keys| keys.contains(&key))
}

/// Whether an object without a marker that the text cut off was to be a call.
pub(crate) fn began_as_call(object: &Scan) -> bool {
    object.entries().next().is_some()
}

pub(crate) fn is_known(declared: &Declared, name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("final answer")
        || names::resolve(declared, CallKind::Tool, name).is_ok()
}
