//! A name and JSON arguments between special tokens: DeepSeek, Kimi, PLaMo, Qwen-Agent, Gemma.

use crate::{
    format::Format,
    text::{
        marks::{Entry, Meaning, OWN, of},
        rule::{Otherwise, Rule, Then},
    },
};

const DEEPSEEK: Rule = Rule {
    name: &[("<｜tool▁sep｜>", Then::Typed)],
    closes: &["<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"],
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};
/// The same with bars of ASCII.
const DEEPSEEK_ASCII: Rule = Rule {
    name: &[("<|tool▁sep|>", Then::Typed)],
    closes: &["<|tool▁call▁end|>", "<|tool▁calls▁end|>"],
    ..DEEPSEEK
};
/// The same with underscores. Behind the separator Step 3 has tags in place of a name.
const DEEPSEEK_UNDERSCORES: Rule = Rule {
    name: &[("<｜tool_sep｜>", Then::Typed)],
    closes: &["<｜tool_call_end｜>", "<｜tool_calls_end｜>"],
    ..DEEPSEEK
};
const DEEPSEEK_ASCII_SECTION: Rule = Rule { wraps: &["<|tool▁call▁begin|>"], ..DEEPSEEK_ASCII };
const DEEPSEEK_SECTION: Rule = Rule { wraps: &["<｜tool▁call▁begin｜>"], ..DEEPSEEK };
const KIMI: Rule = Rule {
    name: &[("<|tool_call_argument_begin|>", Then::Json)],
    closes: &["<|tool_call_end|>", "<|tool_calls_section_end|>"],
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};
const PLAMO: Rule = Rule {
    name: &[("<|plamo:end_tool_name:plamo|>", Then::Json)],
    between: &["<|plamo:begin_tool_arguments:plamo|>", "<|plamo:constrain|>json", "<|plamo:msg|>"],
    closes: &["<|plamo:end_tool_arguments:plamo|>"],
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};
const QWEN_AGENT: Rule = Rule {
    skips: &[":", "："],
    name: &[("✿ARGS✿", Then::Json)],
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};
const GEMMA: Rule = Rule {
    skips: &["call:"],
    name: &[("{", Then::Quoted("<|\"|>")), ("(", Then::Python)],
    closes: &["<tool_call|>"],
    another: Some("call:"),
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};
const FUNCTIONGEMMA: Rule =
    Rule { name: &[("{", Then::Quoted("<escape>"))], closes: &["<end_function_call>"], ..GEMMA };

const SOLAR: Rule = Rule {
    name: &[("<|tool_call:name|>", Then::Named)],
    between: &["<|tool_call:args|>"],
    closes: &["<|tool_call:end|>"],
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};
const RECIPIENT: Rule = Rule {
    name: &[("<|content|>", Then::Json)],
    everybody: Some("all"),
    otherwise: Otherwise::Drop,
    ..Rule::NEW
};
const LINE_NAME: Rule =
    Rule { name: &[("{", Then::FromToken)], declared: true, everybody: Some("all"), ..Rule::NEW };
/// Gemma's calls where their tokens were left out.
const GEMMA_LINE: Rule = Rule {
    name: &[("{", Then::Quoted("<|\"|>")), ("(", Then::Python)],
    closes: &["<tool_call|>"],
    declared: true,
    ..Rule::NEW
};

const V3: &[Format] = &[Format::DeepseekV3, Format::DeepseekV31];
const UNDERSCORES: &[Format] = &[Format::DeepseekV3, Format::DeepseekV31, Format::Step3];
const SOLAR1: &[Format] = &[Format::SolarOpen];
const SOLAR2: &[Format] = &[Format::SolarOpen2];
const SOLARS: &[Format] = &[Format::SolarOpen, Format::SolarOpen2];
const CONTENT: &[Format] = &[Format::SolarOpen, Format::Functionary];
const GEMMA4: &[Format] = &[Format::Gemma4];
const PLAMO3: &[Format] = &[Format::Plamo3];
const QWEN: &[Format] = &[Format::QwenAgent];
const K2: &[Format] = &[Format::KimiK2];

