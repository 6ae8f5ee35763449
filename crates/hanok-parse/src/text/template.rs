//! Sets of formats, and which ones a chat template writes.

#[cfg(feature = "serde")]
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::format::Format;

/// Some formats.
///
/// ```
/// use hanok_parse::{Format, Formats};
///
/// let template = "{%- if tools %}<tools>…</tools>\n<tool_call>\n{\"name\": …, \"arguments\": …}\n</tool_call>{% endif %}";
/// let formats = Formats::of_template(template);
/// assert!(formats.contains(Format::Hermes));
/// assert!(!formats.contains(Format::React));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Formats(u128);

/// A bit for each.
const _: () = assert!(Format::ALL.len() <= u128::BITS as usize);

impl Formats {
    /// Those of a list.
    pub(crate) const fn of(mut list: &[Format]) -> Self {
        let mut bits = 0;
        while let [first, rest @ ..] = list {
            bits |= 1 << *first as u32;
            list = rest;
        }
        Self(bits)
    }

    /// Those that both have.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those of either.
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `format` is one of them.
    #[must_use]
    pub fn contains(&self, format: Format) -> bool {
        self.0 & (1 << format as u32) != 0
    }

    /// Whether there are none. A parser that is narrowed to none looks for all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// The formats, sorted by family.
    pub fn iter(&self) -> impl Iterator<Item = Format> {
        let own = *self;
        Format::ALL.iter().copied().filter(move |format| own.contains(*format))
    }

    /// The formats that a model with this chat template is told to write: those whose marks all stand in the text of the
    /// template, which is not run. None when it has no marks that are known.
    #[must_use]
    pub fn of_template(template: &str) -> Self {
        let stands = |marks: &[&str]| marks.iter().all(|mark| template.contains(mark));
        let found = SIGNATURES.iter().filter(|(_, marks)| stands(marks));
        found.map(|(format, _)| *format).collect()
    }
}

impl FromIterator<Format> for Formats {
    fn from_iter<I: IntoIterator<Item = Format>>(formats: I) -> Self {
        formats.into_iter().fold(Self::default(), |all, format| all.or(Self::of(&[format])))
    }
}

impl IntoIterator for Formats {
    type Item = Format;
    type IntoIter = std::vec::IntoIter<Format>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter().collect::<Vec<_>>().into_iter()
    }
}

impl<const N: usize> From<[Format; N]> for Formats {
    fn from(formats: [Format; N]) -> Self {
        formats.into_iter().collect()
    }
}

#[cfg(feature = "serde")]
impl Serialize for Formats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(feature = "serde")]
impl<'de> Deserialize<'de> for Formats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Format>::deserialize(deserializer)?.into_iter().collect())
    }
}

