//! What a supervisor writes: `Delegate:` with an agent, `Task:` with what to do.

use crate::{
    CallKind,
    labels::Label,
    react,
    walk::{Mode, Walk},
};

/// Reads `Delegate:` and the name behind it.
pub(crate) fn agent<'a>(walk: &mut Walk<'a>, label: Label<'a>) -> bool {
    let start = walk.at;
    if !walk.leave() {
        return true;
    }
    walk.enter(label);
    react::name(walk, CallKind::Delegate, start);
    true
}

/// Reads `Task:` behind a delegation. Elsewhere the word means nothing.
pub(crate) fn task<'a>(walk: &mut Walk<'a>, label: Label<'a>) -> bool {
    if walk.pending.as_ref().is_none_or(|pending| pending.kind != CallKind::Delegate) {
        return false;
    }
    walk.enter(label);
    walk.mode = Mode::Task;
    true
}
