//! JSON calls in tags and behind tokens: Hermes, Qwen, Llama 3, Granite, Jamba, Mistral and their relatives.

use super::xml;

use crate::{
    format::Format,
    text::{
        grammar::InputTags,
        marks::{Entry, Meaning, of},
        rule::{Otherwise, Rule, Shape, Then},
    },
};

/// `<tool_call>name</tool_call><tool_input>{…}</tool_input>`.
const INPUT: InputTags = InputTags { open: "<tool_input>", close: "</tool_input>" };
/// `<tool_call>`: JSON, a name with tags, a call as Python writes it, or the wrapper of a function.
pub(crate) const TOOL_CALL: Rule = Rule {
    wraps: &["<function=", "<function "],
    json: Some(Shape::Members),
    name: &[
        ("</tool_call>", Then::Input(&INPUT)),
        ("<arg_key>", Then::TagsHere(&xml::ARGS)),
        ("<tool_sep>", Then::Tags(&xml::ARGS)),
        ("<end_of_tool_call>", Then::TagsHere(&xml::ARGS)),
        (">{", Then::FromToken),
        ("{", Then::FromToken),
    ],
    python: true,
    closes: &["</tool_call>"],
    ..Rule::NEW
};
const JSON: Rule = Rule { json: Some(Shape::Members), ..Rule::NEW };
const TOKEN: Rule = Rule { otherwise: Otherwise::Malformed, ..JSON };
const PYTHON_TAG: Rule = Rule { python: true, ..TOKEN };
const FUNCTION_CALL: Rule = Rule { closes: &["</function_call>"], ..JSON };
const TOOLCALL: Rule = Rule { closes: &["</TOOLCALL>"], ..JSON };
const PHI_TOKEN: Rule = Rule { closes: &["<|/tool_call|>"], ..TOKEN };
const LONGCAT: Rule = Rule { closes: &["</longcat_tool_call>"], ..JSON };
const TOOL_CALLS: Rule = Rule { wraps: &["<tool_call>"], closes: &["</tool_calls>"], ..JSON };
const ACTION: Rule =
    Rule { skips: &["<|plugin|>", "<|interpreter|>"], closes: &["<|action_end|>"], ..TOKEN };
const TOKEN_CALLS: Rule = Rule { wraps: &["<|tool_call:begin|>"], ..TOKEN };
const TOOL: Rule = Rule { name: &[("</tool>", Then::Words(&INPUT))], ..Rule::NEW };
const COHERE: Rule = Rule { closes: &["<|END_ACTION|>"], ..TOKEN };
const APERTUS: Rule = Rule { json: Some(Shape::Key), closes: &["<|tools_suffix|>"], ..TOKEN };
const MISTRAL: Rule = Rule {
    name: &[("[ARGS]", Then::Json), ("[CALL_ID]", Then::Id), ("{", Then::FromToken)],
    ..TOKEN
};
const MESSAGE: Rule = Rule {
    name: &[("<|content_invoke_tool_json|>", Then::Calls)],
    closes: &["<|end_message|>"],
    otherwise: Otherwise::Drop,
    ..Rule::NEW
};
const INVOKE_JSON: Rule = Rule { closes: &["<|end_message|>"], ..TOKEN };

const TOOL_CALL_TAG: &[Format] = &[
    Format::Hermes,
    Format::ToolInputXml,
    Format::Granite,
    Format::Granite4,
    Format::Ernie45,
    Format::Qwen3Xml,
    Format::Glm45,
    Format::Glm47,
    Format::Glm53,
    Format::HyV3,
    Format::Xlam,
    // Its thinking models write GLM's pairs.
    Format::Hyperclovax,
];
const LLAMA: &[Format] = &[Format::Llama3Json, Format::LlamaBuiltin];
const CALLS_TAG: &[Format] = &[Format::Jamba, Format::HunyuanA13b, Format::HyV3];
const SARASHINA: &[Format] = &[Format::Sarashina, Format::SolarOpen];
const MISTRALS: &[Format] = &[Format::Mistral, Format::MistralV11, Format::Xlam];

