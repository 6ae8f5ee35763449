//! Calls of models and tools, as spans.

use hanok_core::Call;
use hanok_model::{ChatReply, ChatRequest, ModelError, SharedModel};
use hanok_parse::{Language, Parser};
use hanok_telemetry::ContentCapture;
use tracing::Instrument;

use crate::{
    intercept::{TurnContext, chain::NextModel},
    protocol::Protocol,
    reply::visible_tokens::VisibleTokens,
    usage::TurnUsage,
};

/// How a model's text is read for those who watch it come.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Reading<'a> {
    pub(super) parser: &'a Parser,
    pub(super) protocol: Protocol,
    pub(super) hidden: Option<&'a Parser>,
}

impl<'a> Reading<'a> {
    /// As `parser` reads it.
    pub fn new(parser: &'a Parser, protocol: Protocol) -> Self {
        Self { parser, protocol, hidden: None }
    }

    /// Shows nothing of a reply in which `hidden` reads a call, though the parser does not: the model is asked again then, as where a
    /// label lacks the conversation's key.
    pub fn hidden(self, hidden: Option<&'a Parser>) -> Self {
        Self { hidden, ..self }
    }
}

/// Asks `model`, within a span named by the conventions for generative AI. The texts are recorded where `capture` says so.
///
/// A watcher of the tokens of `call` sees them as the parser reads them: the answer as text and thoughts as reasoning, but no
/// mark, no label and no call. When the reply is an answer, the text since the last
/// [`Retracted`](hanok_core::Token::Retracted) is that answer. By [`Protocol::Native`] text is shown at
/// once, also before a call; by [`Protocol::Text`] it is shown when the reply has ended and was an answer.
///
/// ```
/// use hanok_agent::{ContentCapture, Protocol, Reading, ask_model};
/// use hanok_core::{Call, CallKey};
/// use hanok_model::{ChatRequest, Exchange, ScriptedModel, SharedModel};
/// use hanok_parse::Parser;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let call = Call::new(CallKey::new("1"), hanok_graph::Runtime::default().clock);
/// let model = SharedModel::new(ScriptedModel::new([Exchange::says("Final Answer: 15일")]));
/// let (request, parser) = (ChatRequest::new(["연차는 며칠?"]), Parser::default());
/// let reading = Reading::new(&parser, Protocol::Text);
/// let reply = ask_model(&model, request, &call, reading, ContentCapture::Off).await?;
/// assert_eq!(parser.parse(&reply.message.text()).answer.as_deref(), Some("15일"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// What [`ChatModel::chat`](hanok_model::ChatModel::chat) says.
pub async fn ask_model(
    model: &SharedModel,
    request: ChatRequest,
    call: &Call,
    reading: Reading<'_>,
    capture: ContentCapture,
) -> Result<ChatReply, ModelError> {
    let usage = TurnUsage::default();
    let turn = TurnContext { agent: "", usage: &usage, language: Language::default() };
    ask_through(NextModel::new(&[], model, turn), request, call, reading, capture).await
}

/// As [`ask_model`], with what stands around the model.
pub(crate) async fn ask_through(
    model: NextModel<'_>,
    request: ChatRequest,
    call: &Call,
    reading: Reading<'_>,
    capture: ContentCapture,
) -> Result<ChatReply, ModelError> {
    let visible = VisibleTokens::of(call, reading);
    let call = visible.as_ref().map_or(call, |(call, _)| call);
    let span = hanok_telemetry::chat(model.model());
    capture.input(&span, || serde_json::to_string(&request.messages).unwrap_or_default());
    let reply = model.run(request, call).instrument(span.clone()).await;
    if let Some((_, visible)) = &visible {
        visible.finish();
    }
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
