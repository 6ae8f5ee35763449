//! The JSON of chat completions (<https://platform.openai.com/docs/api-reference/chat>).

mod assembly;
mod request;

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use serde_json::Value;

pub(crate) use self::assembly::Assembly;
pub(crate) use self::request::{body, embedding};

/// What a server turned out not to take.
#[derive(Debug, Default)]
pub(crate) struct Quirks {
    /// It refuses `stream_options`.
    no_stream_options: AtomicBool,
    /// It wants `max_completion_tokens` instead of `max_tokens`.
    max_completion_tokens: AtomicBool,
    /// It refuses `strict` beside a schema.
    no_strict: AtomicBool,
    /// It refuses `tool_choice`: who asks has to check it anyway.
    no_tool_choice: AtomicBool,
}

impl Quirks {
    /// Learns from a refusal that mentions what `mentions` says; whether there is something new to try.
    pub(crate) fn learn(&self, body: &Value, mentions: impl Fn(&str) -> bool) -> bool {
        let learn = |sent: &str, named: &str, quirk: &AtomicBool| {
            says(body, sent) && mentions(named) && !quirk.swap(true, Ordering::Relaxed)
        };
        learn("stream_options", "stream_options", &self.no_stream_options)
            || learn("max_tokens", "max_completion_tokens", &self.max_completion_tokens)
            || learn("strict", "strict", &self.no_strict)
            || learn("tool_choice", "tool_choice", &self.no_tool_choice)
    }
}

/// Whether `body` has the key `sent`: on its own, or beside a schema of the answer or a tool.
fn says(body: &Value, sent: &str) -> bool {
    let beside = |place: &str| body.pointer(place).is_some_and(|of| of.get(sent).is_some());
    let tools = body.get("tools").and_then(Value::as_array);
    body.get(sent).is_some()
        || beside("/response_format/json_schema")
        || tools.is_some_and(|tools| {
            tools.iter().any(|tool| tool.pointer(&format!("/function/{sent}")).is_some())
        })
}

/// A whole answer, or a piece of one. Everything may be missing.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<UsageSaid>,
    model: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Choice {
    index: Option<u64>,
    /// Of a piece.
    delta: Option<Delta>,
    /// Of a whole answer.
    message: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    content: Option<Value>,
    refusal: Option<String>,
    /// DeepSeek, llama.cpp, older vLLM.
    reasoning_content: Option<String>,
    /// OpenRouter, newer vLLM.
    reasoning: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
    /// Before there were several.
    function_call: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
struct UsageSaid {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptTokens>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
struct PromptTokens {
    cached_tokens: Option<u64>,
}
