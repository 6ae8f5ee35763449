//! Puts the pieces of an answer together.

use std::{collections::BTreeMap, sync::Arc};

use hanok_core::{Call, Token, TokenSink};
use hanok_model::{ChatReply, ChatRequest, Finish, ModelError, TokenCounter, Usage};
use hanok_state::{Arguments, Message, ToolCall};
use serde_json::Value;

use super::{CallDelta, Chunk, Delta, UsageSaid};

/// An answer as far as it is there. What can be shown goes to the call's sink as it comes.
pub(crate) struct Assembly<'a> {
    call: &'a Call,
    sink: Option<&'a Arc<dyn TokenSink>>,
    text: String,
    reasoning: String,
    calls: BTreeMap<u64, Partial>,
    finish: Option<Finish>,
    usage: Option<UsageSaid>,
    model: Option<String>,
    begun: bool,
    chosen: bool,
    refused: bool,
}

#[derive(Default)]
struct Partial {
    id: String,
    name: String,
    arguments: String,
}

impl Partial {
    fn is_whole(&self) -> bool {
        !self.name.is_empty()
            && serde_json::from_str::<serde_json::Map<String, Value>>(&self.arguments).is_ok()
    }
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(call: &'a Call) -> Self {
        Self {
            call,
            sink: call.sink(),
            text: String::new(),
            reasoning: String::new(),
            calls: BTreeMap::new(),
            finish: None,
            usage: None,
            model: None,
            begun: false,
            chosen: false,
            refused: false,
        }
    }

    /// Whether the model began to write.
    pub(crate) fn begun(&self) -> bool {
        self.begun
    }

    /// Whether the server said that the answer is whole.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether there was any choice, though it may be an empty one.
    pub(crate) fn has_choice(&self) -> bool {
        self.chosen
    }

