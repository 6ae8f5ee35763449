//! The [`tracing`] spans of hanok, named by OpenTelemetry's semantic conventions for generative AI.
//!
//! A run of a graph is a [`workflow`], each attempt at a task a [`node`], an agent's turn an [`agent`], and what it asks of
//! models and tools [`chat`] and [`tool`]. The conventions are in development: all names stand in one module, as of
//! [`REVISION`]. Spans hold names and numbers; what people, models and tools say is left out unless a
//! [`ContentCapture`] is switched on.
//!
//! A program that installs no subscriber pays nothing: no span is made, no text is formatted.
//!
//! ```
//! use hanok_telemetry::{chat, record_provider, record_usage};
//!
//! let span = chat("gpt-4o-mini");
//! record_provider(&span, "openai");
//! let answer = span.in_scope(|| "…");
//! record_usage(&span, 812, 64);
//! # assert_eq!(answer, "…");
//! ```

mod content;
mod names;
mod record;
mod span;

pub use content::ContentCapture;
pub use names::{
    AGENT_NAME, ATTEMPT, CHAT, CONVERSATION_ID, ERROR_TYPE, EXECUTE_TOOL, GRAPH_NAME,
    INPUT_MESSAGES, INVOKE_AGENT, INVOKE_WORKFLOW, NODE, NODE_NAME, OPERATION_NAME, OTEL_KIND,
    OTEL_NAME, OTEL_STATUS_CODE, OUTPUT_MESSAGES, PROVIDER_NAME, REQUEST_MODEL, RESPONSE_ID,
    RESPONSE_MODEL, REVISION, STEP, TARGET, TASK_ID, TOOL_CALL_ARGUMENTS, TOOL_CALL_ID,
    TOOL_CALL_RESULT, TOOL_NAME, TOOL_TYPE, USAGE_INPUT_TOKENS, USAGE_OUTPUT_TOKENS, WORKFLOW_NAME,
};
pub use record::{
    record_conversation, record_error, record_provider, record_response, record_usage,
};
pub use span::{agent, chat, node, tool, workflow};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
