//! The part of a model's text that a user sees.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hanok_core::{Call, Token, TokenSink};
use hanok_parse::{Event, Parser, Stream};

use super::ask_model::Reading;
use crate::protocol::Protocol;

/// Reads the text that a model writes, and hands on what a user may see of it: the answer, and what the model thinks. Never a
/// mark, a label or a call.
pub(crate) struct VisibleTokens {
    parser: Parser,
    sink: Arc<dyn TokenSink>,
    protocol: Protocol,
    /// What has a call by this parser is no answer.
    hidden: Option<Parser>,
    state: Mutex<StreamState>,
}

#[derive(Default)]
struct StreamState {
    /// `None` when the text has ended.
    stream: Option<Stream>,
    events: Vec<Event>,
    /// Text was shown that is not behind a label of the answer, and was not taken back.
    content: bool,
    answered: bool,
    /// Pieces of calls were handed on, and not taken back.
    calls: bool,
}

impl VisibleTokens {
    /// The same call, whose tokens are what a user may see; `None` if nobody watches.
    pub(crate) fn of(
        call: &Call,
        Reading { parser, protocol, hidden }: Reading<'_>,
    ) -> Option<(Call, Arc<Self>)> {
        let sink = call.sink()?.clone();
        let state = StreamState { stream: Some(parser.stream()), ..StreamState::default() };
        let (parser, hidden) = (parser.clone(), hidden.cloned());
        let shown = Arc::new(Self { parser, sink, protocol, hidden, state: Mutex::new(state) });
        Some((call.clone().tokens(shown.clone()), shown))
    }

    /// The text has ended.
    pub(crate) fn finish(&self) {
        let mut state = self.state();
        let Some(stream) = state.stream.take() else { return };
        let reply = stream.finish(&mut state.events);
        self.show(&mut state);
        let silent = reply.calls.is_empty() && reply.answer.is_none() && reply.error.is_none();
        // By its own text protocol a model answers behind a label. That it did so without one is known now.
        let is_hidden = || {
            let parser = self.hidden.as_ref();
            parser.is_some_and(|parser| !parser.parse(&reply.content).calls.is_empty())
        };
        if silent && !state.content && !reply.content.is_empty() && !is_hidden() {
            self.sink.token(Token::Text(reply.content));
        }
    }

    /// The model's text so far is none: another attempt follows.
    fn begin_again(&self) {
        let fresh = StreamState { stream: Some(self.parser.stream()), ..StreamState::default() };
        let StreamState { content, answered, calls, .. } =
            std::mem::replace(&mut *self.state(), fresh);
        if content || answered || calls {
            self.sink.token(Token::Retracted);
        }
    }

    fn state(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, state: &mut StreamState) {
        let StreamState { events, content, answered, .. } = state;
        for event in events.drain(..) {
            let token = match event {
                Event::Content { .. } if self.protocol == Protocol::Text => continue,
                Event::Content { text } => {
                    *content |= !text.trim().is_empty();
                    Token::Text(text)
                }
                Event::Answer { text } => {
                    // What stands before an answer is no part of it.
                    if !*answered && std::mem::take(content) {
                        self.sink.token(Token::Retracted);
                    }
                    *answered = true;
                    Token::Text(text)
                }
                Event::Thought { text } | Event::Reasoning { text } => Token::Reasoning(text),
                Event::Retracted if *content || *answered => {
                    (*content, *answered) = (false, false);
                    Token::Retracted
                }
                _ => continue,
            };
            self.sink.token(token);
        }
    }
}

impl TokenSink for VisibleTokens {
    fn token(&self, token: Token) {
        let text = match token {
            Token::Text(text) => text,
            Token::Retracted => return self.begin_again(),
            token => return self.sink.token(token),
        };
        let mut state = self.state();
        let StreamState { stream: Some(stream), events, .. } = &mut *state else { return };
        stream.feed(&text, events);
        self.show(&mut state);
    }

    fn call_piece(&self, place: u64, name: &str, arguments: &str) {
        self.state().calls = true;
        self.sink.call_piece(place, name, arguments);
    }
}
