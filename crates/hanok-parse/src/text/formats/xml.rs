//! Parameters in tags: Qwen3-Coder, GLM, Anthropic's XML, MiniMax M2, XTML and their relatives.

use crate::{
    format::Format,
    text::{
        grammar::Suffixed,
        marks::{Entry, Meaning, OWN, of},
        rule::{Attribute, Otherwise, Rule, Shape, Tags, Then},
    },
};

/// `<arg_key>key</arg_key><arg_value>value</arg_value>`.
pub(crate) const ARGS: Tags = Tags {
    open: "<arg_key>",
    head: "</arg_key>",
    value: Some("<arg_value>"),
    close: "</arg_value>",
    end: "</tool_call>",
    other_end: Some("<end_of_tool_call>"),
    behind: &["</tool_calls>"],
    ..Tags::NEW
};
const HY4_CALL: Suffixed = Suffixed { separator: "<tool_sep>", tags: &ARGS };
const IQUEST_CODER_ARGS: Tags =
    Tags { end: "</iquestcoder_tool_call>", other_end: None, behind: &[], ..ARGS };
const IQUEST_ARGS: Tags = Tags { end: "</iquest_tool_call>", ..IQUEST_CODER_ARGS };
/// `<|tool_arg:start|>key<|tool_arg:value|>value<|tool_arg:end|>`.
const SOLAR: Tags = Tags {
    open: "<|tool_arg:start|>",
    head: "<|tool_arg:value|>",
    close: "<|tool_arg:end|>",
    end: "<|tool_call:end|>",
    ..Tags::NEW
};
const IFM_ARGS: Tags = Tags {
    open: "<ifm|arg_key>",
    head: "</ifm|arg_key>",
    value: Some("<ifm|arg_value>"),
    kind: Some(("<ifm|arg_type>", "</ifm|arg_type>")),
    close: "</ifm|arg_value>",
    end: "</ifm|tool_call>",
    behind: &["</ifm|tool_calls>"],
    ..Tags::NEW
};
/// `<parameter=key>value</parameter>`.
const FUNCTION: Tags = Tags {
    open: "<parameter=",
    close: "</parameter>",
    end: "</function>",
    behind: &["</tool_call>", "</seed:tool_call>"],
    lines: true,
    ..Tags::NEW
};
/// `<param name="key">value</param>`. MiniCPM 4 has `<arguments>` round them.
const PARAM: Tags = Tags {
    open: "<param ",
    key: Some("name"),
    skips: &["<arguments>", "</arguments>"],
    close: "</param>",
    cdata: Some("]]></param>"),
    end: "</function>",
    behind: &["</tool_call>"],
    ..Tags::NEW
};
/// `<parameter name="key">value</parameter>`.
pub(super) const INVOKE: Tags = Tags {
    open: "<parameter ",
    key: Some("name"),
    close: "</parameter>",
    end: "</invoke>",
    behind: &["</function_calls>", "</dots_function_call>", "</minimax:tool_call>"],
    ..Tags::NEW
};
const ATEM: Tags = Tags {
    open: "<atem:parameter ",
    close: "</atem:parameter>",
    end: "</atem:invoke>",
    behind: &["</atem:function_calls>"],
    ..INVOKE
};
const STEPTML: Tags = Tags {
    open: "<steptml:parameter ",
    close: "</steptml:parameter>",
    end: "</steptml:invoke>",
    behind: &["<｜tool_call_end｜>"],
    ..INVOKE
};
const XTML: Tags = Tags {
    open: "<|open|>argument ",
    head: "<|sep|>",
    key: Some("key"),
    close: "<|close|>argument<|sep|>",
    end: "<|close|>call<|sep|>",
    behind: &["<|close|>tools<|sep|>"],
    ..Tags::NEW
};

pub(super) const fn named(tags: &'static Tags) -> Rule {
    let attribute = Some(Attribute { key: "name", end: ">", tags });
    Rule { attribute, ..Rule::NEW }
}

const FUNCTION_OPEN: Rule =
    Rule { name: &[(">", Then::Tags(&FUNCTION))], closes: &["</function>"], ..Rule::NEW };
