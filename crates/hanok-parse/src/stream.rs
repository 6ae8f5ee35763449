//! Text that comes in pieces.

use crate::{Event, Parser, Reply};

/// Reads a text that comes in pieces, and tells at once what it says.
///
/// However the text is cut into pieces, the [`Reply`] and the events, their pieces joined, are the same.
#[derive(Debug, Clone)]
pub struct Stream<'p> {
    parser: &'p Parser,
    text: String,
    tail: Vec<u8>,
}

impl<'p> Stream<'p> {
    pub(crate) fn new(parser: &'p Parser) -> Self {
        Self { parser, text: String::new(), tail: Vec::new() }
    }

    /// Takes the next piece of the text, and appends to `out` what can be told now.
    ///
    /// For now it only collects: all events come with [`finish`](Self::finish).
    pub fn feed(&mut self, text: &str, _out: &mut Vec<Event>) {
        self.text.push_str(text);
    }

    /// Takes the next bytes of the text. A character that is cut waits for its other bytes; what is no UTF-8 becomes
    /// `U+FFFD`.
    pub fn feed_bytes(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        self.tail.extend_from_slice(bytes);
        let tail = std::mem::take(&mut self.tail);
        let mut rest = tail.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.feed(text, out),
                Err(error) => {
                    let (valid, bad) = rest.split_at(error.valid_up_to());
                    self.feed(std::str::from_utf8(valid).unwrap_or_default(), out);
                    let Some(len) = error.error_len() else {
                        self.tail = bad.to_vec();
                        return;
                    };
                    self.feed("\u{fffd}", out);
                    rest = bad.get(len..).unwrap_or_default();
                }
            }
        }
    }

    /// The text has ended.
    pub fn finish(mut self, out: &mut Vec<Event>) -> Reply {
        if !self.tail.is_empty() {
            self.feed("\u{fffd}", out);
        }
        let reply = self.parser.parse(&self.text);
        out.extend(told(&reply));
        reply
    }
}

fn told(reply: &Reply) -> Vec<Event> {
    let mut out = Vec::new();
    out.extend(reply.reasoning.iter().map(|text| Event::Reasoning { text: text.clone() }));
    out.extend(reply.thought.iter().map(|text| Event::Thought { text: text.clone() }));
    if !reply.content.is_empty() {
        out.push(Event::Content { text: reply.content.clone() });
    }
    for (call, made) in reply.calls.iter().enumerate() {
        out.push(Event::CallStarted { call, kind: made.kind, name: made.name.clone() });
        out.push(Event::Arguments { call, json: made.arguments.as_str().to_owned() });
        out.push(Event::CallFinished { call });
    }
    out.extend(reply.answer.iter().map(|text| Event::Answer { text: text.clone() }));
    out.extend(reply.error.iter().map(|error| Event::Failed { error: error.clone() }));
    out.extend(reply.notes.iter().map(|note| Event::Noted { note: note.clone() }));
    out.push(Event::Finished);
    out
}
