//! Feeds a text in pieces and folds the events again.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test helper: a panic is a failed test"
)]

use std::collections::BTreeMap;

use hanok_parse::{CallKind, Event, Note, ParseError, Parser, Reply};

/// What events say, folded.
#[derive(Debug, Default, PartialEq)]
struct Said {
    content: String,
    thought: String,
    reasoning: String,
    answer: String,
    /// By number: what, its name, its arguments, whether it is finished.
    calls: BTreeMap<usize, (CallKind, String, String, bool)>,
    errors: Vec<ParseError>,
    notes: Vec<Note>,
    finished: bool,
}

fn fold(events: &[Event]) -> Said {
    let mut said = Said::default();
    for event in events {
        assert!(!said.finished, "{event:?} behind the end");
        match event.clone() {
            Event::Content { text } => said.content.push_str(&text),
            Event::Thought { text } => said.thought.push_str(&text),
            Event::Reasoning { text } => said.reasoning.push_str(&text),
            Event::Answer { text } => said.answer.push_str(&text),
            Event::CallStarted { call, kind, name } => {
                let old = said.calls.insert(call, (kind, name, String::new(), false));
                assert!(old.is_none(), "{call} began twice");
            }
            Event::Arguments { call, json } => {
                let told = said.calls.get_mut(&call).unwrap();
                assert!(!told.3);
                told.2.push_str(&json);
            }
            Event::ArgumentsReset { call } => said.calls.get_mut(&call).unwrap().2.clear(),
            Event::CallFinished { call } => said.calls.get_mut(&call).unwrap().3 = true,
            Event::CallDropped { call } => {
                said.calls.remove(&call).unwrap();
            }
            Event::Retracted => {
                said = Said { reasoning: said.reasoning, ..Said::default() };
            }
            Event::Failed { error } => said.errors.push(error),
            Event::Noted { note } => said.notes.push(note),
            Event::Finished => said.finished = true,
            other => panic!("{other:?}"),
        }
    }
    said
}

/// Every cut of `text` gives the reply of the whole, and events that say the same.
pub(crate) fn same(parser: &Parser, text: &str, cuts: impl IntoIterator<Item = Vec<usize>>) {
    let whole = parser.parse(text);
    for cut in cuts {
        let mut events = Vec::new();
        let mut stream = parser.stream();
        let mut from = 0;
        for to in cut.iter().copied().chain([text.len()]) {
            stream.feed(&text[from..to], &mut events);
            from = to;
        }
        let reply = stream.finish(&mut events);
        assert_eq!(reply, whole, "{text:?} cut at {cut:?}");
        says(text, &events, &reply);
    }
    let mut events = Vec::new();
    let mut stream = parser.stream();
    for byte in text.bytes() {
        stream.feed_bytes(&[byte], &mut events);
    }
    assert_eq!(stream.finish(&mut events), whole, "{text:?} in bytes");
    says(text, &events, &whole);
}

fn says(text: &str, events: &[Event], reply: &Reply) {
    let said = fold(events);
    assert_eq!(said.content, reply.content, "{text:?}");
    assert_eq!(said.thought, reply.thought.clone().unwrap_or_default(), "{text:?}");
    assert_eq!(said.reasoning, reply.reasoning.clone().unwrap_or_default(), "{text:?}");
    assert_eq!(said.answer, reply.answer.clone().unwrap_or_default(), "{text:?}");
    let told: Vec<_> = said.calls.into_values().collect();
    let calls: Vec<_> = reply
        .calls
        .iter()
        .map(|call| (call.kind, call.name.clone(), call.arguments.as_str().to_owned(), true))
        .collect();
    assert_eq!(told, calls, "{text:?}");
    let first = said.errors.iter().min_by_key(|error| error.span.start);
    assert_eq!(first, reply.error.as_ref(), "{text:?}");
    assert_eq!(said.notes, reply.notes, "{text:?}");
    assert!(said.finished);
}
