//! JSON calls in tags: Hermes, Qwen, Llama 3.

use super::{Rule, Shape, Then};
use crate::{
    Format,
    marks::{Entry, Mark},
};

const TOOL_CALL: Rule = Rule {
    json: Some(Shape::Members),
    name: &[("</tool_call>", Then::Input)],
    closes: &["</tool_call>"],
    ..Rule::NEW
};

const PYTHON_TAG: Rule = Rule { json: Some(Shape::Members), strict: true, ..Rule::NEW };

const HERMES: &[Format] = &[Format::Hermes, Format::ToolInputXml];
const LLAMA: &[Format] = &[Format::Llama3Json, Format::LlamaBuiltin];

pub(super) const MARKS: &[Entry] = &[
    Entry { token: "<tool_call>", mark: Mark::Open(&TOOL_CALL), formats: HERMES },
    Entry { token: "</tool_call>", mark: Mark::Close, formats: HERMES },
    Entry { token: "</tool_input>", mark: Mark::Close, formats: HERMES },
    Entry { token: "<|python_tag|>", mark: Mark::Open(&PYTHON_TAG), formats: LLAMA },
];
