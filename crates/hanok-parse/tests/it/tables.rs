//! Formats as data: what is printed is read back equal, and reads texts as what is built in does.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

use hanok_parse::{Format, FormatTable, Reply, TableError};

use crate::support::reads_all;
use serde_json::json;

use crate::forms::{self, declared};

#[test]
fn every_table_is_read_back_equal() {
    for format in Format::ALL {
        let table = FormatTable::builtin(*format);
        assert_eq!(table.name(), format.as_str());
        assert_eq!(FormatTable::from_json(&table.to_json()).as_ref(), Ok(&table), "{format}");
    }
}

#[test]
fn a_table_that_was_read_reads_texts_as_the_format_does() {
    for form in forms::all() {
        let table = FormatTable::from_json(&FormatTable::builtin(form.format).to_json()).unwrap();
        let by_table = reads_all(declared()).tables([&table]).unwrap();
        let by_name = reads_all(declared()).format(form.format);
        for text in ["휴가 } 정책", "</tool_call>", "[ping()]"] {
            if form.never.iter().any(|never| text.contains(never)) {
                continue;
            }
            let args = [("q", json!(text)), ("n", json!(3)), ("list", json!([1, "a"]))];
            let written = (form.write)(&[("find", &args)]);
            let reply = by_table.parse(&written);
            assert_eq!(reply, by_name.parse(&written), "{}: {written:?}", form.format);
            assert_eq!(reply.calls.len(), 1, "{}: {written:?}", form.format);
            // Its beginnings, too.
            let cut = written.char_indices().nth(written.chars().count() / 2);
            let begun = &written[..cut.map_or(0, |(at, _)| at)];
            assert_eq!(by_table.parse(begun), by_name.parse(begun), "{}: {begun:?}", form.format);
        }
    }
}

/// A new model of a known grammar: nothing but the marks differs.
#[test]
fn a_table_with_renamed_marks_reads_texts_as_the_format_does() {
    use Format::{DeepseekV3, Functiongemma, Gemma4, KimiK2, Plamo3, SolarOpen, SolarOpen2, Step3};
    let formats = [DeepseekV3, Functiongemma, Gemma4, KimiK2, Plamo3, SolarOpen, SolarOpen2, Step3];
    let renamed = |text: &str| {
        ["tool", "function_call", "plamo", "steptml"]
            .iter()
            .fold(text.to_owned(), |text, word| text.replace(word, &format!("my_{word}")))
    };
    for form in forms::all().filter(|form| formats.contains(&form.format)) {
        let table = renamed(&FormatTable::builtin(form.format).to_json());
        let table = FormatTable::from_json(&table).unwrap();
        let parser = reads_all(declared()).tables([&table]).unwrap();
        let args = [("q", json!("휴가")), ("n", json!(3))];
        let written = renamed(&(form.write)(&[("find", &args), ("ping", &[])]));
        let reply = parser.parse(&written);
        let names: Vec<_> = reply.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["find", "ping"], "{}: {written:?}", form.format);
        assert_eq!(reply.calls[0].arguments.as_str(), r#"{"q":"휴가","n":3}"#, "{written:?}");
    }
}

/// The grammars that have readers of their own, too: a prefix, tags with suffixes, headers, a tag of its own for the input.
#[test]
fn the_words_of_every_grammar_may_be_others() {
    use Format::{Harmony, HyV4, LangchainXml, MinimaxM3, ToolInputXml};
    let tags = &[("tool_", "my_"), ("<tool>", "<my>"), ("</tool>", "</my>")][..];
    let headers = &[
        ("<|", "<|my_"),
        ("to=", "for="),
        ("assistant", "bot"),
        ("analysis", "notes"),
        ("final", "reply"),
    ][..];
    let elements = &[
        ("]<]minimax[>[", "[mine]"),
        ("invoke", "run"),
        ("\"item\": \"item\"", "\"item\": \"one\""),
        ("<item>", "<one>"),
        ("</item>", "</one>"),
    ][..];
    let suffixed =
        &[("tool_", "my_"), ("arg_", "my_"), ("<think", "<muse"), ("</think", "</muse")][..];
    for (format, words, reasoning) in [
        (ToolInputXml, tags, "<think>CALL</think>"),
        (LangchainXml, tags, "<think>CALL</think>"),
        (MinimaxM3, elements, "<think>CALL</think>"),
        (HyV4, suffixed, "<muse:x>CALL</muse:x>"),
        (Harmony, headers, "<|my_channel|>notes<|my_message|>CALL<|my_end|>"),
    ] {
        let renamed = |text: &str| {
            words.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
        };
        let table = FormatTable::from_json(&renamed(&FormatTable::builtin(format).to_json()));
        let parser = reads_all(declared()).tables([&table.unwrap()]).unwrap();
        let own = reads_all(declared()).format(format);
        for form in forms::all().filter(|form| form.format == format) {
            let args = [("q", json!("휴가")), ("n", json!(3)), ("list", json!([1, [2], "a"]))];
            let args = if format == LangchainXml { &args[..1] } else { &args[..] };
            let written = (form.write)(&[("find", args), ("ping", &[])]);
            let (reply, want) = (parser.parse(&renamed(&written)), own.parse(&written));
            let calls = |reply: &Reply| {
                let calls = reply.calls.iter();
                calls.map(|call| format!("{}{}", call.name, call.arguments)).collect::<Vec<_>>()
            };
            assert_eq!(calls(&reply), calls(&want), "{format}: {written:?}");
            assert_eq!((reply.calls.len(), reply.content), (2, want.content), "{written:?}");
            // The words of the format that is built in are text.
            assert!(parser.parse(&written).calls.is_empty(), "{written:?}");
            // What the words say is reasoning is so.
            let thought = reasoning.replace("CALL", &renamed(&written));
            let is_own = format == Harmony;
            assert!(is_own || parser.parse(&thought).calls.is_empty(), "{thought:?}");
        }
    }
    let table = FormatTable::builtin(Harmony).to_json();
    let table = headers.iter().fold(table, |table, (old, new)| table.replace(old, new));
    let parser = reads_all(declared()).tables([&FormatTable::from_json(&table).unwrap()]);
    let reply = parser.unwrap().parse(
        "<|my_channel|>notes<|my_message|>hm<|my_end|><|my_start|>bot<|my_channel|>reply<|my_message|>네<|return|>",
    );
    assert_eq!(
        (reply.reasoning.as_deref(), reply.answer.as_deref()),
        (Some("hm"), Some("네")),
        "{reply:?}"
    );
}

