//! Calls in tags: `<tool_call>` with JSON (Hermes, Qwen), or with a name and `<tool_input>` behind it.

use crate::{
    CallKind, Expected, NoteKind,
    input::Input,
    json_call::{self, Form},
    marks::{TOOL_CALL_CLOSE, TOOL_INPUT, TOOL_INPUT_CLOSE},
    names,
    scan::{self, Ends},
    walk::{Walk, white},
};

/// Reads what `<tool_call>` opens. Behind it stands JSON or a name; prose that mentions the tag has neither.
pub(crate) fn read(walk: &mut Walk<'_>, len: usize) -> bool {
    let start = walk.at;
    let body = start + len + white(walk.slice(start + len, walk.text.len()));
    let rest = walk.slice(body, walk.text.len());
    if rest.is_empty() {
        walk.leave();
        walk.truncated(start, None, Expected::Rest);
        return true;
    }
    if rest.starts_with(['{', '[']) {
        walk.leave();
        walk.at = body;
        let ends = Ends { tag: Some(TOOL_CALL_CLOSE), ..Ends::default() };
        json_call::list(walk, start, ends, Form::Marked);
        skip_close(walk, TOOL_CALL_CLOSE);
        return true;
    }
    named(walk, start, body)
}

fn named(walk: &mut Walk<'_>, start: usize, body: usize) -> bool {
    let rest = walk.slice(body, walk.text.len());
    let name = rest.find(['<', '\n']).and_then(|end| rest.get(..end)).unwrap_or(rest);
    let close = body + name.len() + white(rest.get(name.len()..).unwrap_or_default());
    let tail = walk.slice(close, walk.text.len());
    if tail.starts_with(TOOL_CALL_CLOSE) {
        walk.leave();
        walk.at = close + TOOL_CALL_CLOSE.len();
        input(walk, start, name.trim());
        return true;
    }
    let cut = TOOL_CALL_CLOSE.starts_with(tail) && names::begins_tool(walk.declared, name);
    if cut {
        walk.leave();
        walk.truncated(start, None, Expected::Rest);
    }
    cut
}

/// Reads `<tool_input>` behind a name.
fn input(walk: &mut Walk<'_>, start: usize, name: &str) {
    let behind = walk.at;
    walk.skip_white();
    if walk.rest().starts_with(TOOL_INPUT) {
        walk.at += TOOL_INPUT.len();
        walk.skip_white();
        return if walk.rest().starts_with('{') {
            object(walk, start, name)
        } else {
            text(walk, start, name)
        };
    }
    let rest = walk.rest();
    let enough = rest.is_empty() && walk.declared.takes_nothing(name);
    if TOOL_INPUT.starts_with(rest) && !enough {
        return walk.truncated(start, Some(name), Expected::Rest);
    }
    walk.call(CallKind::Tool, name, Input::Empty, start, behind);
    walk.go(behind);
}

fn object(walk: &mut Walk<'_>, start: usize, name: &str) {
    let from = walk.at;
    let ends = Ends { tag: Some(TOOL_INPUT_CLOSE), ..Ends::default() };
    match scan::object(walk.text, from, ends) {
        Ok(object) => {
            walk.at = object.end;
            let extra = json_call::skip_extra_closers(walk);
            if object.repaired || extra {
                walk.draft.note(NoteKind::Repaired, from..walk.at);
            }
            walk.call(CallKind::Tool, name, Input::Object(object.json), start, walk.at);
            skip_close(walk, TOOL_INPUT_CLOSE);
        }
        Err(fault) => {
            json_call::fault(walk, &fault, start, Some(name));
            skip_close(walk, TOOL_INPUT_CLOSE);
        }
    }
}

fn text(walk: &mut Walk<'_>, start: usize, name: &str) {
    let rest = walk.rest();
    let Some(words) = rest.find(TOOL_INPUT_CLOSE).and_then(|end| rest.get(..end)) else {
        return walk.truncated(start, Some(name), Expected::Rest);
    };
    let end = walk.at + words.len() + TOOL_INPUT_CLOSE.len();
    walk.call(CallKind::Tool, name, Input::from_text(words), start, end);
    walk.go(end);
}

/// Skips to behind the close tag, and what stands before it, if no other tag and no line comes first.
fn skip_close(walk: &mut Walk<'_>, close: &str) {
    let rest = walk.rest();
    let tail = rest.trim_start();
    let line = tail.find(['<', '\n']).and_then(|end| tail.get(end..)).unwrap_or_default();
    let tag = line.trim_start();
    if tag.starts_with(close) {
        walk.go(walk.text.len() - tag.len() + close.len());
    }
}