pub(super) const MARKS: &[Entry] = &[
    of(TOOL_CALL_TAG, "<tool_call>", Meaning::Open(&TOOL_CALL)),
    of(TOOL_CALL_TAG, "</tool_call>", Meaning::Close),
    of(TOOL_CALL_TAG, "<tool_response ", Meaning::Result(&["</tool_response>"])),
    of(TOOL_CALL_TAG, "<tool_result ", Meaning::Result(&["</tool_result>"])),
    of(TOOL_CALL_TAG, "<tool_results ", Meaning::Result(&["</tool_results>"])),
    of(&[Format::ToolInputXml, Format::LangchainXml], "</tool_input>", Meaning::Close),
    of(LLAMA, "<|python_tag|>", Meaning::Open(&PYTHON_TAG)),
    of(&[Format::Granite, Format::Phi4mini], "<|tool_call|>", Meaning::Open(&PHI_TOKEN)),
    of(&[Format::Phi4mini], "<|/tool_call|>", Meaning::Close),
    of(&[Format::Phi4mini], "<|tool_response|>", Meaning::Result(&["<|/tool_response|>"])),
    of(&[Format::Nemotron], "<TOOLCALL>", Meaning::Open(&TOOLCALL)),
    of(&[Format::Nemotron], "</TOOLCALL>", Meaning::Close),
    of(&[Format::Nemotron], "<TOOL_RESPONSE>", Meaning::Result(&["</TOOL_RESPONSE>"])),
    of(&[Format::Gigachat3], "<|function_call|>", Meaning::Open(&TOKEN)),
    of(SARASHINA, "<|tool_calls|>", Meaning::Open(&TOKEN_CALLS)),
    of(SARASHINA, "<|calls|>", Meaning::Stop),
    of(&[Format::LangchainXml], "<tool>", Meaning::Open(&TOOL)),
    of(&[Format::LangchainXml], "</tool>", Meaning::Close),
    of(&[Format::LangchainXml], "<observation>", Meaning::Result(&["</observation>"])),
    of(&[Format::LangchainXml], "<final_answer>", Meaning::Answer),
    of(&[Format::LangchainXml], "</final_answer>", Meaning::EndAnswer),
    of(&[Format::Cwm], "<tool: ", Meaning::Words(&"</tool>")),
    of(&[Format::Granite20bFc], "<function_call>", Meaning::Open(&FUNCTION_CALL)),
    of(&[Format::Granite20bFc], "</function_call>", Meaning::Close),
    of(&[Format::Longcat], "<longcat_tool_call>", Meaning::Open(&LONGCAT)),
    of(&[Format::Longcat], "</longcat_tool_call>", Meaning::Close),
    of(&[Format::Longcat], "<longcat_user>", Meaning::Turn(&[])),
    of(&[Format::Longcat], "<longcat_system>", Meaning::Turn(&[])),
    of(&[Format::Longcat], "</longcat_s>", Meaning::Stop),
    of(&[Format::Longcat], "<longcat_think>", Meaning::Think(&["</longcat_think>"], &[])),
    of(&[Format::Longcat], "</longcat_think>", Meaning::EndThink),
    of(&[Format::HyV3], "<end_of_tool_call>", Meaning::Close),
    of(&[Format::HyV3], "<end_of_tool_calls>", Meaning::Close),
    of(CALLS_TAG, "<tool_calls>", Meaning::Open(&TOOL_CALLS)),
    of(CALLS_TAG, "</tool_calls>", Meaning::Close),
    of(CALLS_TAG, "<|tool_result|>", Meaning::Result(&["<|assistant|>"])),
    of(&[Format::HunyuanA13b], "<answer>", Meaning::Close),
    of(&[Format::HunyuanA13b], "</answer>", Meaning::Close),
    of(&[Format::Ernie45], "<response>", Meaning::Close),
    of(&[Format::Ernie45], "</response>", Meaning::Close),
    of(&[Format::Internlm], "<|action_start|>", Meaning::Open(&ACTION)),
    of(&[Format::Internlm], "<|action_end|>", Meaning::Close),
    of(&[Format::Cohere], "<|START_ACTION|>", Meaning::Open(&COHERE)),
    of(&[Format::Cohere], "<|END_ACTION|>", Meaning::Close),
    of(&[Format::Cohere], "<|START_THINKING|>", Meaning::Think(&["<|END_THINKING|>"], &[])),
    of(&[Format::Cohere], "<|END_THINKING|>", Meaning::EndThink),
    of(&[Format::Cohere], "<|START_RESPONSE|>", Meaning::Close),
    of(&[Format::Cohere], "<|END_RESPONSE|>", Meaning::Close),
    of(&[Format::Cohere], "<|START_TEXT|>", Meaning::Close),
    of(&[Format::Cohere], "<|END_TEXT|>", Meaning::Close),
    of(&[Format::Cohere], "<|END_OF_TURN_TOKEN|>", Meaning::Stop),
    of(&[Format::Cohere], "<|START_TOOL_RESULT|>", Meaning::Result(&["<|END_TOOL_RESULT|>"])),
    of(&[Format::Apertus], "<|tools_prefix|>", Meaning::Open(&APERTUS)),
    of(&[Format::Apertus], "<|tools_suffix|>", Meaning::Close),
    of(&[Format::Apertus], "<|inner_prefix|>", Meaning::Think(&["<|inner_suffix|>"], &[])),
    of(&[Format::Apertus], "<|inner_suffix|>", Meaning::EndThink),
    of(&[Format::Apertus], "<|developer_start|>", Meaning::Turn(&[])),
    of(&[Format::Apertus], "<|assistant_end|>", Meaning::Stop),
    of(MISTRALS, "[TOOL_CALLS]", Meaning::Open(&MISTRAL)),
    of(MISTRALS, "[/TOOL_CALLS]", Meaning::Close),
    of(MISTRALS, "[TOOL_RESULTS]", Meaning::Result(&["[/TOOL_RESULTS]"])),
    of(MISTRALS, "[THINK]", Meaning::Think(&["[/THINK]"], &[])),
    of(MISTRALS, "[/THINK]", Meaning::EndThink),
    of(&[Format::Inkling], "<|message_model|>", Meaning::Open(&MESSAGE)),
    of(&[Format::Inkling], "<|content_invoke_tool_json|>", Meaning::Open(&INVOKE_JSON)),
    of(&[Format::Inkling], "<|message_user|>", Meaning::Turn(&[])),
    of(&[Format::Inkling], "<|message_system|>", Meaning::Turn(&[])),
    of(&[Format::Inkling], "<|message_tool|>", Meaning::Turn(&[])),
    of(&[Format::Inkling], "<|content_text|>", Meaning::Close),
    of(&[Format::Inkling], "<|content_thinking|>", Meaning::Think(&["<|end_message|>"], &[])),
    of(&[Format::Inkling], "<|end_message|>", Meaning::Close),
    of(&[Format::Gigachat3], "<|message_sep|>", Meaning::Close),
    of(&[Format::Gigachat3], "<|role_sep|>", Meaning::Turn(&[])),
];

/// Marks whose first word prose has, too.
pub(super) const LINES: &[Entry] = &[
    of(&[Format::Phi4mini], "functools", Meaning::Open(&JSON)),
    of(&[Format::Gigachat3], "function call<|role_sep|>", Meaning::Open(&JSON)),
    of(&[Format::Gigachat3], "function result<|role_sep|>", Meaning::Turn(&[])),
    of(&[Format::Gigachat3], "user<|role_sep|>", Meaning::Turn(&[])),
    of(&[Format::Gigachat3], "assistant<|role_sep|>", Meaning::Close),
    of(&[Format::Hyperclovax], "-> tool/function_call", Meaning::Open(&JSON)),
];
