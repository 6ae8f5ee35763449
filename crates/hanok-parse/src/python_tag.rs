//! Llama 3's `<|python_tag|>` and JSON calls behind it, separated by `;`.

use crate::{
    ErrorKind, Expected,
    json_call::{self, Form},
    scan::Ends,
    walk::Walk,
};

pub(crate) fn read(walk: &mut Walk<'_>, len: usize) -> bool {
    let start = walk.at;
    walk.leave();
    walk.at += len;
    walk.skip_white();
    let rest = walk.rest();
    if rest.is_empty() {
        walk.truncated(start, None, Expected::Rest);
    } else if rest.starts_with(['{', '[']) {
        json_call::list(walk, start, Ends::default(), Form::Marked);
    } else {
        walk.draft.fail(ErrorKind::Malformed, Expected::Object, None, start..walk.at);
        walk.fresh = true;
    }
    true
}
