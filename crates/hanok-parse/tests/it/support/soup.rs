//! Texts made of what formats are made of.

use hanok_fuzz::MARKS;
use proptest::prelude::*;

/// Pieces of the formats' bodies, besides their marks.
const PIECES: [&str; 28] = [
    "{\"q\": \"휴가\"}",
    "<function=",
    "]]></param>",
    "<invoke name='find",
    "<arg_key>q</arg_key>",
    "<tool_call:1f>",
    "</tool_call:1f>",
    "<arg_key:1f>q</arg_key:1f>",
    "<arg_value:1f>",
    "</arg_value:1f>",
    "<think:1f>",
    "</think:1f>",
    "<｜tool▁sep｜>",
    "function",
    "<|open|>call tool=\"find\"<|sep|>",
    "]<]minimax[>[<invoke name=\"find\">",
    "]<]minimax[>[<q>",
    "]<]minimax[>[</q>",
    "]<]minimax[>[<item>",
    "]<]minimax[>[</item>",
    "]<]minimax[>[</invoke>",
    " to=functions.find",
    "find(",
    "q=",
    "\"\"\"",
    "<|tool_call>call:find{",
    "✿FUNCTION✿: find",
    "✿ARGS✿",
];

fn soup() -> impl Strategy<Value = String> {
    let parts =
        prop_oneof![4 => prop::sample::select(MARKS), 1 => prop::sample::select(PIECES.to_vec())];
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => soup(), 1 => any::<String>()]
}