/// A mark of two letters counts whatever stands behind it, in one piece, too.
#[test]
fn the_shortest_mark_is_found() {
    let table = r#"{"name": "x", "marks": [{"token": "[x", "open": {"json": "members"}}]}"#;
    let table = FormatTable::from_json(table).unwrap();
    let parser = reads_all(declared()).tables([&table]).unwrap();
    for behind in ["", " ", "\n"] {
        let text = format!("[x{behind}{{\"name\": \"ping\", \"arguments\": {{}}}}");
        assert_eq!(parser.parse(&text).calls.len(), 1, "{text}");
    }
}

#[test]
fn tables_of_several_formats_are_looked_for_in_one_pass() {
    let tables = [Format::Hermes, Format::Mistral].map(FormatTable::builtin);
    let parser = reads_all(declared()).tables(&tables).unwrap();
    for (text, calls) in [
        ("<tool_call>{\"name\": \"ping\", \"arguments\": {}}</tool_call>", 1),
        ("[TOOL_CALLS] [{\"name\": \"ping\", \"arguments\": {}}]", 1),
        ("Action: ping\nAction Input: {}", 0),
        ("<function=ping></function>", 0),
    ] {
        assert_eq!(parser.parse(text).calls.len(), calls, "{text}");
    }
}

#[test]
fn what_cannot_be_a_table_says_why() {
    let table =
        |marks: &str| FormatTable::from_json(&format!(r#"{{"name": "x", "marks": {marks}}}"#));
    assert!(matches!(table("7"), Err(TableError::Json { .. })));
    assert!(matches!(table(r#"[{"token": "<x>", "opens": true}]"#), Err(TableError::Json { .. })));
    let error = table(r#"[{"token": "x>", "close": true}]"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the mark `x>` has to begin with `<`, `[`, `]` or a sign such as `✿`"
    );
    for mark in [
        r#""elements": {"prefix": "", "key": "name", "item": "item", "end": "call"}"#,
        r#""open": {"name": [["</x>", {"input": {"open": "<y>", "close": ""}}]]}"#,
        r#""suffixed_think": {"close": ""}"#,
        r#""suffixed_think": {"close": "end>"}"#,
    ] {
        let error = table(&format!("[{{\"token\": \"<x>\", {mark}}}]")).unwrap_err();
        assert_eq!(error.to_string(), "the mark `<x>` has a word that cannot be looked for");
    }
    let many = format!("[{}]", vec![r#"{"token": "<x>", "close": true}"#; 300].join(","));
    assert!(matches!(table(&many), Err(TableError::TooLong { .. })));

    // Grammars are code: only a format that is built in has them, and no others than its own.
    for (name, grammar, is_own) in [
        ("x", "python", false),
        ("x", "headers", false),
        ("hermes", "labels", false),
        ("react", "labels", true),
        ("gpt_oss", "headers", true),
    ] {
        let json = format!(r#"{{"name": "{name}", "marks": [], "grammars": ["{grammar}"]}}"#);
        let read = FormatTable::from_json(&json);
        assert_eq!(read.is_ok(), is_own, "{json}");
        assert!(is_own || matches!(read, Err(TableError::Grammar { .. })), "{json}");
    }
    let error = FormatTable::from_json(r#"{"name": "x", "grammars": ["tool_code"]}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the table `x` names the grammar `tool_code`, which is code: no format of its name that is built in has it"
    );

    let table =
        table(r#"[{"token": "<x>", "close": true}, {"token": "<x>y", "close": true}]"#).unwrap();
    let error = reads_all(declared()).tables([&table]).unwrap_err();
    assert_eq!(error.to_string(), "the mark `<x>` is the beginning of `<x>y`");
}
