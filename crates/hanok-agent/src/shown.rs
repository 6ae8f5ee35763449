//! What a user sees of what a model writes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hanok_core::{Call, Token, TokenSink};
use hanok_parse::{Event, Parser, Stream};

use crate::Protocol;

/// Reads the text that a model writes, and hands on what a user may see of it: the answer, and what the model thinks. Never a
/// mark, a label or a call.
pub(crate) struct Shown {
    parser: Parser,
    sink: Arc<dyn TokenSink>,
    protocol: Protocol,
    reading: Mutex<Reading>,
}

#[derive(Default)]
struct Reading {
    /// `None` when the text has ended.
    stream: Option<Stream>,
    events: Vec<Event>,
    /// Text was shown that is not behind a label of the answer, and was not taken back.
    content: bool,
    answered: bool,
}

impl Shown {
    /// The same call, whose tokens are what a user may see; `None` if nobody watches.
    pub(crate) fn of(
        call: &Call,
        parser: &Parser,
        protocol: Protocol,
    ) -> Option<(Call, Arc<Self>)> {
        let sink = call.sink()?.clone();
        let reading = Reading { stream: Some(parser.stream()), ..Reading::default() };
        let shown =
            Arc::new(Self { parser: parser.clone(), sink, protocol, reading: Mutex::new(reading) });
        Some((call.clone().tokens(shown.clone()), shown))
    }

    /// The text has ended.
    pub(crate) fn finish(&self) {
        let mut reading = self.reading();
        let Some(stream) = reading.stream.take() else { return };
        let reply = stream.finish(&mut reading.events);
        self.show(&mut reading);
        let silent = reply.calls.is_empty() && reply.answer.is_none() && reply.error.is_none();
        // By its own text protocol a model answers behind a label. That it did so without one is known now.
        if silent && !reading.content && !reply.content.is_empty() {
            self.sink.token(Token::Text(reply.content));
        }
    }

    /// The model's text so far is none: another attempt follows.
    fn begin_again(&self) {
        let fresh = Reading { stream: Some(self.parser.stream()), ..Reading::default() };
        let Reading { content, answered, .. } = std::mem::replace(&mut *self.reading(), fresh);
        if content || answered {
            self.sink.token(Token::Retracted);
        }
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, reading: &mut Reading) {
        let Reading { events, content, answered, .. } = reading;
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

impl TokenSink for Shown {
    fn token(&self, token: Token) {
        let text = match token {
            Token::Text(text) => text,
            Token::Retracted => return self.begin_again(),
            token => return self.sink.token(token),
        };
        let mut reading = self.reading();
        let Reading { stream: Some(stream), events, .. } = &mut *reading else { return };
        stream.feed(&text, events);
        self.show(&mut reading);
    }
}
