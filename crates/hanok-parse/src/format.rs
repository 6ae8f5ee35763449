//! The formats by name.

use std::{fmt, str::FromStr};

#[cfg(feature = "serde")]
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $name:literal $(| $alias:literal)*,)*) => {
        /// A way in which models write calls.
        ///
        /// Names are stable: what [`as_str`](Self::as_str) gives, [`from_str`](FromStr::from_str) reads, the names of
        /// models that write the same form included.
        ///
        /// ```
        /// use hanok_parse::Format;
        ///
        /// assert_eq!("qwen3_coder".parse(), Ok(Format::Qwen3Xml));
        /// assert_eq!(Format::DeepseekV31.as_str(), "deepseek_v3.1");
        /// assert!("morse".parse::<Format>().is_err());
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $variant,)*
        }

        impl Format {
            /// Every format.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl FromStr for Format {
            type Err = UnknownFormat;

            fn from_str(name: &str) -> Result<Self, UnknownFormat> {
                match name {
                    $($name $(| $alias)* => Ok(Self::$variant),)*
                    _ => Err(UnknownFormat { name: name.chars().take(64).collect() }),
                }
            }
        }
    };
}

formats! {
    /// Lines `Action:` and `Action Input:`, in English or Korean.
    React = "react" | "react_ko" | "react_bold",
    /// Lines `Delegate:` and `Task:`.
    Supervisor = "supervisor",
    /// `Action:` and a JSON object with name and arguments.
    Smolagents = "smolagents",
    /// `{"action": …, "action_input": …}`, bare or in a fence.
    JsonAction = "json_action",
    /// `{"name": …, "arguments": …}` or a list of them, bare or in a fence.
    BareJson = "bare_json",
    /// Chat Completions' `tool_calls` or `function_call`, as text.
    OpenaiJson = "openai_json",
    /// `<tool_call>name</tool_call><tool_input>{…}</tool_input>`.
    ToolInputXml = "tool_input_xml",
    /// `<tool_call>{…}</tool_call>`, or `<tool_call>name(key="value")</tool_call>`.
    Hermes = "hermes" | "qwen2.5" | "qwen3" | "qwen" | "tng_r1t2",
    /// `<|python_tag|>{…}; {…}`.
    Llama3Json = "llama3_json" | "llama3" | "llama4_json",
    /// `<function=name>{…}</function>`.
    FunctionTag = "function_tag" | "llama31_function_tag" | "functionary_v3.1",
    /// `<|python_tag|>name.call(key="value")`.
    LlamaBuiltin = "llama_builtin",
    /// `[name(key="value")]`, bare or in Llama 4's tags.
    Pythonic = "pythonic" | "llama4_pythonic",
    /// `<function_calls>` and a pythonic call a line.
    Olmo3 = "olmo3",
    /// `<|tool_call_start|>[…]<|tool_call_end|>`.
    Lfm2 = "lfm2",
    /// `[TOOL_CALLS] [{…}]`.
    Mistral = "mistral",
    /// `[TOOL_CALLS]name[ARGS]{…}`.
    MistralV11 = "mistral_v11" | "mistral_v11+",
    /// `<|tool_call|>[{…}]`.
    Granite = "granite" | "granite3",
    /// `<function_call>{…}`.
    Granite20bFc = "granite_20b_fc" | "granite-20b-fc",
    /// As Hermes.
    Granite4 = "granite4",
    /// `<longcat_tool_call>{…}</longcat_tool_call>`.
    Longcat = "longcat",
    /// As Hermes; answers in `<response>`.
    Ernie45 = "ernie45",
    /// `<tool_calls>[{…}]</tool_calls>`.
    Jamba = "jamba" | "minimax" | "minimax_m1",
    /// As Jamba; answers in `<answer>`.
    HunyuanA13b = "hunyuan_a13b" | "hunyuan",
    /// `<tool_calls><tool_call>name<tool_sep><arg_key>…`.
    HyV3 = "hy_v3",
    /// As `hy_v3`, its tags with a suffix `:hash`.
    HyV4 = "hy_v4",
    /// `<|action_start|><|plugin|>{…}<|action_end|>`.
    Internlm = "internlm" | "internlm2" | "intern_s1" | "interns1",
    /// `<｜tool▁call▁begin｜>function<｜tool▁sep｜>name` and JSON in a fence.
    DeepseekV3 = "deepseek_v3" | "deepseek_r1",
    /// `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}`.
    DeepseekV31 = "deepseek_v3.1" | "deepseek_v31",
    /// DSML in `function_calls`.
    DeepseekV32 = "deepseek_v3.2" | "deepseek_v32",
    /// DSML in `tool_calls`, its bars twice or of ASCII, too.
    DeepseekV4 = "deepseek_v4",
    /// DSML in ` calls`.
    DeepseekV41 = "deepseek_v4.1" | "deepseek_v41",
    /// `<tool_call><function=name><parameter=key>value</parameter></function></tool_call>`.
    Qwen3Xml = "qwen3_xml" | "qwen3_coder" | "nemotron3" | "mimo" | "step3.5" | "step3p5",
    /// As `qwen3_xml` in `<seed:tool_call>`.
    SeedOss = "seed_oss",
    /// `<tool_call>name`, a line each of `<arg_key>` and `<arg_value>`. The chat template may have written the first mark.
    Glm45 = "glm45" | "glm4.5" | "glm4.6" | "glm4_tool_only" | "ling3" | "poolside" | "spark2.5",
    /// As `glm45` without line breaks.
    Glm47 = "glm47" | "glm4.7" | "glm5" | "spark3",
    /// As `glm47`, or `<tool_call>name>{…}`.
    Glm53 = "glm53" | "glm5.3" | "glm53_flash",
    /// `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`.
    KimiK2 = "kimi_k2",
    /// XTML: `<|open|>call tool="name"<|sep|>…<|close|>call<|sep|>`.
    KimiK3 = "kimi_k3",
    /// `<minimax:tool_call><invoke name="name"><parameter name="key">value</parameter></invoke></minimax:tool_call>`.
    MinimaxM2 = "minimax_m2",
    /// As `minimax_m2` with prefixed tags and nested elements.
    MinimaxM3 = "minimax_m3",
    /// `<function_calls><invoke name="name"><parameter name="key">value</parameter></invoke></function_calls>`.
    AnthropicXml = "anthropic_xml" | "claude",
    /// As `anthropic_xml` in `<dots_function_call>`.
    Dots = "dots",
    /// As `anthropic_xml` in `<atem:function_calls>`.
    Muse = "muse" | "atem",
    /// `<function name="name"><param name="key">value</param></function>`, the parameters in `<arguments>` or not.
    Minicpm5 = "minicpm5" | "minicpm4",
    /// `steptml:invoke` in tokens like DeepSeek's.
    Step3 = "step3",
    /// gpt-oss: `<|channel|>commentary to=functions.name<|message|>{…}<|call|>`. Beam has `<rfl:parameter name="key">` in place of
    /// JSON.
    Harmony = "harmony" | "gpt_oss" | "gpt-oss" | "beam",
    /// `<|START_ACTION|>[{"tool_name": …, "parameters": …}]<|END_ACTION|>`.
    Cohere = "cohere" | "cohere_cmd3" | "cohere_cmd4" | "cohere_command3" | "cohere_command4",
    /// `<|tool_call>call:name{key:<|"|>value<|"|>}<tool_call|>`.
    Gemma4 = "gemma4",
    /// `<start_function_call>call:name{key:<escape>value<escape>}<end_function_call>`.
    Functiongemma = "functiongemma",
    /// `<|tools_prefix|>[{"name": {…}}]<|tools_suffix|>`.
    Apertus = "apertus" | "apertus2509",
    /// A JSON list, bare, in a fence, behind `[TOOL_CALLS]` or in `<tool_call>`.
    Xlam = "xlam",
    /// `functools[{…}]`.
    Phi4mini = "phi4mini" | "phi4_mini_json" | "firefunction_v2",
    /// `function call<|role_sep|>` and `{…}`, `<|function_call|>{…}`, or GCML, which is DSML with this name.
    Gigachat3 = "gigachat3" | "gigachat3.1" | "gigachat3.5",
    /// `<|message_model|>name<|content_invoke_tool_json|>{…}<|end_message|>`.
    Inkling = "inkling",
    /// Tokens around name and JSON arguments.
    Plamo3 = "plamo3",
    /// `<ifm|tool_calls>` with XML or JSON bodies.
    K2Horizon = "k2_horizon" | "k2_v3",
    /// `<|tool_call:start|>name`, a line each of `<|tool_arg:start|>key<|tool_arg:value|>value<|tool_arg:end|>`.
    SolarOpen2 = "solar_open2" | "solar_open_2",
    /// `<|tool_call:begin|>id<|tool_call:name|>name<|tool_call:args|>{…}<|tool_call:end|>`.
    SolarOpen = "solar_open" | "solar_open_100b",
    /// `<TOOLCALL>[{…}]</TOOLCALL>`.
    Nemotron = "nemotron_nano_v2" | "nemotron_h" | "nemotron_json",
    /// As `glm47` in `<iquestcoder_tool_call>` or `<iquest_tool_call>`.
    Iquest = "iquest" | "iquest_coder_v2" | "iquest_q1",
    /// A fence of the language `tool_code`, or a line `tool_code = name(key="value")` or `print(name(key="value"))`.
    ToolCode = "tool_code" | "gemma3" | "gemini",
    /// `[Calling tool: name({…})]`, or `[Calling tool="name" key="value"]`.
    CallingTool = "calling_tool",
    /// `<|recipient|>name` and `<|content|>{…}`, or `>>>name` and `{…}` on lines of their own.
    Functionary = "functionary" | "functionary_v2" | "functionary_v3.2",
    /// `<tool: name>`: a name and words, up to `</tool>`.
    Cwm = "cwm",
    /// `<tool>name</tool><tool_input>words</tool_input>`; answers in `<final_answer>`.
    LangchainXml = "langchain_xml",
    /// `<|tool_calls|>[{…}]`.
    Sarashina = "sarashina",
    /// A line `-> tool/function_call` and a JSON list.
    Hyperclovax = "hyperclovax" | "hyperclova_x",
    /// `Action: name(key='value')`.
    UiTars = "ui_tars" | "uitars",
    /// A line `name(key="value")` for each call. Looked for only where it is named: prose shows code so.
    GranitePythonic = "granite_pythonic",
    /// `✿FUNCTION✿: name` and `✿ARGS✿: {…}`.
    QwenAgent = "qwen_agent",
}

/// There is no format of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat {
    name: String,
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no format `{}`", self.name.escape_debug())
    }
}

impl std::error::Error for UnknownFormat {}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for format in Format::ALL {
            assert_eq!(format.as_str().parse(), Ok(*format));
        }
        assert_eq!(
            "x".parse::<Format>().map_err(|error| error.to_string()),
            Err("there is no format `x`".to_owned())
        );
    }
}
