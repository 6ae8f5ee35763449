//! A stream whose calls are told whole: neither trait can take back a piece of an argument, or a call.

use hanok_parse::{Declared, Event, Finish, Parser, Stream};
use serde_json::Value;

/// What the text said next.
#[derive(Debug)]
pub(crate) enum Told {
    Text(String),
    Reasoning(String),
    Call {
        id: Option<String>,
        name: String,
        arguments: String,
    },
    /// The first that was meant as a call and cannot be one, as it was written up to the end of its arguments. Told at the end.
    Unread(String),
}

/// A text that is being read.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    stream: Stream,
    text: String,
    open: Option<Open>,
}

/// The call that is being read.
#[derive(Debug, Clone)]
struct Open {
    id: Option<String>,
    name: String,
    arguments: String,
}

impl Reading {
    pub(crate) fn new(parser: &Parser) -> Self {
        Self { stream: parser.clone().committed().stream(), text: String::new(), open: None }
    }

    /// Reads the next piece.
    pub(crate) fn feed(&mut self, piece: &str) -> Vec<Told> {
        let mut events = Vec::new();
        self.text.push_str(piece);
        self.stream.feed(piece, &mut events);
        events.into_iter().filter_map(|event| told(event, &mut self.open, &self.text)).collect()
    }

    /// Ends the text.
    pub(crate) fn end(self, finish: Finish) -> Vec<Told> {
        let Self { stream, text, mut open } = self;
        let mut events = Vec::new();
        stream.finish_with(finish, &mut events);
        events.into_iter().filter_map(|event| told(event, &mut open, &text)).collect()
    }
}

fn told(event: Event, open: &mut Option<Open>, text: &str) -> Option<Told> {
    match event {
        Event::Content { text } | Event::Answer { text } => return Some(Told::Text(text)),
        Event::Reasoning { text } | Event::Thought { text } => return Some(Told::Reasoning(text)),
        Event::CallStarted { name, id, .. } => {
            *open = Some(Open { id, name, arguments: String::new() });
        }
        Event::Arguments { json, .. } => open.as_mut()?.arguments.push_str(&json),
        Event::ArgumentsReset { .. } => open.as_mut()?.arguments.clear(),
        Event::CallFinished { .. } => {
            let Open { id, name, arguments } = open.take()?;
            return Some(Told::Call { id, name, arguments });
        }
        Event::CallDropped { .. } => *open = None,
        Event::Failed { error } => return Some(Told::Unread(text.get(error.span)?.to_owned())),
        _ => {}
    }
    None
}

/// `declared` with a tool by the schema of its parameters, or by its name alone where that is not understood.
pub(crate) fn with_tool(declared: Declared, name: &str, parameters: &Value) -> Declared {
    declared.clone().tool_schema(name, parameters).unwrap_or_else(|_| declared.tool(name))
}
