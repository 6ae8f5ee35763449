//! JSON calls without a marker, bare or in a fence.
//!
//! Nothing says that such JSON is a call, except that it names a declared tool. Anything else is text.

use crate::{
    json_call::{self, Form},
    labels,
    scan::Ends,
    walk::Walk,
};

/// Reads an object or a list of objects at the start of a line.
pub(crate) fn read(walk: &mut Walk<'_>) -> bool {
    let rest = walk.rest().trim_start_matches(labels::is_blank);
    if !json_call::begins(rest) {
        return false;
    }
    walk.at = walk.text.len() - rest.len();
    let start = walk.at;
    json_call::list(walk, start, Ends { fence: true, ..Ends::default() }, Form::Bare);
    true
}
