//! Native calls as servers pass them on: names with decoration, arguments that are nearly JSON.

use std::borrow::Cow;

use hanok_parse::{Format, Parser};
use hanok_state::{Arguments, ToolCall};
use serde::de::IgnoredAny;

use crate::arguments::{is_object, repeats_a_key};

/// True for a name that servers take for a function's.
pub(super) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

/// The name and the arguments of `call` as they are meant: without decoration, and with small faults of JSON mended. What
/// was `cut` off is not completed.
pub(super) fn understood(parser: &Parser, call: &ToolCall, cut: bool) -> (String, Arguments) {
    let arguments = once_encoded(&call.arguments);
    let is_declared = parser.declared().tools().any(|tool| tool == call.name);
    let whole = is_object(&arguments);
    // Another value than an object is none that was meant as one.
    let other = !whole && arguments.decode::<IgnoredAny>().is_ok();
    let is_clear = (is_declared && whole) || other || (cut && !whole);
    match (!is_clear).then(|| as_written(parser, &call.name, &arguments)).flatten() {
        // Of two values of one key the parser would take the last; the check of the arguments names the key.
        Some((name, _))
            if repeats_a_key(parser, &before_arguments(&call.name), arguments.as_str()) =>
        {
            (name, arguments.into_owned())
        }
        Some(understood) => understood,
        None => (call.name.clone(), arguments.into_owned()),
    }
}

fn before_arguments(name: &str) -> String {
    format!("Action: {name}\nAction Input: ")
}

/// The call as the parser reads it in a model's text, with all that it forgives.
fn as_written(parser: &Parser, name: &str, arguments: &Arguments) -> Option<(String, Arguments)> {
    let text = format!("{}{arguments}", before_arguments(name));
    let mut read = parser.clone().format(Format::React).parse(&text);
    let call = read.calls.pop().filter(|_| read.calls.is_empty() && read.error.is_none())?;
    Some((call.name, Arguments::new(call.arguments.as_str())))
}

/// The arguments as an object: some servers encode one twice, as a text that holds it.
fn once_encoded(arguments: &Arguments) -> Cow<'_, Arguments> {
    match arguments.decode::<String>().map(Arguments::new) {
        Ok(inner) if is_object(&inner) => Cow::Owned(inner),
        _ => Cow::Borrowed(arguments),
    }
}
