//! JSON calls in tags and behind tokens: Hermes, Qwen, Llama 3, Granite, Jamba, Mistral and their relatives.

use super::xml;

use crate::{
    format::Format,
    text::{
        grammar::InputTags,
        marks::{Entry, Mark, of},
        rule::{Otherwise, Rule, Shape, Then},
    },
};

/// `<tool_call>name</tool_call><tool_input>{…}</tool_input>`.
const INPUT: InputTags = InputTags { open: "<tool_input>", close: "</tool_input>" };
/// `<tool_call>`: JSON, a name with tags, or the wrapper of a function.
pub(crate) const TOOL_CALL: Rule = Rule {
    wraps: &["<function=", "<function name="],
    json: Some(Shape::Members),
    name: &[
        ("</tool_call>", Then::Input(&INPUT)),
        ("<arg_key>", Then::TagsHere(&xml::ARGS)),
        ("<tool_sep>", Then::Tags(&xml::ARGS)),
        ("<end_of_tool_call>", Then::TagsHere(&xml::ARGS)),
        (">{", Then::FromToken),
        ("{", Then::FromToken),
    ],
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
    of(TOOL_CALL_TAG, "<tool_call>", Mark::Open(&TOOL_CALL)),
    of(TOOL_CALL_TAG, "</tool_call>", Mark::Close),
    of(TOOL_CALL_TAG, "<tool_response ", Mark::Result(&["</tool_response>"])),
    of(TOOL_CALL_TAG, "<tool_result ", Mark::Result(&["</tool_result>"])),
    of(TOOL_CALL_TAG, "<tool_results ", Mark::Result(&["</tool_results>"])),
    of(&[Format::ToolInputXml, Format::LangchainXml], "</tool_input>", Mark::Close),
    of(LLAMA, "<|python_tag|>", Mark::Open(&PYTHON_TAG)),
    of(&[Format::Granite, Format::Phi4mini], "<|tool_call|>", Mark::Open(&PHI_TOKEN)),
    of(&[Format::Phi4mini], "<|/tool_call|>", Mark::Close),
    of(&[Format::Phi4mini], "<|tool_response|>", Mark::Result(&["<|/tool_response|>"])),
    of(&[Format::Nemotron], "<TOOLCALL>", Mark::Open(&TOOLCALL)),
    of(&[Format::Nemotron], "</TOOLCALL>", Mark::Close),
    of(&[Format::Nemotron], "<TOOL_RESPONSE>", Mark::Result(&["</TOOL_RESPONSE>"])),
    of(&[Format::Gigachat3], "<|function_call|>", Mark::Open(&TOKEN)),
    of(SARASHINA, "<|tool_calls|>", Mark::Open(&TOKEN_CALLS)),
    of(SARASHINA, "<|calls|>", Mark::Stop),
    of(&[Format::LangchainXml], "<tool>", Mark::Open(&TOOL)),
    of(&[Format::LangchainXml], "</tool>", Mark::Close),
    of(&[Format::LangchainXml], "<observation>", Mark::Result(&["</observation>"])),
    of(&[Format::LangchainXml], "<final_answer>", Mark::Answer),
    of(&[Format::LangchainXml], "</final_answer>", Mark::EndAnswer),
    of(&[Format::Cwm], "<tool: ", Mark::Words(&"</tool>")),
    of(&[Format::Granite20bFc], "<function_call>", Mark::Open(&FUNCTION_CALL)),
    of(&[Format::Granite20bFc], "</function_call>", Mark::Close),
    of(&[Format::Longcat], "<longcat_tool_call>", Mark::Open(&LONGCAT)),
    of(&[Format::Longcat], "</longcat_tool_call>", Mark::Close),
    of(&[Format::Longcat], "<longcat_user>", Mark::Turn(&[])),
    of(&[Format::Longcat], "<longcat_system>", Mark::Turn(&[])),
    of(&[Format::Longcat], "</longcat_s>", Mark::Stop),
    of(&[Format::Longcat], "<longcat_think>", Mark::Think(&["</longcat_think>"], &[])),
    of(&[Format::Longcat], "</longcat_think>", Mark::EndThink),
    of(&[Format::HyV3], "<end_of_tool_call>", Mark::Close),
    of(&[Format::HyV3], "<end_of_tool_calls>", Mark::Close),
    of(CALLS_TAG, "<tool_calls>", Mark::Open(&TOOL_CALLS)),
    of(CALLS_TAG, "</tool_calls>", Mark::Close),
    of(CALLS_TAG, "<|tool_result|>", Mark::Result(&["<|assistant|>"])),
    of(&[Format::HunyuanA13b], "<answer>", Mark::Close),
    of(&[Format::HunyuanA13b], "</answer>", Mark::Close),
    of(&[Format::Ernie45], "<response>", Mark::Close),
    of(&[Format::Ernie45], "</response>", Mark::Close),
    of(&[Format::Internlm], "<|action_start|>", Mark::Open(&ACTION)),
    of(&[Format::Internlm], "<|action_end|>", Mark::Close),
    of(&[Format::Cohere], "<|START_ACTION|>", Mark::Open(&COHERE)),
    of(&[Format::Cohere], "<|END_ACTION|>", Mark::Close),
    of(&[Format::Cohere], "<|START_THINKING|>", Mark::Think(&["<|END_THINKING|>"], &[])),
    of(&[Format::Cohere], "<|END_THINKING|>", Mark::EndThink),
    of(&[Format::Cohere], "<|START_RESPONSE|>", Mark::Close),
    of(&[Format::Cohere], "<|END_RESPONSE|>", Mark::Close),
    of(&[Format::Cohere], "<|START_TEXT|>", Mark::Close),
    of(&[Format::Cohere], "<|END_TEXT|>", Mark::Close),
    of(&[Format::Cohere], "<|END_OF_TURN_TOKEN|>", Mark::Stop),
    of(&[Format::Cohere], "<|START_TOOL_RESULT|>", Mark::Result(&["<|END_TOOL_RESULT|>"])),
    of(&[Format::Apertus], "<|tools_prefix|>", Mark::Open(&APERTUS)),
    of(&[Format::Apertus], "<|tools_suffix|>", Mark::Close),
    of(&[Format::Apertus], "<|inner_prefix|>", Mark::Think(&["<|inner_suffix|>"], &[])),
    of(&[Format::Apertus], "<|inner_suffix|>", Mark::EndThink),
    of(&[Format::Apertus], "<|developer_start|>", Mark::Turn(&[])),
    of(&[Format::Apertus], "<|assistant_end|>", Mark::Stop),
    of(MISTRALS, "[TOOL_CALLS]", Mark::Open(&MISTRAL)),
    of(MISTRALS, "[/TOOL_CALLS]", Mark::Close),
    of(MISTRALS, "[TOOL_RESULTS]", Mark::Result(&["[/TOOL_RESULTS]"])),
    of(MISTRALS, "[THINK]", Mark::Think(&["[/THINK]"], &[])),
    of(MISTRALS, "[/THINK]", Mark::EndThink),
    of(&[Format::Inkling], "<|message_model|>", Mark::Open(&MESSAGE)),
    of(&[Format::Inkling], "<|content_invoke_tool_json|>", Mark::Open(&INVOKE_JSON)),
    of(&[Format::Inkling], "<|message_user|>", Mark::Turn(&[])),
    of(&[Format::Inkling], "<|message_system|>", Mark::Turn(&[])),
    of(&[Format::Inkling], "<|message_tool|>", Mark::Turn(&[])),
    of(&[Format::Inkling], "<|content_text|>", Mark::Close),
    of(&[Format::Inkling], "<|content_thinking|>", Mark::Think(&["<|end_message|>"], &[])),
    of(&[Format::Inkling], "<|end_message|>", Mark::Close),
    of(&[Format::Gigachat3], "<|message_sep|>", Mark::Close),
    of(&[Format::Gigachat3], "<|role_sep|>", Mark::Turn(&[])),
];

/// Marks whose first word prose has, too.
pub(super) const LINES: &[Entry] = &[
    of(&[Format::Phi4mini], "functools", Mark::Open(&JSON)),
    of(&[Format::Gigachat3], "function call<|role_sep|>", Mark::Open(&JSON)),
    of(&[Format::Gigachat3], "function result<|role_sep|>", Mark::Turn(&[])),
    of(&[Format::Gigachat3], "user<|role_sep|>", Mark::Turn(&[])),
    of(&[Format::Gigachat3], "assistant<|role_sep|>", Mark::Close),
    of(&[Format::Hyperclovax], "-> tool/function_call", Mark::Open(&JSON)),
];
