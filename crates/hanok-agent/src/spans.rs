//! Calls of models and tools, as spans.

use hanok_core::Call;
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, SharedModel};
use hanok_telemetry::ContentCapture;
use tracing::Instrument;

/// Asks `model`, within a span named by the conventions for generative AI. What is said is recorded if `capture` says so.
///
/// # Errors
///
/// What [`ChatModel::chat`] says.
pub async fn ask_model(
    model: &SharedModel,
    request: ChatRequest,
    call: &Call,
    capture: ContentCapture,
) -> Result<ChatReply, ModelError> {
    let span = hanok_telemetry::chat(model.name());
    capture.input(&span, || serde_json::to_string(&request.messages).unwrap_or_default());
    let reply = model.chat(request, call).instrument(span.clone()).await;
    match &reply {
        Ok(reply) => {
            let usage = reply.usage;
            hanok_telemetry::record_usage(&span, usage.input_tokens, usage.output_tokens);
            capture.output(&span, || serde_json::to_string(&[&reply.message]).unwrap_or_default());
        }
        Err(_) => hanok_telemetry::record_error(&span, "model"),
    }
    reply
}
