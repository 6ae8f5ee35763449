//! JSON objects that are calls: `{name, arguments}` and its relatives.

use crate::{
    CallKind, ErrorKind, Expected, NoteKind,
    input::Input,
    names,
    scan::{self, Ends, Fault, Object, Partial, unquoted},
    walk::{Mode, Walk},
};

/// Whether a marker says that the JSON is a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Marked,
    /// Only a declared name says so.
    Bare,
}

/// How many unclosed objects are looked through before the rest counts as text.
const UNCLOSED: usize = 8;

/// A name and what is given to it.
type Pair = (String, Input);

/// Whether an object begins here, or a list of objects.
pub(crate) fn begins(text: &str) -> bool {
    text.strip_prefix('[').map_or(text, str::trim_start).starts_with('{')
}

/// Reads objects one after the other, in a list or separated by `;`. A list that breaks off keeps the calls before.
pub(crate) fn list(walk: &mut Walk<'_>, start: usize, ends: Ends, form: Form) {
    let mut start = start;
    let first = walk.at;
    walk.at += walk.rest().len() - walk.rest().trim_start_matches(is_list).len();
    if walk.rest().is_empty() {
        return walk.truncated(start, None, Expected::Rest);
    }
    if !walk.rest().starts_with('{') {
        return walk.draft.fail(ErrorKind::Malformed, Expected::Object, None, start..walk.at);
    }
    let mut opening = first;
    while walk.mode != Mode::Dead && one(walk, start, opening, ends, form) {
        let end = walk.at;
        skip_separators(walk);
        if !walk.rest().starts_with('{') {
            skip_back(walk, end);
            return;
        }
        start = walk.at;
        opening = walk.at;
    }
}

/// Reads one object. `false` when the list ends with it.
fn one(walk: &mut Walk<'_>, start: usize, opening: usize, ends: Ends, form: Form) -> bool {
    let from = walk.at;
    let object = match scan::object(walk.text, from, ends) {
        Ok(object) => object,
        Err(fault) if form == Form::Bare => {
            bare_fault(walk, &fault, opening);
            return false;
        }
        Err(fault) => {
            let name = partial_name(&fault.partial);
            return self::fault(walk, &fault, start, name.as_deref());
        }
    };
    let mut pairs = calls(&object, form);
    if form == Form::Bare {
        pairs.retain(|(name, _)| is_known(walk, name));
    }
    walk.at = object.end;
    if pairs.is_empty() {
        return nothing(walk, start, opening, form);
    }
    if form == Form::Bare {
        walk.leave();
    }
    if object.repaired {
        walk.draft.note(NoteKind::Repaired, from..walk.at);
    }
    for (name, input) in pairs {
        walk.call(CallKind::Tool, &name, input, start, object.end);
    }
    true
}

/// An object that is no call.
fn nothing(walk: &mut Walk<'_>, start: usize, opening: usize, form: Form) -> bool {
    if form == Form::Marked {
        walk.draft.fail(ErrorKind::Malformed, Expected::Tool, None, start..walk.at);
        return true;
    }
    walk.push(opening, walk.at);
    false
}

/// An object behind a marker could not be read. Reading goes on behind it, and `true` is returned, where its brackets
/// balance; else at the last line that is not inside a string.
pub(crate) fn fault(walk: &mut Walk<'_>, fault: &Fault, start: usize, name: Option<&str>) -> bool {
    if fault.truncated {
        walk.truncated(start, name, Expected::Rest);
        return false;
    }
    walk.draft.fail(ErrorKind::Malformed, Expected::Object, name, start..fault.at);
    let end = if walk.unclosed < UNCLOSED { fault.end(walk.text) } else { None };
    walk.unclosed += usize::from(end.is_none());
    match (end, fault.line.filter(|line| *line > walk.at)) {
        (Some(end), _) => walk.at = end,
        (None, Some(line)) => walk.go(line),
        (None, None) => walk.at = fault.at.max(walk.at),
    }
    end.is_some()
}

/// Without a marker it is text, unless it began like a call and the text ended.
fn bare_fault(walk: &mut Walk<'_>, fault: &Fault, opening: usize) {
    if fault.truncated && began_as_call(walk, &fault.partial) {
        walk.leave();
        let name = partial_name(&fault.partial);
        return walk.truncated(opening, name.as_deref(), Expected::Rest);
    }
    let line_end = walk.rest().find('\n').map(|end| walk.at + end + 1);
    let line = fault.line.filter(|line| *line > walk.at);
    let resume = match (line, line_end) {
        (Some(line), _) if !fault.truncated => line,
        (_, Some(line)) if fault.truncated && walk.unclosed < UNCLOSED => line,
        _ => fault.at.max(walk.at),
    };
    walk.unclosed += usize::from(fault.truncated);
    walk.push(opening, resume);
    walk.go(resume);
    walk.fresh = walk.slice(opening, resume).ends_with('\n');
}

