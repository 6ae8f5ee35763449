//! A model that says what a test wrote.

mod exchange;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hanok_core::{Call, Charge, Token};
use thiserror::Error;

pub use self::exchange::Exchange;
use self::exchange::Outcome;
use crate::{
    ChatModel, ChatReply, ChatRequest, ModelError, TokenCounter, Usage, race::until_the_end_of,
};

/// The difference between a script and what happened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The request is not the one that was expected.
    #[error("exchange {exchange} of the script: {problem}\nthe model was sent:\n{sent}")]
    Mismatch {
        /// The exchange, counted from 1.
        exchange: usize,
        /// The expectation that failed.
        problem: String,
        /// The request as a text.
        sent: String,
    },
    /// No exchange of those that are left expects the request.
    #[error(
        "none of the {remaining} exchanges that are left expects this request\nthe model was sent:\n{sent}"
    )]
    Unexpected {
        /// The number of exchanges that remain.
        remaining: usize,
        /// The request as a text.
        sent: String,
    },
    /// The model was asked once more than the script says.
    #[error("the script ends after {exchanges} exchanges\nthe model was sent:\n{sent}")]
    Ended {
        /// The number of exchanges.
        exchanges: usize,
        /// The request as a text.
        sent: String,
    },
    /// Some exchanges did not happen.
    #[error("{remaining} of {exchanges} exchanges of the script did not happen")]
    Unfinished {
        /// The number of exchanges that remain.
        remaining: usize,
        /// The number of all exchanges.
        exchanges: usize,
    },
}

/// A model for tests that follows a script: a list of exchanges, each of which checks what it is sent and says what it
/// answers. Clones follow the same script.
///
/// ```
/// use hanok_model::{Exchange, ScriptedModel};
///
/// let model = ScriptedModel::new([
///     Exchange::says("Delegate: rag_agent").contains("휴가"),
///     Exchange::says("Final Answer: 15일").contains("80 %").pieces(["Final ", "Answer: 15일"]),
/// ]);
/// // … hand `model.clone()` to what is tested, and at its end:
/// assert_eq!(
///     model.finished().unwrap_err().to_string(),
///     "2 of 2 exchanges of the script did not happen"
/// );
/// ```
///
/// Tokens that an exchange does not give are counted by the estimate of [`TokenCounter`].
#[derive(Clone)]
pub struct ScriptedModel {
    name: Arc<str>,
    any_order: bool,
    script: Arc<Mutex<Script>>,
}

struct Script {
    exchanges: Vec<Option<Exchange>>,
    requests: Vec<ChatRequest>,
}

impl ScriptedModel {
    /// A model named `scripted` that follows `exchanges` in their order.
    pub fn new(exchanges: impl IntoIterator<Item = Exchange>) -> Self {
        let numbered = (1..).zip(exchanges).map(|(number, exchange)| exchange.numbered(number));
        let script = Script { exchanges: numbered.map(Some).collect(), requests: Vec::new() };
        Self { name: "scripted".into(), any_order: false, script: Arc::new(Mutex::new(script)) }
    }

    /// The model's name. Default: `scripted`.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Each request is answered by the first exchange left that expects it, for what asks in parallel. Default: the
    /// exchanges happen in their order.
    #[must_use]
    pub fn in_any_order(self) -> Self {
        Self { any_order: true, ..self }
    }

