//! ReAct (Yao et al. 2022, arXiv:2210.03629) in the `Action:` / `Action Input:` form that LangChain's prompts made
//! common, with Korean labels.

use crate::{
    CallKind, ErrorKind, Expected, NoteKind, fence,
    input::Input,
    json_call::{self, Form},
    labels::{self, Label},
    marks,
    scan::{self, Ends},
    walk::{Mode, Pending, Walk},
};

/// What a JSON object behind a label may end with.
const ENDS: Ends = Ends { tag: None, labels: true, fence: true };

/// Reads `Action:` and the name behind it, or the JSON call that some models write there.
pub(crate) fn action<'a>(walk: &mut Walk<'a>, label: Label<'a>) -> bool {
    let start = walk.at;
    if !walk.leave() {
        return true;
    }
    walk.enter(label);
    if let Some(at) = json_behind(walk) {
        if at.1 {
            walk.fence.open();
        }
        walk.at = at.0;
        json_call::list(walk, start, ENDS, Form::Marked);
        return true;
    }
    name(walk, CallKind::Tool, start);
    true
}

/// Reads `Action Input:` and the JSON object behind it. Anything else is plain text up to the next label.
pub(crate) fn input<'a>(walk: &mut Walk<'a>, label: Label<'a>) -> bool {
    if walk.pending.as_ref().is_none_or(|pending| pending.kind != CallKind::Tool)
        || walk.mode == Mode::Input
    {
        return false;
    }
    walk.enter(label);
    if let Some((at, fenced)) = json_behind(walk) {
        if fenced {
            walk.fence.open();
        }
        walk.at = at;
        if walk.rest().starts_with('{') {
            object(walk);
            return true;
        }
    }
    skip_to_words(walk);
    walk.mode = Mode::Input;
    true
}

/// Reads the name behind a label, on its line or the next one that is not blank. It waits for its input.
pub(crate) fn name(walk: &mut Walk<'_>, kind: CallKind, start: usize) {
    let behind = walk.at;
    walk.skip_white();
    let next_line = walk.slice(behind, walk.at).contains('\n');
    if walk.at >= walk.text.len() {
        return walk.truncated(start, None, Expected::Rest);
    }
    if next_line && labels::at(walk.rest()).is_some() {
        let expected = if kind == CallKind::Tool { Expected::Tool } else { Expected::Agent };
        walk.draft.fail(ErrorKind::Malformed, expected, None, start..walk.at);
        walk.fresh = true;
        return;
    }
    let len = name_len(walk.rest());
    let name = walk.slice(walk.at, walk.at + len).to_owned();
    walk.at += len;
    walk.pending = Some(Pending { kind, name, start, end: walk.at });
}

/// The line, up to a mark.
fn name_len(rest: &str) -> usize {
    let mut len = 0;
    loop {
        let tail = rest.get(len..).unwrap_or_default();
        match tail.find(['<', '\n']) {
            None => return rest.len(),
            Some(at) => len += at,
        }
        let tail = rest.get(len..).unwrap_or_default();
        if tail.starts_with('\n') || marks::at(tail).is_some() {
            return len;
        }
        len += 1;
    }
}

/// Where a JSON value begins behind a label, and whether a fence opens before it.
fn json_behind(walk: &Walk<'_>) -> Option<(usize, bool)> {
    let rest = walk.rest();
    let value = rest.trim_start();
    if json_call::begins(value) {
        return Some((walk.text.len() - value.len(), false));
    }
    let value = value.get(fence::opening(value)?..)?.trim_start();
    json_call::begins(value).then(|| (walk.text.len() - value.len(), true))
}

/// Plain text may stand in a fence, too.
fn skip_to_words(walk: &mut Walk<'_>) {
    let white = crate::walk::white(walk.rest());
    let crossed = walk.slice(walk.at, walk.at + white).contains('\n');
    walk.at += white;
    if let Some(len) = fence::opening(walk.rest()) {
        walk.fence.open();
        walk.at += len;
    }
    walk.fresh = crossed;
}

fn object(walk: &mut Walk<'_>) {
    let from = walk.at;
    let Some(Pending { kind, name, start, .. }) = walk.pending.take() else { return };
    match scan::object(walk.text, from, ENDS) {
        Ok(object) => {
            walk.at = object.end;
            let extra = json_call::skip_extra_closers(walk);
            if object.repaired || extra {
                walk.draft.note(NoteKind::Repaired, from..walk.at);
            }
            walk.call(kind, &name, Input::Object(object.json), start, walk.at);
            walk.skip_closing_fence();
        }
        Err(fault) => {
            json_call::fault(walk, &fault, start, Some(name.trim()));
            walk.skip_closing_fence();
        }
    }
}
