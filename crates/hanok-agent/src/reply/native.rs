//! Native calls as servers pass them on: names with decoration, arguments that are nearly JSON.

use hanok_parse::{Format, Parser};
use hanok_state::{Arguments, ToolCall};
use serde::de::IgnoredAny;

use crate::arguments::is_object;

/// Whether servers take `name` for that of a function.
pub(super) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

/// The name and the arguments of `call`, as far as it can be told what is meant: without decoration, and with small faults
/// of JSON mended. What was `cut` off is not completed.
pub(super) fn understood(parser: &Parser, call: &ToolCall, cut: bool) -> (String, Arguments) {
    let arguments = once_encoded(&call.arguments);
    let known = parser.declared().tools().any(|tool| tool == call.name);
    let whole = is_object(&arguments);
    // Another value than an object is none that was meant as one.
    let other = !whole && arguments.decode::<IgnoredAny>().is_ok();
    if (known && whole) || other || (cut && !whole) {
        return (call.name.clone(), arguments);
    }
    // As a model would write it, which the parser reads with all that it forgives.
    let text = format!("Action: {}\nAction Input: {arguments}", call.name);
    let read = parser.clone().format(Format::React).parse(&text);
    match (read.calls.as_slice(), &read.error) {
        ([one], None) => (one.name.clone(), Arguments::new(one.arguments.as_str())),
        _ => (call.name.clone(), arguments),
    }
}

/// Some servers encode an object twice: as a text that holds it.
fn once_encoded(arguments: &Arguments) -> Arguments {
    match arguments.decode::<String>().map(Arguments::new) {
        Ok(inner) if is_object(&inner) => inner,
        _ => arguments.clone(),
    }
}
