//! The names of calls as Python writes them.

use crate::{
    declared::CallKind,
    text::{
        labels,
        look::{Look, Until},
        names,
        presence::More,
    },
    work,
};

/// The longest name.
const NAME: usize = 256;
/// How much white space may stand between a bracket and the first name.
const GAP: usize = 64;
/// Llama's own tools are called by this.
const CALL: &str = ".call";

/// Whether another list of calls stands behind prose on the line that goes on at `at`.
pub(crate) fn another_list(look: Look<'_>, at: usize) -> Result<bool, More> {
    const LINE: usize = 256;
    let prose = match look.until(at, LINE, |letter| matches!(letter, '\n' | '[' | '<')) {
        Until::At(len) => len,
        Until::More => return Err(More),
        Until::Ended | Until::Beyond => return Ok(false),
    };
    let list = at + prose;
    if !look.rest(list).starts_with('[') || look.slice(at, list).trim().is_empty() {
        return Ok(false);
    }
    let Some(name) = first_name(look, list)? else { return Ok(false) };
    Ok(names::resolve(&look.setup.declared, CallKind::Tool, name).is_ok())
}

/// Whether the list whose bracket follows `before` is a part of code: what is assigned, returned, handed on, or looked up.
pub(crate) fn is_of_code(before: &str) -> bool {
    const RETURN: &str = "return";
    if before.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_') {
        return true;
    }
    let code = before.trim_end_matches(labels::is_blank);
    let head = code.strip_suffix(RETURN).map(|head| head.trim_end_matches(labels::is_blank));
    code.ends_with(['(', '=']) || head.is_some_and(|head| head.is_empty() || head.ends_with('\n'))
}

/// What is printed.
pub(crate) enum Print {
    /// A call that begins here.
    Call(usize),
    /// What a call gave, up to here.
    Result(usize),
    Nothing,
}

/// What stands at `at` in code.
pub(crate) fn printed(look: Look<'_>, at: usize) -> Result<Print, More> {
    const PRINT: &str = "print(";
    const RESULT: &str = "print(tool_code)";
    if let Some(len) = look.any(at, &[RESULT])? {
        return Ok(Print::Result(at + len));
    }
    let Some(len) = look.any(at, &[PRINT])? else { return Ok(Print::Nothing) };
    Ok(name(look, at + len)?.map_or(Print::Nothing, |_| Print::Call(at + len)))
}

/// The name before the round bracket, at `at`.
pub(crate) fn name(look: Look<'_>, at: usize) -> Result<Option<&str>, More> {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-' | ' ');
    match look.until(at, NAME, |letter| !part(letter)) {
        Until::More => Err(More),
        Until::At(end) if end > 0 && look.rest(at + end).starts_with('(') => {
            Ok(Some(look.slice(at, at + end)))
        }
        _ => Ok(None),
    }
}

/// Whether a call stands at `at`, or a list of them, and not words with a remark in brackets: a name, and a bracket directly
/// behind it with `key=`, a literal or nothing in it. One that the text ends in is a call where the name is declared.
pub(crate) fn is_call(look: Look<'_>, at: usize) -> Result<bool, More> {
    let Some(called) = first_name(look, at)? else { return Ok(false) };
    let is_declared = names::resolve(&look.setup.declared, CallKind::Tool, called).is_ok();
    if called.is_empty() || called.ends_with(' ') || !is_declared && !is_name(called) {
        return Ok(false);
    }
    let list = if look.rest(at).starts_with('[') { look.behind_white(at + 1) } else { at };
    let inner = look.behind_white(list + called.len() + 1);
    match look.rest(inner).chars().next() {
        None if look.ended => return Ok(is_declared),
        None => return Err(More),
        Some('"' | '\'' | '{' | '[' | ')' | '0'..='9' | '-') => return Ok(true),
        Some(_) => {}
    }
    let part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let key = match look.until(inner, NAME, |letter| !part(letter)) {
        Until::At(len) => inner + len,
        Until::More => return Err(More),
        Until::Ended => return Ok(is_declared),
        Until::Beyond => return Ok(false),
    };
    let sign = look.behind_white(key);
    let rest = look.rest(sign);
    if matches!(rest, "" | "=") && !look.ended {
        return Err(More);
    }
    Ok(key > inner && rest.starts_with('=') && !rest.starts_with("=="))
}

/// Whether a declared name with a bracket directly behind it stands at `at`, and what is no remark in that bracket.
pub(crate) fn is_faulty_call(look: Look<'_>, at: usize) -> Result<bool, More> {
    let Some(called) = name(look, at)? else { return Ok(false) };
    if called.ends_with(' ')
        || names::resolve(&look.setup.declared, CallKind::Tool, called).is_err()
    {
        return Ok(false);
    }
    let inner = at + called.len() + 1;
    let stops = |letter| matches!(letter, ')' | '\'' | '"' | '<' | '{' | '[' | '\n');
    match look.until(inner, NAME, stops) {
        Until::At(len) => Ok(!look.rest(inner + len).starts_with(')')),
        Until::More => Err(More),
        Until::Ended => Ok(false),
        Until::Beyond => Ok(true),
    }
}

/// `name` without the `.call` of Llama's own tools.
pub(crate) fn without_call<'a>(look: Look<'_>, name: &'a str) -> &'a str {
    let is_known = names::resolve(&look.setup.declared, CallKind::Tool, name).is_ok();
    match name.strip_suffix(CALL) {
        Some(tool) if !is_known || look.setup.declared.is_any() => tool,
        _ => name,
    }
}

/// The name of the first call at `at`.
pub(crate) fn first_name<'a>(look: Look<'a>, at: usize) -> Result<Option<&'a str>, More> {
    let from = match look.rest(at).strip_prefix('[') {
        Some(_) => look.behind_white(at + 1),
        None => at,
    };
    if from > at + GAP {
        return Ok(None);
    }
    name(look, from)
}

/// Whether `rest`, with which the text ends, begins the name of a declared tool.
pub(crate) fn is_begun(look: Look<'_>, rest: &str) -> bool {
    if rest.len() >= NAME {
        return false;
    }
    work::count(rest.len());
    !rest.contains(char::is_whitespace) && names::begins_tool(&look.setup.declared, rest)
}

/// Whether all of `rest` may be a name.
pub(crate) fn is_name(rest: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-');
    rest.len() < NAME && rest.chars().all(part)
}
