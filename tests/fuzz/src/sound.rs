//! What holds for every reply.

use std::ops::Range;

use hanok_parse::{CallKind, Parser, Reply};

use crate::json;

/// Checks what has to hold for the reply to any text.
///
/// # Panics
///
/// Something does not hold.
pub fn sound(parser: &Parser, text: &str, reply: &Reply) {
    spans_stand_in_the_text(text, reply);
    names_are_declared(parser, reply);
    for call in &reply.calls {
        json::check(call.arguments.as_str(), text);
        assert!(call.arguments.as_str().starts_with('{'), "{} is no object", call.arguments);
    }
    for rejected in &reply.rejected {
        json::check(rejected.arguments.as_str(), text);
    }
    assert!(reply.calls.is_empty() || reply.answer.is_none(), "a call and an answer in {text:?}");
    assert_eq!(reply.content, reply.content.trim(), "the content is trimmed");
    let errors = reply.rejected.iter().map(|rejected| rejected.error.span.start);
    for start in errors {
        let first = reply.error.as_ref().map(|error| error.span.start);
        assert!(
            first.is_some_and(|first| first <= start),
            "the first error of {text:?} comes later"
        );
    }
    is_bounded(text, reply);
}

fn spans_stand_in_the_text(text: &str, reply: &Reply) {
    let calls: Vec<_> = reply.calls.iter().map(|call| &call.span).collect();
    let errors = reply.rejected.iter().map(|rejected| &rejected.error);
    let errors = reply.error.iter().chain(errors).map(|error| &error.span);
    let notes = reply.notes.iter().map(|note| &note.span);
    for span in calls.iter().copied().chain(errors).chain(notes) {
        assert!(text.get(span.clone()).is_some(), "{span:?} is no part of {text:?}");
    }
    for pair in calls.windows(2) {
        let [before, after] = pair else { continue };
        assert!(before.start <= after.start, "calls of {text:?} out of order: {calls:?}");
        assert!(nest(before, after), "calls of {text:?} overlap: {calls:?}");
    }
}

/// Whether two spans are apart, or one lies in the other.
fn nest(a: &Range<usize>, b: &Range<usize>) -> bool {
    let holds = |a: &Range<usize>, b: &Range<usize>| a.start <= b.start && b.end <= a.end;
    a.end <= b.start || b.end <= a.start || holds(a, b) || holds(b, a)
}

fn names_are_declared(parser: &Parser, reply: &Reply) {
    let declared = parser.declared();
    let none = declared.tools().next().is_none() && declared.agents().next().is_none();
    for call in &reply.calls {
        let known = match call.kind {
            CallKind::Tool => declared.tools().any(|name| name == call.name),
            CallKind::Delegate => declared.agents().any(|name| name == call.name),
        };
        // Where no name is declared, every one may be: `Declared::any` does not tell itself apart.
        assert!(known || none, "`{}` is called and not declared", call.name);
    }
}

/// What comes out is not larger than what went in, but for escapes and the frames of arguments.
fn is_bounded(text: &str, reply: &Reply) {
    let own = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let calls: usize =
        reply.calls.iter().map(|call| call.name.len() + call.arguments.as_str().len()).sum();
    let rejected: usize =
        reply.rejected.iter().map(|one| one.name.len() + one.arguments.as_str().len()).sum();
    let texts =
        reply.content.len() + own(&reply.answer) + own(&reply.thought) + own(&reply.reasoning);
    let out = calls + rejected + texts;
    // A control character is one byte, and `\u0001` in JSON.
    assert!(out <= 8 * text.len() + 64, "{out} bytes out of {}", text.len());
    let items = reply.calls.len() + reply.rejected.len() + reply.notes.len();
    assert!(items <= text.len() + 1, "{items} items out of {} bytes", text.len());
}