    pub(crate) fn take(&mut self, chunk: Chunk) {
        self.usage = chunk.usage.or(self.usage);
        self.model = self.model.take().or(chunk.model.filter(|model| !model.is_empty()));
        // Only one answer is asked for; a server that gives more is not to mix them.
        for choice in chunk.choices.into_iter().flatten().filter(|c| c.index.unwrap_or(0) == 0) {
            self.chosen = true;
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta);
            }
            self.finish = choice.finish_reason.as_deref().map(finish).or(self.finish);
        }
    }

    fn delta(&mut self, delta: Delta) {
        if let Some(piece) = written(delta.reasoning_content.or(delta.reasoning)) {
            self.reasoning.push_str(&piece);
            self.show(Token::Reasoning(piece));
        }
        self.refused |= delta.refusal.as_ref().is_some_and(|refusal| !refusal.is_empty());
        let content = written(delta.content.map(words));
        if let Some(piece) = content.or(written(delta.refusal)) {
            self.text.push_str(&piece);
            self.show(Token::Text(piece));
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.begun = true;
            self.call(call);
        }
        if let Some(function) = delta.function_call {
            self.begun = true;
            self.call(CallDelta { index: Some(0), id: None, function: Some(function) });
        }
    }

    fn show(&mut self, token: Token) {
        self.begun = true;
        if let Some(sink) = self.sink {
            sink.token(token);
        }
    }

    fn call(&mut self, delta: CallDelta) {
        let id = delta.id.filter(|id| !id.is_empty());
        let function = delta.function.unwrap_or_default();
        let named = function.name.as_deref().is_some_and(|name| !name.is_empty());
        let Some(place) = self.place(delta.index, id.as_deref(), named) else { return };
        let partial = self.calls.entry(place).or_default();
        if let Some(id) = id {
            partial.id = id;
        }
        // Some servers say the name with each piece.
        if let Some(name) = function.name.filter(|name| *name != partial.name) {
            partial.name.push_str(&name);
        }
        let piece = match function.arguments {
            Some(Value::String(piece)) => piece,
            Some(Value::Null) | None => return,
            Some(whole) => whole.to_string(),
        };
        partial.arguments.push_str(&piece);
        if let Some(sink) = self.sink {
            sink.call_piece(place, &partial.name, &piece);
        }
    }

    /// Where a piece of a call belongs; nowhere, if it says again what is whole.
    ///
    /// Some servers leave the index out, or give each call the same; a new id is then a new call, and so is a name behind a
    /// call that is whole. A piece without either goes on with the last.
    fn place(&self, index: Option<u64>, id: Option<&str>, named: bool) -> Option<u64> {
        let last = self.calls.last_key_value();
        let next = last.map_or(0, |(place, _)| place.saturating_add(1));
        let place = index.or(last.map(|(place, _)| *place)).unwrap_or(0);
        let Some(there) = self.calls.get(&place) else { return Some(place) };
        let known = id.filter(|id| !there.id.is_empty() && there.id != *id).map(|id| {
            let mut calls = self.calls.iter();
            calls.find(|(_, partial)| partial.id == id).map_or(next, |(place, _)| *place)
        });
        match known {
            Some(place) => Some(place),
            None if named && there.is_whole() => (index.is_none() || id.is_none()).then_some(next),
            None => Some(place),
        }
    }

    /// The tokens so far: what the server said, or an estimate.
    pub(crate) fn usage(&self, request: &ChatRequest) -> Usage {
        let counter = TokenCounter::estimate();
        let said = self.usage.unwrap_or_default();
        let written = || {
            let calls = self.calls.values();
            let calls = calls.map(|call| counter.text(&call.name) + counter.text(&call.arguments));
            counter.text(&self.text) + counter.text(&self.reasoning) + calls.sum::<u64>()
        };
        Usage {
            input_tokens: said.prompt_tokens.unwrap_or_else(|| counter.request(request)),
            output_tokens: said.completion_tokens.unwrap_or_else(written),
            cached_tokens: said.prompt_tokens_details.and_then(|of| of.cached_tokens).unwrap_or(0),
            estimated: said.prompt_tokens.is_none() || said.completion_tokens.is_none(),
        }
    }

    /// The whole answer to `request` of `model`.
    pub(crate) fn into_reply(
        self,
        request: &ChatRequest,
        model: &str,
    ) -> Result<ChatReply, ModelError> {
        let usage = self.usage(request);
        let finish = match self.finish.unwrap_or(Finish::Other) {
            Finish::Stop | Finish::Other if !self.calls.is_empty() => Finish::ToolCalls,
            Finish::Stop | Finish::Other if self.refused => Finish::Refused,
            finish => finish,
        };
        if finish == Finish::ContentFilter && self.text.is_empty() {
            return Err(ModelError::ContentFiltered { source: None });
        }
        let calls = finished_calls(self.calls, finish, self.call.key().as_str());
        let message = Message::assistant(self.text).with_tool_calls(calls);
        let model = self.model.unwrap_or_else(|| model.to_owned());
        let reply = ChatReply::new(message, model).usage(usage).finish(finish);
        Ok(match self.reasoning.is_empty() {
            true => reply,
            false => reply.reasoning(self.reasoning),
        })
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "stop" | "eos" | "end_turn" => Finish::Stop,
        "length" | "max_tokens" => Finish::Length,
        "tool_calls" | "function_call" => Finish::ToolCalls,
        "content_filter" => Finish::ContentFilter,
        _ => Finish::Other,
    }
}

fn written(piece: Option<String>) -> Option<String> {
    piece.filter(|piece| !piece.is_empty())
}

/// The text of a content, which some servers send in parts.
fn words(content: Value) -> String {
    match content {
        Value::String(text) => text,
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

/// The calls of an answer. Of one that was cut off, a call whose arguments are not whole is none.
fn finished_calls(partial: BTreeMap<u64, Partial>, finish: Finish, key: &str) -> Vec<ToolCall> {
    let cut = !matches!(finish, Finish::Stop | Finish::ToolCalls);
    partial
        .into_values()
        .filter(|call| !cut || call.is_whole())
        .enumerate()
        .map(|(n, call)| ToolCall {
            id: if call.id.is_empty() { made_id(key, n) } else { call.id },
            name: call.name,
            arguments: match call.arguments.trim() {
                "" => Arguments::default(),
                _ => Arguments::new(call.arguments),
            },
        })
        .collect()
}

/// An id for a call of a server that gives none: the same in a retry, another in the next turn.
fn made_id(key: &str, n: usize) -> String {
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("call_{hash:016x}_{n}")
}
