//! Every format is read as it was written: detected and by name, whole, in pieces and cut off.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

use hanok_parse::{Format, Parser, Reply};
use serde_json::{Value, json};

use crate::forms::{self, Form, HOSTILE, Meant, declared};
use crate::support::{reads_all, stream::same};

fn parsers(form: &Form) -> Vec<Parser> {
    let by_name = reads_all(declared()).format(form.format);
    if form.hinted { vec![by_name] } else { vec![reads_all(declared()), by_name] }
}

/// No mark says that it is a call.
fn is_bare(form: &Form) -> bool {
    use Format::{BareJson, Gigachat3, JsonAction, OpenaiJson, Pythonic, Xlam};
    matches!(form.format, BareJson | Gigachat3 | JsonAction | OpenaiJson | Pythonic | Xlam)
}

fn check(form: &Form, parser: &Parser, text: &str, calls: &[Meant<'_>]) -> Reply {
    let reply = parser.parse(text);
    let format = form.format;
    assert!(reply.error.is_none(), "{format}: {text:?} gives {reply:?}");
    let read: Vec<(&str, Value)> = reply
        .calls
        .iter()
        .map(|call| (call.name.as_str(), call.arguments.decode().unwrap()))
        .collect();
    let want: Vec<(&str, Value)> = calls
        .iter()
        .map(|(name, args)| (*name, serde_json::from_str(&forms::object(args)).unwrap()))
        .collect();
    assert_eq!(read, want, "{format}: {text:?}");
    reply
}

/// A call with everything in it.
fn full() -> Vec<(&'static str, Value)> {
    vec![
        ("q", json!("전세 } 🏠 \"인용\"")),
        ("n", json!(-10)),
        ("deep", json!({"a": [1, {"b": null}], "c": {}})),
        ("list", json!([["x", "y"], true, 2.5])),
        ("on", json!(false)),
    ]
}

/// contract 2, 3, 10
#[test]
fn every_format_is_read_detected_and_by_name() {
    for form in forms::all() {
        let mut args = full();
        if form.elements {
            // An empty object has no elements.
            args[2] = ("deep", json!({"a": [1, {"b": null}], "c": "x"}));
        }
        let other = [("q", json!("둘"))];
        let calls: [Meant<'_>; 3] = [("find", &args), ("crm.search-kb", &other), ("ping", &[])];
        let count = if form.several { 3 } else { 1 };
        for parser in parsers(&form) {
            let text = (form.write)(&calls[..count]);
            let reply = check(&form, &parser, &text, &calls[..count]);
            assert_eq!(reply.content, "", "{}: {text:?}", form.format);
            if form.prose {
                let text = format!("찾아볼게요.\n\n{text}");
                let reply = check(&form, &parser, &text, &calls[..count]);
                assert_eq!(reply.content, "찾아볼게요.", "{}: {text:?}", form.format);
            }
            for call in &reply.calls {
                assert!(text.get(call.span.clone()).is_some_and(|text| text.contains(&*call.name)));
            }
        }
    }
}

/// contract 3, 10
#[test]
fn marks_and_brackets_in_a_string_are_data() {
    for form in forms::all() {
        for text in HOSTILE {
            let is_end = form.never.iter().any(|never| text.contains(never));
            if is_end || (form.elements && matches!(text, "true" | "123")) {
                continue;
            }
            let args = [("q", json!(text)), ("n", json!(1))];
            let calls: [Meant<'_>; 1] = [("find", &args)];
            for parser in parsers(&form) {
                check(&form, &parser, &(form.write)(&calls), &calls);
            }
        }
    }
}

/// contract 6
#[test]
fn reasoning_calls_nothing_in_any_format() {
    for form in forms::all().filter(|form| form.prose) {
        let args = [("q", json!("진짜"))];
        let decoy = (form.write)(&[("ping", &[])]);
        let call = (form.write)(&[("find", &args)]);
        for parser in parsers(&form) {
            let text = format!("<think>\n{decoy}\n</think>\n{call}");
            let reply = check(&form, &parser, &text, &[("find", &args)]);
            assert!(reply.reasoning.is_some(), "{text:?}");
            // The chat template may have opened the reasoning.
            let text = format!("{decoy}\n</think>\n{call}");
            check(&form, &parser, &text, &[("find", &args)]);
        }
    }
}

/// contract 5, 13
#[test]
fn a_call_that_is_cut_off_is_no_call_and_no_mark_is_shown() {
    for form in forms::all() {
        let args = [("q", json!("휴가 } <b> 정책")), ("n", json!(15)), ("deep", json!({"a": [1]}))];
        let other = [("q", json!("둘"))];
        let calls: [Meant<'_>; 2] = [("find", &args), ("crm.search-kb", &other)];
        let count = if form.several { 2 } else { 1 };
        let prose = if form.prose { "네, 찾습니다.\n" } else { "" };
        let text = format!("{prose}{}", (form.write)(&calls[..count]));
        for parser in parsers(&form) {
            let whole = parser.parse(&text);
            assert_eq!(whole.calls.len(), count, "{}: {text:?}", form.format);
            for (cut, _) in text.char_indices() {
                // A name in its tag is a whole call of GLM's, where nobody says which format it is.
                if form.format == Format::ToolInputXml
                    && text[..cut].trim_end().ends_with("</tool_call>")
                {
                    continue;
                }
                let reply = parser.parse(&text[..cut]);
                assert!(reply.calls.len() <= count);
                for (call, want) in reply.calls.iter().zip(&whole.calls) {
                    let same = call.name == want.name && call.arguments == want.arguments;
                    assert!(same, "{}: {:?} gives {reply:?}", form.format, &text[..cut]);
                }
                // What only a declared name makes a call is text until it has one.
                let is_line = matches!(
                    form.format,
                    Format::Hyperclovax | Format::Functionary | Format::ToolCode
                );
                if is_bare(&form) || is_line {
                    continue;
                }
                let shown = reply.content.as_str();
                let begun = prose.trim().starts_with(shown)
                    || shown.strip_prefix(prose.trim()).is_some_and(|rest| rest.trim().len() < 10);
                assert!(begun, "{}: {:?} shows {shown:?}", form.format, &text[..cut]);
            }
        }
    }
}

/// contract 13
#[test]
fn every_split_of_every_format_says_the_same() {
    for form in forms::all() {
        let args = [("q", json!("휴가 <b>\n</tool_call> } 정책\n")), ("list", json!([1, "a"]))];
        let calls: [Meant<'_>; 2] = [("find", &args), ("ping", &[])];
        let count = if form.several { 2 } else { 1 };
        let prose = if form.prose { "네.\n" } else { "" };
        let text = format!("{prose}{}", (form.write)(&calls[..count]));
        for parser in parsers(&form) {
            let cuts = text.char_indices().map(|(at, _)| vec![at]);
            let single = text.char_indices().map(|(at, _)| at).collect();
            same(&parser, &text, cuts.chain([single]));
        }
    }
}

/// contract 9
#[test]
fn an_undeclared_name_behind_a_mark_is_told_with_its_arguments() {
    for form in forms::all() {
        let args = [("q", json!("x"))];
        let text = (form.write)(&[("fynd", &args)]);
        let is_line = text.starts_with("tool_code =") || text.starts_with(">>>");
        let is_line = is_line || text.starts_with("fynd");
        if is_bare(&form) && !text.contains('<') || is_line {
            let reply = reads_all(declared()).parse(&text);
            assert!(reply.error.is_none() && reply.calls.is_empty(), "{text:?} gives {reply:?}");
            continue;
        }
        let reply = reads_all(declared()).parse(&text);
        let error =
            reply.error.as_ref().map(|error| (error.kind.code(), error.suggestion.as_deref()));
        assert_eq!(error, Some(("unknown_tool", Some("find"))), "{text:?} gives {reply:?}");
        assert_eq!(reply.rejected.len(), 1, "{text:?}");
        assert_eq!(reply.rejected[0].arguments.as_str(), r#"{"q":"x"}"#, "{text:?}");
        assert!(reply.calls.is_empty());
    }
}

#[test]
fn every_format_has_a_form() {
    for format in Format::ALL {
        let delegates = *format == Format::Supervisor;
        assert!(delegates || forms::all().any(|form| form.format == *format), "{format}");
    }
}
