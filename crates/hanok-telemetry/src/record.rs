//! Attributes that are known only after their span began.

use tracing::Span;

use crate::names::{
    CONVERSATION_ID, ERROR_TYPE, OTEL_STATUS_CODE, PROVIDER_NAME, RESPONSE_ID, RESPONSE_MODEL,
    USAGE_INPUT_TOKENS, USAGE_OUTPUT_TOKENS,
};

/// Records who serves the model of a [`chat`](crate::chat), by the conventions' name: `openai`, `anthropic`, ….
pub fn record_provider(span: &Span, provider: &str) {
    span.record(PROVIDER_NAME, provider);
}

/// Records the thread that a [`chat`](crate::chat) or an [`agent`](crate::agent) belongs to.
pub fn record_conversation(span: &Span, thread: &str) {
    span.record(CONVERSATION_ID, thread);
}

/// Records which model answered a [`chat`](crate::chat), and the answer's id if it has one.
pub fn record_response(span: &Span, model: &str, id: Option<&str>) {
    span.record(RESPONSE_MODEL, model);
    if let Some(id) = id {
        span.record(RESPONSE_ID, id);
    }
}

/// Records the tokens that a [`chat`](crate::chat) or an [`agent`](crate::agent) took in and gave out.
pub fn record_usage(span: &Span, input: u64, output: u64) {
    // Signed: the bridge to OpenTelemetry makes text of what is not.
    let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    span.record(USAGE_INPUT_TOKENS, signed(input));
    span.record(USAGE_OUTPUT_TOKENS, signed(output));
}

/// Records that the operation failed, and by which class of error.
///
/// `kind` is one of few words of the program's own, such as `timeout`: never an error's message, which may hold what a
/// person or a model said.
pub fn record_error(span: &Span, kind: &'static str) {
    span.record(ERROR_TYPE, kind);
    span.record(OTEL_STATUS_CODE, "ERROR");
}