const FUNCTION_NAME: Rule = named(&PARAM);
const INVOKE_OPEN: Rule = named(&INVOKE);
const ATEM_OPEN: Rule = named(&ATEM);
const STEPTML_OPEN: Rule = named(&STEPTML);
const XTML_OPEN: Rule = Rule {
    attribute: Some(Attribute { key: "tool", end: "<|sep|>", tags: &XTML }),
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};
const SEED: Rule = Rule {
    wraps: &["<function="],
    json: Some(Shape::Members),
    closes: &["</seed:tool_call>"],
    ..Rule::NEW
};
const DOTS_OPEN: Rule = Rule {
    wraps: &["<invoke "],
    json: Some(Shape::Members),
    closes: &["</dots_function_call>"],
    ..Rule::NEW
};
const MINIMAX: Rule = Rule { wraps: &["<invoke "], closes: &["</minimax:tool_call>"], ..DOTS_OPEN };
const IFM: Rule = Rule {
    json: Some(Shape::Members),
    name: &[
        ("<ifm|arg_key>", Then::TagsHere(&IFM_ARGS)),
        ("</ifm|tool_call>", Then::TagsHere(&IFM_ARGS)),
    ],
    closes: &["</ifm|tool_call>"],
    ..Rule::NEW
};

const IQUEST_CODER: Rule = Rule {
    json: Some(Shape::Members),
    name: &[
        ("<arg_key>", Then::TagsHere(&IQUEST_CODER_ARGS)),
        ("</iquestcoder_tool_call>", Then::TagsHere(&IQUEST_CODER_ARGS)),
    ],
    closes: &["</iquestcoder_tool_call>"],
    ..Rule::NEW
};
const IQUEST_Q1: Rule = Rule {
    name: &[
        ("<arg_key>", Then::TagsHere(&IQUEST_ARGS)),
        ("</iquest_tool_call>", Then::TagsHere(&IQUEST_ARGS)),
    ],
    closes: &["</iquest_tool_call>"],
    ..IQUEST_CODER
};
const SOLAR_OPEN: Rule = Rule {
    name: &[
        ("<|tool_arg:start|>", Then::TagsHere(&SOLAR)),
        ("<|tool_call:end|>", Then::TagsHere(&SOLAR)),
    ],
    closes: &["<|tool_call:end|>"],
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};

const IQUEST: &[Format] = &[Format::Iquest];
const QWEN: &[Format] = &[Format::Qwen3Xml, Format::FunctionTag, Format::SeedOss];
const HY4: &[Format] = &[Format::HyV4];
const HUNYUAN: &[Format] = &[Format::HunyuanA13b, Format::HyV3, Format::HyV4];
const MINICPM: &[Format] = &[Format::Minicpm5];
const INVOKES: &[Format] = &[Format::AnthropicXml, Format::Dots, Format::MinimaxM2];
const MUSE: &[Format] = &[Format::Muse];
const MINIMAX_TURNS: &[Format] = &[Format::MinimaxM2, Format::MinimaxM3];
const STEP3: &[Format] = &[Format::Step3];
const K3: &[Format] = &[Format::KimiK3];
const HORIZON: &[Format] = &[Format::K2Horizon];

/// The answer and the calls end reasoning, too.
const THINK: &[&str] = &["<|open|>response<|sep|>", "<|open|>tools<|sep|>"];

