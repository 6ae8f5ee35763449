//! The end of a turn.

use hanok_agent::StopReason;
use hanok_core::Token;
use hanok_graph::Context;
use hanok_state::Message;

use crate::{ContractEvent, ContractStateUpdate, Material, cite};

/// Shows a piece of the answer that no model wrote.
pub(crate) fn show(context: &Context, text: &str) {
    if let Some(sink) = context.call("answer", "words", text).sink() {
        sink.token(Token::Text(text.to_owned()));
    }
}

/// Ends the turn with `text`, which was taken from `sources`.
pub(crate) fn answered(
    update: ContractStateUpdate,
    context: &Context,
    text: &str,
    sources: Vec<Material>,
) -> ContractStateUpdate {
    context.custom(&ContractEvent::Sources { sources: cite::told(&sources) });
    update
        .message(Message::assistant(text))
        .answer(Some(text.to_owned()))
        .sources(sources)
        .stopped(Some(StopReason::Answered))
}