fn began_as_call(walk: &Walk<'_>, partial: &Partial) -> bool {
    const KEYS: [&str; 12] = [
        "name",
        "arguments",
        "parameters",
        "action",
        "action_input",
        "type",
        "function",
        "id",
        "tool_calls",
        "function_call",
        "index",
        "thought",
    ];
    let mut keys = partial.keys().peekable();
    let alike = keys.peek().is_some() && keys.all(|key| KEYS.contains(&key));
    alike && partial_name(partial).is_none_or(|name| is_known(walk, &name))
}

fn partial_name(partial: &Partial) -> Option<String> {
    let name = partial.get("name").or_else(|| partial.get("action")).map(unquoted);
    name.filter(|name| !name.is_empty())
}

fn is_known(walk: &Walk<'_>, name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("final answer")
        || names::resolve(walk.declared, CallKind::Tool, name).is_ok()
}

/// The calls that an object stands for.
fn calls(object: &Object, form: Form) -> Vec<Pair> {
    if let Some(list) = object.get("tool_calls") {
        return objects(list).iter().filter_map(|item| call(item, form)).collect();
    }
    if let Some(inner) = object.get("function_call").and_then(nested) {
        return named(&inner, form).into_iter().collect();
    }
    call(object, form).into_iter().collect()
}

fn call(object: &Object, form: Form) -> Option<Pair> {
    if let Some(action) = object.get("action").filter(|action| action.starts_with('"')) {
        let input = object.get("action_input").or_else(|| object.get("input"));
        return pair(action, input, form);
    }
    match object.get("function") {
        Some(name) if name.starts_with('"') => pair(name, arguments(object), form),
        Some(inner) => named(&nested(inner)?, form),
        None => named(object, form),
    }
}

fn named(object: &Object, form: Form) -> Option<Pair> {
    // A tool's definition has a name and parameters, too. Models repeat the list of tools.
    if form == Form::Bare && object.get("description").is_some() {
        return None;
    }
    pair(object.get("name")?, arguments(object), form)
}

fn arguments(object: &Object) -> Option<&str> {
    ["arguments", "parameters", "args"].iter().find_map(|key| object.get(key))
}

fn pair(name: &str, input: Option<&str>, form: Form) -> Option<Pair> {
    if !name.starts_with('"') || (form == Form::Bare && input.is_none()) {
        return None;
    }
    Some((unquoted(name), input.map_or(Input::Empty, Input::from_json)))
}

fn nested(json: &str) -> Option<Object> {
    json.starts_with('{').then(|| scan::object(json, 0, Ends::default()).ok()).flatten()
}

/// The objects of a JSON list that is known to be valid.
fn objects(json: &str) -> Vec<Object> {
    let mut found = Vec::new();
    let mut at = 1;
    while json.get(at..).is_some_and(|rest| rest.starts_with('{')) {
        let Ok(object) = scan::object(json, at, Ends::default()) else { break };
        at = object.end + 1;
        found.push(object);
    }
    found
}

/// Skips closers that close nothing, and says whether there were any.
pub(crate) fn skip_extra_closers(walk: &mut Walk<'_>) -> bool {
    let rest = walk.rest();
    let tail = rest
        .trim_start_matches(|letter: char| letter.is_whitespace() || matches!(letter, '}' | ']'));
    let skipped = rest.len() - tail.len();
    let closers = rest.get(..skipped).and_then(|skipped| skipped.rfind(['}', ']']));
    walk.at += closers.map_or(0, |last| last + 1);
    closers.is_some()
}

fn skip_separators(walk: &mut Walk<'_>) {
    let rest = walk.rest();
    walk.at += rest.len()
        - rest.trim_start_matches(|letter| is_list(letter) || is_separator(letter)).len();
}

/// Behind the last object: closers stay skipped, the rest does not, so that the next line is seen.
fn skip_back(walk: &mut Walk<'_>, end: usize) {
    walk.at = end + walk.slice(end, walk.at).rfind(is_separator).map_or(0, |last| last + 1);
    walk.skip_closing_fence();
}

fn is_list(letter: char) -> bool {
    letter.is_whitespace() || letter == '['
}

fn is_separator(letter: char) -> bool {
    matches!(letter, ';' | ',' | '}' | ']')
}
