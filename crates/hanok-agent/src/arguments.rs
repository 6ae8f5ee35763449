//! Arguments of calls as a text.

use hanok_parse::{Event, Format, Parser};
use hanok_state::Arguments;
use serde::de::IgnoredAny;

/// True for arguments that are a JSON object.
pub(crate) fn is_object(arguments: &Arguments) -> bool {
    let text = arguments.as_str();
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// True for a call, `before` and `arguments`, in whose arguments a key stands twice, also where they are no JSON before the
/// parser has mended them.
pub(crate) fn repeats_a_key(parser: &Parser, before: &str, arguments: &str) -> bool {
    let mut stream = parser.clone().format(Format::React).stream();
    let mut events = Vec::new();
    stream.feed(before, &mut events);
    // A stream takes back what it has told of the first value, so it is to have told each letter.
    let mut letter = [0; 4];
    arguments.chars().any(|c| {
        events.clear();
        stream.feed(c.encode_utf8(&mut letter), &mut events);
        events.iter().any(|event| matches!(event, Event::ArgumentsReset { .. }))
    })
}