/// What stands in the templates of a format.
///
/// [`Format::GranitePythonic`] has none: the public templates of the models that write it, Granite 3.3 and 4.0 H-Small, ask for
/// JSON behind `<|tool_call|>` or in `<tool_call>`, and say nothing of lines of code.
const SIGNATURES: &[(Format, &[&str])] = &[
    (Format::React, &["Action:", "Action Input:"]),
    (Format::JsonAction, &["\"action\"", "\"action_input\""]),
    (Format::ToolInputXml, &["<tool_call>", "<tool_input>"]),
    (Format::Hermes, &["<tool_call>", "</tool_call>", "\"arguments\""]),
    (Format::Hermes, &["<tool_call>", "</tool_call>", "arguments\":"]),
    // In a string of the template.
    (Format::Hermes, &["<tool_call>", "</tool_call>", "\\\"arguments\\\""]),
    (Format::Llama3Json, &["<|python_tag|>"]),
    (Format::Llama3Json, &["{\"name\": function name, \"parameters\""]),
    (Format::Llama3Json, &["<|start_header_id|>", "\"parameters\": "]),
    (Format::LlamaBuiltin, &["<|python_tag|>", ".call("]),
    (Format::FunctionTag, &["<function=", "</function>"]),
    (Format::Pythonic, &["<|python_start|>"]),
    (Format::Pythonic, &["[func_name1(params_name1=params_value1"]),
    // Llama 4, where its tokens are not asked for.
    (Format::Pythonic, &["[func_name1(param1=value1"]),
    (Format::Olmo3, &["<function_calls>", "<functions>"]),
    (Format::Lfm2, &["<|tool_call_start|>"]),
    // Its templates give the tools, and say nothing of the call.
    (Format::Lfm2, &["<|tool_list_start|>"]),
    (Format::Lfm2, &["List of tools: ", "<|im_start|>"]),
    (Format::Mistral, &["[TOOL_CALLS]"]),
    (Format::MistralV11, &["[TOOL_CALLS]", "[ARGS]"]),
    (Format::Granite, &["<|tool_call|>"]),
    (Format::Granite20bFc, &["<function_call>"]),
    (Format::Longcat, &["<longcat_tool_call>"]),
    (Format::Jamba, &["<tool_calls>", "</tool_calls>"]),
    (Format::HyV3, &["<tool_call>", "<tool_sep>"]),
    (Format::HyV4, &["<tool_call:", "<tool_sep:"]),
    // Hy3's tags, each with a suffix that the template keeps by this name, which may be empty.
    (Format::HyV3, &["HYTK", "<tool_sep"]),
    (Format::HyV4, &["HYTK", "<tool_sep"]),
    (Format::Internlm, &["<|action_start|>"]),
    (Format::DeepseekV3, &["<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"]),
    (Format::DeepseekV31, &["<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"]),
    (Format::DeepseekV32, &["｜DSML｜", "function_calls"]),
    (Format::DeepseekV4, &["｜DSML｜", "tool_calls"]),
    (Format::DeepseekV41, &["｜DSML｜ "]),
    (Format::Qwen3Xml, &["<function=", "<parameter="]),
    (Format::SeedOss, &["<seed:tool_call>"]),
    (Format::Glm45, &["<tool_call>", "<arg_key>"]),
    (Format::Glm47, &["<tool_call>", "<arg_key>"]),
    (Format::Glm53, &["<tool_call>", "<arg_key>"]),
    (Format::KimiK2, &["<|tool_call_begin|>", "<|tool_call_argument_begin|>"]),
    (Format::KimiK3, &["<|open|>", "<|sep|>"]),
    (Format::MinimaxM2, &["<minimax:tool_call>"]),
    (Format::MinimaxM3, &["]<]minimax[>["]),
    (Format::AnthropicXml, &["<function_calls>", "<invoke"]),
    (Format::Dots, &["<dots_function_call>"]),
    (Format::Muse, &["<atem:invoke"]),
    (Format::Minicpm5, &["<function name=", "<param name="]),
    (Format::Step3, &["<steptml:invoke"]),
    (Format::Harmony, &["<|channel|>", "<|message|>"]),
    (Format::Cohere, &["<|START_ACTION|>"]),
    (Format::Gemma4, &["<|tool_call>"]),
    (Format::Functiongemma, &["<start_function_call>"]),
    (Format::Apertus, &["<|tools_prefix|>"]),
    (Format::Phi4mini, &["functools"]),
    (Format::Phi4mini, &["<|tool_call|>", "<|/tool_call|>"]),
    (Format::Gigachat3, &["function call<|role_sep|>"]),
    (Format::Gigachat3, &["<|function_call|>"]),
    // The role and its token, apart.
    (Format::Gigachat3, &["function call", "<|role_sep|>"]),
    (Format::Gigachat3, &["<｜GCML｜"]),
    (Format::Inkling, &["<|content_invoke_tool_json|>"]),
    (Format::Plamo3, &["<|plamo:begin_tool_request:plamo|>"]),
    (Format::K2Horizon, &["<ifm|tool_call>"]),
    (Format::QwenAgent, &["✿FUNCTION✿"]),
    (Format::SolarOpen2, &["<|tool_call:start|>"]),
    (Format::SolarOpen, &["<|tool_call:begin|>"]),
    (Format::Nemotron, &["<TOOLCALL>"]),
    (Format::Iquest, &["<iquest_tool_call>"]),
    (Format::Iquest, &["<iquestcoder_tool_call>"]),
    (Format::ToolCode, &["tool_code"]),
    (Format::Functionary, &["<|recipient|>"]),
    (Format::Functionary, &[">>>"]),
    (Format::Cwm, &["<tool: "]),
    (Format::LangchainXml, &["<tool>", "<tool_input>"]),
    (Format::Sarashina, &["<|tool_calls|>"]),
    // Its vision models' templates give the tools alone.
    (Format::Sarashina, &["<|available_tools|>", "<|assistant|>"]),
    (Format::Hyperclovax, &["-> tool/function_call"]),
    (Format::CallingTool, &["[Calling tool:"]),
    (Format::CallingTool, &["[Calling tool="]),
    (Format::UiTars, &["Action:", "click(start_box="]),
    (Format::UiTars, &["Action:", "click(point="]),
    (Format::Xlam, &["[{\"name\": \"tool_call_name\", \"arguments\""]),
    (Format::Ernie45, &["<tool_call>", "<response>"]),
    (Format::Granite4, &["<tool_call>", "<|start_of_role|>"]),
    (Format::HunyuanA13b, &["<tool_calls>", "<answer>"]),
    (Format::Smolagents, &["Action:", "\"name\": \"final_answer\""]),
    // Command R+: a list in a fence behind `Action:`.
    (Format::Smolagents, &["Action:", "```json", "\"tool_name\""]),
];

#[cfg(test)]
mod tests {
    use super::{Format, SIGNATURES};

    /// No template has words for the others.
    #[test]
    fn every_format_that_templates_have_words_for_has_a_signature() {
        use Format::{BareJson, GranitePythonic, OpenaiJson, Supervisor};
        let without = [BareJson, GranitePythonic, OpenaiJson, Supervisor];
        for format in Format::ALL {
            let has = SIGNATURES.iter().any(|(one, _)| one == format);
            assert_eq!(has, !without.contains(format), "{format}");
        }
    }
}
