//! Calls as Python writes them: Llama 4, Olmo 3, LFM2.

use crate::{
    format::Format,
    text::{
        marks::{Entry, Meaning, OWN, of},
        rule::{Otherwise, Rule, Shape},
    },
};

const PYTHON: Rule =
    Rule { json: Some(Shape::Members), python: true, otherwise: Otherwise::Malformed, ..Rule::NEW };
const START: Rule = Rule { closes: &["<|python_end|>"], ..PYTHON };
const TOOL_CALL: Rule = Rule { closes: &["<|tool_call_end|>"], ..PYTHON };
/// Anthropic's XML has the same tag.
const FUNCTION_CALLS: Rule = Rule {
    wraps: &["<invoke "],
    closes: &["</function_calls>"],
    otherwise: Otherwise::Prose,
    ..PYTHON
};

const CALLING: Rule = Rule { closes: &["]"], otherwise: Otherwise::Prose, json: None, ..PYTHON };
const PRINT: Rule = Rule { json: None, python: true, declared: true, ..Rule::NEW };
const TOOL_CODE: Rule = Rule { skips: &["print("], ..PRINT };

const LFM2: &[Format] = &[Format::Lfm2];
const LLAMA4: &[Format] = &[Format::Pythonic];
const CALLS: &[Format] = &[Format::Olmo3, Format::AnthropicXml];

pub(super) const MARKS: &[Entry] = &[
    of(&[Format::CallingTool], "[Calling tool: ", Meaning::Open(&CALLING)),
    of(&[Format::CallingTool], "[Calling tool=", Meaning::Attributes),
    of(LLAMA4, "<|python_start|>", Meaning::Open(&START)),
    of(LLAMA4, "<|python_end|>", Meaning::Close),
    of(LLAMA4, "<|header_start|>", Meaning::Turn(OWN)),
    of(LFM2, "<|tool_call_start|>", Meaning::Open(&TOOL_CALL)),
    of(LFM2, "<|tool_call_end|>", Meaning::Close),
    of(LFM2, "<|tool_response_start|>", Meaning::Result(&["<|tool_response_end|>"])),
    of(CALLS, "<function_calls>", Meaning::Open(&FUNCTION_CALLS)),
    of(CALLS, "</function_calls>", Meaning::Close),
];

/// A name that prose may have, too.
pub(super) const LINES: &[Entry] = &[
    of(&[Format::ToolCode], "tool_code = ", Meaning::Open(&TOOL_CODE)),
    of(&[Format::ToolCode], "print(", Meaning::Open(&PRINT)),
];