pub(super) const MARKS: &[Entry] = &[
    of(&[Format::SolarOpen2], "<|tool_call:start|>", Meaning::Open(&SOLAR_OPEN)),
    of(IQUEST, "<iquestcoder_tool_call>", Meaning::Open(&IQUEST_CODER)),
    of(IQUEST, "</iquestcoder_tool_call>", Meaning::Close),
    of(IQUEST, "<iquest_tool_call>", Meaning::Open(&IQUEST_Q1)),
    of(IQUEST, "</iquest_tool_call>", Meaning::Close),
    of(HY4, "<end_of_tool_call:", Meaning::SuffixedClose),
    of(HY4, "<end_of_tool_calls:", Meaning::SuffixedClose),
    of(HY4, "<tool_calls:", Meaning::SuffixedClose),
    of(HY4, "</tool_calls:", Meaning::SuffixedClose),
    of(HY4, "<tool_call:", Meaning::Suffixed(&HY4_CALL)),
    of(HY4, "</tool_call:", Meaning::SuffixedClose),
    of(HY4, "<think:", Meaning::SuffixedThink("</think>")),
    of(HY4, "</think:", Meaning::SuffixedEndThink),
    of(HY4, "<tool_response:", Meaning::Result(&["</tool_response:"])),
    of(HY4, "<tool_responses:", Meaning::Result(&["</tool_responses:"])),
    of(HUNYUAN, "<tool_responses>", Meaning::Result(&["</tool_responses>"])),
    of(HUNYUAN, "<｜hy_User｜>", Meaning::Turn(&[])),
    of(HUNYUAN, "<|hy_User|>", Meaning::Turn(&[])),
    of(QWEN, "<function=", Meaning::Open(&FUNCTION_OPEN)),
    of(QWEN, "</function>", Meaning::Close),
    of(&[Format::SeedOss], "<seed:tool_call>", Meaning::Open(&SEED)),
    of(&[Format::SeedOss], "</seed:tool_call>", Meaning::Close),
    of(&[Format::SeedOss], "<seed:think>", Meaning::Think(&["</seed:think>"], &[])),
    of(&[Format::SeedOss], "</seed:think>", Meaning::EndThink),
    of(&[Format::SeedOss], "<seed:bos>", Meaning::Turn(OWN)),
    of(&[Format::SeedOss], "<seed:eos>", Meaning::Stop),
    of(MINICPM, "<function ", Meaning::Open(&FUNCTION_NAME)),
    of(INVOKES, "<invoke ", Meaning::Open(&INVOKE_OPEN)),
    of(INVOKES, "</invoke>", Meaning::Close),
    of(INVOKES, "</function_calls>", Meaning::Close),
    of(INVOKES, "<function_results>", Meaning::Result(&["</function_results>"])),
    of(INVOKES, "<function_results ", Meaning::Result(&["</function_results>"])),
    of(
        &[Format::Dots],
        "<dots_function_response>",
        Meaning::Result(&["</dots_function_response>"]),
    ),
    of(&[Format::Dots], "<dots_function_call>", Meaning::Open(&DOTS_OPEN)),
    of(&[Format::Dots], "</dots_function_call>", Meaning::Close),
    of(&[Format::Dots], "<|userprompt|>", Meaning::Turn(&[])),
    of(&[Format::Dots], "<|response|>", Meaning::Close),
    of(&[Format::Dots], "<|endofresponse|>", Meaning::Stop),
    of(MINIMAX_TURNS, "]~b]", Meaning::Turn(&["ai"])),
    of(MINIMAX_TURNS, "[e~[", Meaning::Stop),
    of(&[Format::MinimaxM2], "<minimax:tool_call>", Meaning::Open(&MINIMAX)),
    of(&[Format::MinimaxM2], "</minimax:tool_call>", Meaning::Close),
    of(MUSE, "<atem:function_calls>", Meaning::Close),
    of(MUSE, "</atem:function_calls>", Meaning::Close),
    of(MUSE, "<atem:invoke ", Meaning::Open(&ATEM_OPEN)),
    of(MUSE, "</atem:invoke>", Meaning::Close),
    of(MUSE, "<|eom|>", Meaning::Stop),
    of(STEP3, "<|BOT|>", Meaning::Turn(OWN)),
    of(STEP3, "<|EOT|>", Meaning::Stop),
    of(STEP3, "<steptml:invoke ", Meaning::Open(&STEPTML_OPEN)),
    of(STEP3, "</steptml:invoke>", Meaning::Close),
    of(K3, "<|open|>think<|sep|>", Meaning::Think(&["<|close|>think<|sep|>"], THINK)),
    of(K3, "<|close|>think<|sep|>", Meaning::EndThink),
    of(K3, "<|open|>response<|sep|>", Meaning::Close),
    of(K3, "<|close|>response<|sep|>", Meaning::Close),
    of(K3, "<|open|>tools<|sep|>", Meaning::Close),
    of(K3, "<|close|>tools<|sep|>", Meaning::Close),
    of(K3, "<|open|>message role=\"", Meaning::Turn(OWN)),
    of(K3, "<|close|>message<|sep|>", Meaning::Stop),
    of(K3, "<|end_of_msg|>", Meaning::Stop),
    of(K3, "<|open|>call ", Meaning::Open(&XTML_OPEN)),
    of(K3, "<|close|>call<|sep|>", Meaning::Close),
    of(HORIZON, "<|ifm|im_start|>", Meaning::Turn(OWN)),
    of(HORIZON, "<|ifm|im_end|>", Meaning::Stop),
    of(HORIZON, "<ifm|think>", Meaning::Think(&["</ifm|think>"], &[])),
    of(HORIZON, "</ifm|think>", Meaning::EndThink),
    of(HORIZON, "<ifm|think_fast>", Meaning::Think(&["</ifm|think_fast>"], &[])),
    of(HORIZON, "</ifm|think_fast>", Meaning::EndThink),
    of(HORIZON, "<ifm|think_faster>", Meaning::Think(&["</ifm|think_faster>"], &[])),
    of(HORIZON, "</ifm|think_faster>", Meaning::EndThink),
    of(HORIZON, "<ifm|tool_calls>", Meaning::Close),
    of(HORIZON, "</ifm|tool_calls>", Meaning::Close),
    of(HORIZON, "<ifm|tool_call>", Meaning::Open(&IFM)),
    of(HORIZON, "</ifm|tool_call>", Meaning::Close),
];
