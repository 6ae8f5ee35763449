//! Reasoning: `<think>…</think>`, and close tags whose open tag the chat template wrote.

use crate::{
    fence::Fence,
    walk::{Mode, Walk},
};

/// Whether calls may come out of the reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reasoning {
    /// What a model writes inside its reasoning is never a call.
    #[default]
    Ignore,
    /// When nothing follows the reasoning, the calls inside its last piece count.
    Promote,
}

/// Skips to behind the close tag; to the end of the text when there is none.
pub(crate) fn open(walk: &mut Walk<'_>, len: usize, close: &str) {
    let start = walk.at + len;
    let rest = walk.slice(start, walk.text.len());
    let end = rest.find(close).map_or(walk.text.len(), |found| start + found);
    walk.draft.reasoning.push(start..end);
    walk.go((end + close.len()).min(walk.text.len()));
}

/// Nothing was open: all of the text so far was reasoning.
pub(crate) fn close(walk: &mut Walk<'_>, len: usize) {
    let behind = walk.at + len;
    walk.draft.retract(walk.start..walk.at, walk.start..behind);
    walk.run.clear();
    walk.pending = None;
    walk.fence = Fence::default();
    walk.mode = Mode::Content;
    walk.go(behind);
}
