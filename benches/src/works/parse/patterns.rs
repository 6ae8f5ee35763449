//! Patterns that somebody might have made to cost a parser more than its text: pieces of formats, drawn at random.

use super::texts::Draw;

/// What formats are made of, and what almost is.
const PIECES: [&str; 80] = [
    "Action: ",
    "Action: f\n",
    "Action Input: ",
    "Action Input: {",
    "행동: ",
    "행동 입력: {",
    "Thought: ",
    "Observation: ",
    "Final Answer: ",
    "최종 답",
    "Delegate: legal\n",
    "Task: ",
    "Tool: f\n",
    "\n",
    "\n\n ",
    " ",
    "\t",
    "**",
    "- ",
    "1. ",
    "> ",
    "| ",
    "```",
    "```json\n",
    "````\n",
    "~",
    "~~~\n",
    "`",
    "\"",
    "'",
    "“",
    "{",
    "{\"a\":",
    "\"id\": 1,",
    "\"name\": \"find\",",
    "{'name': ",
    "{\"name\": \"f\", \"arguments\": {",
    "{\"tool_calls\": [",
    "}",
    "[",
    "[{",
    "]",
    "(",
    ")",
    ",",
    ":",
    "\\",
    "\\u00",
    "/*",
    "//",
    "#",
    "1",
    "0x",
    "none",
    "find(q=",
    "[find(",
    "[find(q=\"x\"",
    "print(",
    "call:find{",
    "<",
    "</",
    "<tool_call>",
    "<tool_call>find<arg_key>",
    "</tool_call>",
    "<function=find>",
    "<parameter=q>",
    "</parameter>",
    "<invoke name=\"find\">",
    "<|python_tag|>",
    "<|recipient|>find\n",
    "<function_calls>",
    "✿FUNCTION✿: find\n",
    "✿ARGS✿: ",
    "<|channel|>commentary to=find",
    "<|tool_calls_section_begin|>",
    "<think>",
    "</think>",
    "<tool_call:1f>",
    "[TOOL_CALLS]",
    "[Calling tool: find({",
];

/// What a text begins with, and what it goes on with.
pub(super) struct Pattern {
    head: String,
    unit: String,
}

impl Pattern {
    /// The pattern with this number: none to two pieces, the last of them cut, and one to five that come again and again.
    pub(super) fn new(number: usize) -> Self {
        let mut draw = Draw(u32::try_from(number).unwrap_or_default().wrapping_mul(2_654_435_761));
        let mut pieces = |count: usize| -> String {
            (0..count).filter_map(|_| PIECES.get(draw.below(PIECES.len()))).copied().collect()
        };
        let (mut head, unit) = (pieces(number % 3), pieces(1 + number % 5));
        let cut = head.char_indices().rev().nth(number % 4).map(|(at, _)| at);
        head.truncate(cut.unwrap_or(head.len()));
        Self { head, unit }
    }

    /// A text of it that is `size` bytes long, or a little less.
    pub(super) fn text(&self, size: usize) -> String {
        let Self { head, unit } = self;
        head.to_owned() + &unit.repeat(size.saturating_sub(head.len()) / unit.len())
    }
}
