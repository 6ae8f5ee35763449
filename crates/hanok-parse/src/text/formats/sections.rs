//! MiniMax M3: every tag has a prefix, and values are nested elements.

use crate::{
    format::Format,
    text::{
        grammar::Elements,
        marks::{Entry, Meaning},
    },
};

const CALL: Elements =
    Elements { prefix: "]<]minimax[>[", key: "name", item: "item", end: "invoke" };
const M3: &[Format] = &[Format::MinimaxM3];

pub(super) const MARKS: &[Entry] = &[
    Entry { token: "]<]minimax[>[<tool_call>", mark: Meaning::Close, formats: M3 },
    Entry { token: "]<]minimax[>[</tool_call>", mark: Meaning::Close, formats: M3 },
    Entry { token: "]<]minimax[>[<invoke ", mark: Meaning::Elements(&CALL), formats: M3 },
    Entry { token: "]<]minimax[>[</invoke>", mark: Meaning::Close, formats: M3 },
];