    /// The requests to the model so far, in their order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.script().requests.clone()
    }

    /// Checks that the whole script happened.
    ///
    /// # Errors
    ///
    /// [`ScriptError::Unfinished`] when exchanges are left.
    pub fn finished(&self) -> Result<(), ScriptError> {
        let script = self.script();
        match script.remaining() {
            0 => Ok(()),
            remaining => {
                Err(ScriptError::Unfinished { remaining, exchanges: script.exchanges.len() })
            }
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(
        &self,
        exchange: Exchange,
        request: &ChatRequest,
        call: &Call,
    ) -> Result<ChatReply, ModelError> {
        if let Some(delay) = exchange.delay {
            call.clock().sleep(delay).await;
        }
        match exchange.outcome {
            Outcome::Error(error) => {
                stream(exchange.pieces, call);
                Err(error)
            }
            Outcome::Reply(reply) => {
                let reply = ChatReply { model: self.name.to_string(), ..*reply };
                let reply = counted(reply, request);
                call.spend().add(reply.usage.spent());
                let silent = reply.message.text().is_empty();
                match (exchange.pieces.is_empty(), reply.message.tool_calls()) {
                    // It says nothing but the call: these are pieces of that.
                    (false, [called]) if silent => stream_call(&called.name, exchange.pieces, call),
                    (false, _) => stream(exchange.pieces, call),
                    (true, _) => stream(whole(&reply), call),
                }
                Ok(reply)
            }
        }
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        if call.stop().is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        call.admit(Charge::Model)?;
        let exchange = self.script().take(&request, self.any_order);
        let exchange = exchange.map_err(|error| ModelError::Other(error.into()))?;
        until_the_end_of(call, self.answer(exchange, &request, call)).await
    }
}

impl Script {
    fn remaining(&self) -> usize {
        self.exchanges.iter().flatten().count()
    }

    /// The exchange that answers `request`, which has happened then.
    fn take(&mut self, request: &ChatRequest, any_order: bool) -> Result<Exchange, ScriptError> {
        self.requests.push(request.clone());
        let (exchanges, remaining) = (self.exchanges.len(), self.remaining());
        let sent = || shown(request);
        let mut open = self.exchanges.iter_mut().enumerate().filter(|(_, slot)| slot.is_some());
        if any_order && remaining > 0 {
            let fitting = open.find(|(_, slot)| {
                slot.as_ref().is_some_and(|exchange| exchange.problem(request).is_none())
            });
            return fitting
                .and_then(|(_, slot)| slot.take())
                .ok_or_else(|| ScriptError::Unexpected { remaining, sent: sent() });
        }
        let Some((index, slot)) = open.next() else {
            return Err(ScriptError::Ended { exchanges, sent: sent() });
        };
        if let Some(problem) = slot.as_ref().and_then(|exchange| exchange.problem(request)) {
            return Err(ScriptError::Mismatch { exchange: index + 1, problem, sent: sent() });
        }
        slot.take().ok_or_else(|| ScriptError::Ended { exchanges, sent: sent() })
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.script();
        f.debug_struct("ScriptedModel")
            .field("name", &self.name)
            .field("exchanges", &script.exchanges.len())
            .field("remaining", &script.remaining())
            .finish_non_exhaustive()
    }
}

fn stream(pieces: Vec<Token>, call: &Call) {
    for piece in pieces {
        if let Some(sink) = call.sink() {
            sink.token(piece);
        }
    }
}

/// Streams `pieces` as those of the arguments of a call of `tool`.
fn stream_call(tool: &str, pieces: Vec<Token>, call: &Call) {
    let Some(sink) = call.sink() else { return };
    for piece in pieces {
        if let Token::Text(piece) = piece {
            sink.call_piece(0, tool, &piece);
        }
    }
}

/// The pieces of a reply that comes in one.
fn whole(reply: &ChatReply) -> Vec<Token> {
    let reasoning = reply.reasoning.clone().map(Token::Reasoning);
    let text = reply.message.text().into_owned();
    let text = (!text.is_empty()).then_some(Token::Text(text));
    reasoning.into_iter().chain(text).collect()
}

fn counted(reply: ChatReply, request: &ChatRequest) -> ChatReply {
    if reply.usage != Usage::default() {
        return reply;
    }
    let counter = TokenCounter::estimate();
    let reasoning = reply.reasoning.as_deref().map_or(0, |text| counter.text(text));
    let usage = Usage {
        input_tokens: counter.request(request),
        output_tokens: counter.message(&reply.message) + reasoning,
        estimated: true,
        ..Usage::default()
    };
    reply.usage(usage)
}

/// A request as a person reads it.
pub(crate) fn shown(request: &ChatRequest) -> String {
    let mut shown = String::new();
    for message in &request.messages {
        shown.push_str(&format!("[{}] {}\n", message.role(), message.text()));
        for call in message.tool_calls() {
            shown
                .push_str(&format!("    calls {}({}) as {}\n", call.name, call.arguments, call.id));
        }
    }
    if !request.tools.is_empty() {
        let names: Vec<_> = request.tools.iter().map(crate::ToolSpec::name).collect();
        shown.push_str(&format!("tools: {}\n", names.join(", ")));
    }
    shown
}