pub(super) const MARKS: &[Entry] = &[
    of(V3, "<｜tool▁calls▁begin｜>", Meaning::Open(&DEEPSEEK_SECTION)),
    of(V3, "<｜tool▁call▁begin｜>", Meaning::Open(&DEEPSEEK)),
    of(V3, "<｜tool▁call▁end｜>", Meaning::Close),
    of(V3, "<｜tool▁calls▁end｜>", Meaning::Close),
    of(V3, "<｜tool▁outputs▁begin｜>", Meaning::Result(&["<｜tool▁outputs▁end｜>"])),
    of(V3, "<｜tool▁output▁begin｜>", Meaning::Result(&["<｜tool▁output▁end｜>"])),
    of(V3, "<｜User｜>", Meaning::Turn(&[])),
    of(V3, "<|tool▁calls▁begin|>", Meaning::Open(&DEEPSEEK_ASCII_SECTION)),
    of(V3, "<|tool▁call▁begin|>", Meaning::Open(&DEEPSEEK_ASCII)),
    of(V3, "<|tool▁call▁end|>", Meaning::Close),
    of(V3, "<|tool▁calls▁end|>", Meaning::Close),
    of(V3, "<|tool▁outputs▁begin|>", Meaning::Result(&["<|tool▁outputs▁end|>"])),
    of(V3, "<|tool▁output▁begin|>", Meaning::Result(&["<|tool▁output▁end|>"])),
    of(V3, "<|end▁of▁sentence|>", Meaning::Stop),
    of(V3, "<|User|>", Meaning::Turn(&[])),
    of(UNDERSCORES, "<｜tool_calls_begin｜>", Meaning::Close),
    of(UNDERSCORES, "<｜tool_calls_end｜>", Meaning::Close),
    of(UNDERSCORES, "<｜tool_call_begin｜>", Meaning::Open(&DEEPSEEK_UNDERSCORES)),
    of(UNDERSCORES, "<｜tool_call_end｜>", Meaning::Close),
    of(UNDERSCORES, "<｜tool_outputs_begin｜>", Meaning::Result(&["<｜tool_outputs_end｜>"])),
    of(UNDERSCORES, "<｜tool_output_begin｜>", Meaning::Result(&["<｜tool_output_end｜>"])),
    of(SOLAR1, "<|tool_call:begin|>", Meaning::Open(&SOLAR)),
    of(SOLARS, "<|tool_call:end|>", Meaning::Close),
    of(SOLAR1, "<|tool_response:begin|>", Meaning::Result(&["<|tool_response:end|>"])),
    of(SOLAR2, "<|tool_response:start|>", Meaning::Result(&["<|tool_response:end|>"])),
    of(SOLAR2, "<|im:start|>", Meaning::Turn(OWN)),
    of(SOLAR2, "<|im:content|>", Meaning::Close),
    of(SOLAR2, "<|im:end|>", Meaning::Stop),
    of(CONTENT, "<|content|>", Meaning::Close),
    of(&[Format::Functionary], "<|from|>", Meaning::Part(OWN)),
    of(&[Format::Functionary], "<|stop|>", Meaning::Stop),
    of(&[Format::Functionary], "<|recipient|>", Meaning::Open(&RECIPIENT)),
    of(K2, "<|tool_calls_section_begin|>", Meaning::Section(&["<|tool_calls_section_end|>"])),
    of(K2, "<|tool_calls_section_end|>", Meaning::Close),
    of(K2, "<|tool_call_begin|>", Meaning::Open(&KIMI)),
    of(K2, "<|tool_call_end|>", Meaning::Close),
    of(K2, "◁think▷", Meaning::Think(&["◁/think▷"], &[])),
    of(K2, "◁/think▷", Meaning::EndThink),
    of(PLAMO3, "<|plamo:begin_tool_requests:plamo|>", Meaning::Close),
    of(PLAMO3, "<|plamo:end_tool_requests:plamo|>", Meaning::Close),
    of(PLAMO3, "<|plamo:begin_tool_request:plamo|>", Meaning::Close),
    of(PLAMO3, "<|plamo:end_tool_request:plamo|>", Meaning::Close),
    of(PLAMO3, "<|plamo:begin_tool_name:plamo|>", Meaning::Open(&PLAMO)),
    of(PLAMO3, "<|plamo:end_tool_arguments:plamo|>", Meaning::Close),
    of(PLAMO3, "<|plamo:begin_think:plamo|>", Meaning::Think(&["<|plamo:end_think:plamo|>"], &[])),
    of(PLAMO3, "<|plamo:end_think:plamo|>", Meaning::EndThink),
    of(PLAMO3, "<|plamo:op|>", Meaning::Turn(OWN)),
    of(PLAMO3, "<|plamo:tag|>", Meaning::Stop),
    of(QWEN, "✿FUNCTION✿", Meaning::Open(&QWEN_AGENT)),
    of(QWEN, "✿RESULT✿", Meaning::Result(&["✿RETURN✿"])),
    of(QWEN, "✿RETURN✿", Meaning::Foreign),
    of(GEMMA4, "<|tool_call>", Meaning::Open(&GEMMA)),
    of(GEMMA4, "<tool_call|>", Meaning::Close),
    of(GEMMA4, "<|channel>thought", Meaning::Think(&["<channel|>"], &[])),
    of(GEMMA4, "<channel|>", Meaning::EndThink),
    of(GEMMA4, "<|tool_response>", Meaning::Result(&["<tool_response|>"])),
    of(GEMMA4, "<|turn>", Meaning::Turn(OWN)),
    of(GEMMA4, "<turn|>", Meaning::Stop),
    of(&[Format::Functiongemma], "<start_function_call>", Meaning::Open(&FUNCTIONGEMMA)),
    of(&[Format::Functiongemma], "<end_function_call>", Meaning::Close),
    of(
        &[Format::Functiongemma],
        "<start_function_response>",
        Meaning::Result(&["<end_function_response>"]),
    ),
];

/// Marks whose first letters prose has, too.
pub(super) const LINES: &[Entry] = &[
    of(GEMMA4, "call:", Meaning::Open(&GEMMA_LINE)),
    of(&[Format::Functionary], ">>>", Meaning::Open(&LINE_NAME)),
];
