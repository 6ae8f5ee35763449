//! Feeds a text in pieces and folds the events again.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test helper: a panic is a failed test"
)]

use hanok_fuzz::Told;
use hanok_parse::{Event, Parser, Reply};

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
    match Told::of(events) {
        Ok(told) => assert_eq!(told, Told::reply(reply), "{text:?}"),
        Err(wrong) => panic!("{text:?}: {wrong}"),
    }
}
