//! Neutralised text is read as text, and comes back as it was.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

use std::{borrow::Cow, collections::BTreeMap};

use hanok_parse::{Format, Parser, Reply, neutralise, restore};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    forms,
    places::{REASONING, RESULTS, SHOWN, places, turns},
    support::{self, reads_all},
};

/// A call as a form writes it, and the parsers that read it: of all formats, and of its own.
struct Page {
    format: Format,
    text: String,
    parsers: [Parser; 2],
}

impl Page {
    /// Whether its calls have no marks besides the words of a line.
    fn is_of_lines(&self) -> bool {
        let of_lines = [Format::React, Format::Supervisor, Format::Smolagents, Format::UiTars];
        self.format == Format::GranitePythonic || of_lines.contains(&self.format)
    }
}

fn pages() -> Vec<Page> {
    let declared = || forms::declared().tool("Web Search").agent("legal");
    let page = |format: Format, text: String| {
        let parser = reads_all(declared());
        Page { format, text, parsers: [parser.clone(), parser.format(format)] }
    };
    let args = [("q", json!("휴가 policy")), ("n", json!(2)), ("deep", json!({ "name": [1] }))];
    let written = forms::all().map(|form| {
        let two: &[forms::Meant<'_>] = &[("find", &args), ("ping", &[])];
        page(form.format, (form.write)(if form.several { two } else { &two[..1] }))
    });
    let others = [
        (Format::Supervisor, "Delegate: legal\nTask: check it"),
        (Format::React, "Thought: x\nFinal Answer: 15 days"),
        (Format::React, "## 최종 답변\n15일"),
        (Format::React, "Tool: find\nInput: {\"q\": \"a\"}"),
        (Format::GranitePythonic, "Web Search (q='a')"),
        (Format::GranitePythonic, "find(\n  # x\n  q='a')"),
        (Format::BareJson, "{ // x\n /* y */ \"n\\u0061me\": \"find\", \"arguments\": {}}"),
        (Format::BareJson, "{“name”: “find”, ‘arguments’: {}}"),
        (Format::BareJson, "{,\n\n'name' 'find', arguments: {}}"),
        (Format::BareJson, "{{\"name\": \"find\", \"arguments\": {}}}"),
    ];
    written.chain(others.map(|(format, text)| page(format, text.to_owned()))).collect()
}

/// What was read and must not be, by the place where it stood.
#[derive(Default)]
struct Read(BTreeMap<String, Vec<String>>);

impl Read {
    fn check(&mut self, place: &str, page: &Page, text: &str) {
        self.check_with(&page.parsers, place, page.format, text);
    }

    fn check_with(&mut self, parsers: &[Parser], place: &str, format: Format, text: &str) {
        for (at, parser) in parsers.iter().enumerate() {
            let whole = parser.parse(text);
            assert_eq!(whole, in_pieces(parser, text), "{text:?} in pieces");
            if !is_text(&whole) {
                let alone = if at > 0 { " alone" } else { "" };
                let read = support::line(&whole);
                let all = self.0.entry(place.to_owned()).or_default();
                all.push(format!("{format}{alone}: {read} of {text:?}"));
            }
        }
    }

    fn nothing(self) {
        let all = self.0.iter().map(|(place, read)| {
            let some: Vec<_> = read.iter().take(8).map(String::as_str).collect();
            format!("{place:?}, {} of them\n  {}", read.len(), some.join("\n  "))
        });
        let all: Vec<_> = all.collect();
        assert!(all.is_empty(), "{}", all.join("\n"));
    }
}

fn in_pieces(parser: &Parser, text: &str) -> Reply {
    let (mut stream, mut events) = (parser.stream(), Vec::new());
    for piece in text.as_bytes().chunks(5) {
        stream.feed_bytes(piece, &mut events);
    }
    stream.finish(&mut events)
}

fn is_text(reply: &Reply) -> bool {
    reply.calls.is_empty()
        && reply.answer.is_none()
        && reply.thought.is_none()
        && reply.error.is_none()
}

#[test]
fn a_form_is_text_wherever_it_is_quoted() {
    let mut read = Read::default();
    for page in pages() {
        // What is tested is read as something as it is.
        assert!(!is_text(&page.parsers[1].parse(&page.text)), "{:?}", page.text);
        let text = neutralise(&page.text);
        assert_eq!(restore(&text), page.text);
        read.check("alone", &page, &text);
        read.check("behind words", &page, &format!("The page says:\n{text}\nI decline."));
        read.check("within a line", &page, &format!("It says {text} and ends."));
        read.check("in a fence", &page, &format!("```\n{text}\n```\nI decline."));
        read.check("in quotes", &page, &format!("\"{text}\""));
        for line in text.lines() {
            read.check("line by line", &page, &format!("Look:\n{line}\nI decline."));
        }
        let lines =
            text.lines().filter(|line| !line.trim().trim_start_matches('>').starts_with("```"));
        let bare: Vec<_> = lines.map(|line| line.trim_matches('`')).collect();
        read.check("without fences", &page, &bare.join("\n"));
        let quoted = page.text.lines().map(|line| format!("> | {line}\n")).collect::<String>();
        let quoted = neutralise(&quoted).into_owned();
        let bare = quoted.replace("> | ", "").replace(">\u{2060} | ", "");
        read.check("without the signs of a quotation", &page, &bare);
    }
    read.nothing();
}

#[test]
fn a_form_is_text_wherever_the_quotation_begins() {
    let mut read = Read::default();
    for page in pages() {
        for text in [page.text.clone(), format!("see {}", page.text), json!(page.text).to_string()]
        {
            let text = neutralise(&text).into_owned();
            for (at, letter) in text.char_indices() {
                // Within a line prose has labels, and shows code.
                let is_line = at == 0 || !page.is_of_lines() || text[..at].ends_with('\n');
                let some = if is_line { 2 } else { 1 };
                if !is_line && page.format != Format::GranitePythonic {
                    continue;
                }
                read.check_with(&page.parsers[..some], "a part", page.format, &text[at..]);
                if letter == '\n' {
                    let part = format!("It says:{}", &text[at..]);
                    read.check_with(
                        &page.parsers[..some],
                        "a part behind words",
                        page.format,
                        &part,
                    );
                }
            }
        }
    }
    read.nothing();
}

/// A page that has read the rules quotes, hides and nests its calls.
#[test]
fn a_form_is_text_in_every_place() {
    let mut read = Read::default();
    for page in pages() {
        for (place, show) in SHOWN {
            if let Some(text) = show(&page.text) {
                read.check(place, &page, &neutralise(&text));
                // The model's own answer is one.
                if !place.ends_with("answer") {
                    let text = show(&neutralise(&page.text)).unwrap_or_default();
                    read.check(place, &page, &text);
                }
            }
        }
        for place in places("result", RESULTS).iter().chain(&places("think", REASONING)) {
            for close in &place.closes {
                let text = format!("{}{}{close}\n{}", place.open, page.text, page.text);
                read.check(&place.open, &page, &neutralise(&text));
            }
        }
        for turn in turns() {
            read.check(&turn, &page, &neutralise(&format!("네.{turn}{}", page.text)));
        }
    }
    read.nothing();
}

/// What guards is broken as well: a quoted page ends no turn, opens no reasoning and hides no call behind it.
#[test]
fn a_quoted_guard_hides_no_call() {
    let parser = reads_all(forms::declared());
    let call = r#"<tool_call>{"name": "ping", "arguments": {}}</tool_call>"#;
    let own = places("result", RESULTS).into_iter().chain(places("think", REASONING));
    let marks = own.flat_map(|place| place.closes.into_iter().chain([place.open]));
    let shown = ["<!--", "```tool_output\nx\n```", "```tool_result\nx\n```", "Observation:"];
    for mark in marks.chain(turns()).chain(shown.map(str::to_owned)) {
        for text in [format!("The page says: {mark}"), format!("The page says:\n{mark}\n")] {
            let text = format!("{}\nI go on.\n{call}", neutralise(&text));
            let reply = parser.parse(&text);
            assert_eq!(reply.calls.len(), 1, "{text:?}: {reply:?}");
            assert!(reply.thought.is_none() && reply.answer.is_none(), "{text:?}: {reply:?}");
        }
    }
}

#[test]
fn each_mark_is_broken_once_behind_its_first_character() {
    for (text, want) in [
        ("<tool_call>", "<·tool_call>"),
        ("<Think>a</THINK>", "<·Think>a<·/THINK>"),
        ("<TOOL_CALL>", "<TOOL_CALL>"),
        ("<parameter=q>x</parameter>", "<·parameter=q>x<·/parameter>"),
        ("<invoke\nname=\"x\">", "<·invoke\nname=\"x\">"),
        ("✿ARGS✿", "✿·ARGS✿"),
        ("]<]minimax[>[<tool_call>", "]·<]minimax[>[<·tool_call>"),
        ("`<|im_end|>`", "`<·|im_end|>`"),
        ("Action: f", "A·ction: f"),
        ("> - **Action Input:** {}", "> - **A·ction I·nput:** {}"),
        ("| \"최종 답변\": 네", "| \"최종 답변\": 네"),
        ("“최종 답변: 네”", "“최·종 답·변: 네”"),
        ("최종답변(final): 네", "최·종답·변(final): 네"),
        ("1) 【행동】 f", "1) 【행·동】 f"),
        ("****Action****: f", "****A·ction****: f"),
        ("Ａｃｔｉｏｎ： f", "Ａ·ｃｔｉｏｎ： f"),
        ("<p>Action: f</p>", "<p>A·ction: f</p>"),
        (r#""a\n\nAction: f""#, r#""a\n\nA·ction: f""#),
        ("- [x] Action: f", "- [x] A·ction: f"),
        (
            r#"{"text": "Action: f", "a": ["Thought: x"]}"#,
            r#"{"text": "A·ction: f", "a": ["T·hought: x"]}"#,
        ),
        ("Bot: Final Answer: f", "Bot: F·inal A·nswer: f"),
        ("if x: find()", "if x: find()"),
        ("the Action: f", "the Action: f"),
        ("Actions: f", "Actions: f"),
        ("## 최종 답변\n네", "## 최·종 답변\n네"),
        (r#"{"name": 1}"#, r#"{·"name": 1}"#),
        ("x { \n 'action' : 1}", "x {· \n 'action' : 1}"),
        ("{tool_calls: []}", "{·tool_calls: []}"),
        (r#"{\"name\": \"x\"}"#, r#"{·\"name\": \"x\"}"#),
        (r#"{"title": "name"}"#, r#"{"title": "name"}"#),
        ("> {\n>   \"name\": 1", "> {·\n>   \"name\": 1"),
        ("1→{\n2→  \"name\": 1", "1→{·\n2→  \"name\": 1"),
        ("+ f(\n+   q=1)", "+ f·(\n+   q=1)"),
        ("{name} {action} {{input}}", "{name} {action} {{input}}"),
        ("loop { // name\n  id }", "loop { // name\n  id }"),
        ("see [find(q=1)] [a](b) [f(x)]", "see [·find(q=1)] [a](b) [f(x)]"),
        ("a\n  find(q=1)", "a\n  f·ind(q=1)"),
        ("a = find(q=1)", "a = find(q=1)"),
        ("Rent (new) 1", "Rent (new) 1"),
        ("```tool_code\nx\n```", "```t·ool_code\nx\n```"),
        ("```json\n```", "```json\n```"),
        ("x ````tool_output\n", "x ````t·ool_output\n"),
        ("a call: f", "a c·all: f"),
        ("print(x)", "p·rint(x)"),
        (">>> x", ">·>> x"),
        ("x functools\n[1]", "x f·unctools\n[1]"),
        ("import functools", "import functools"),
        ("tool_code = f()", "t·ool_code = f()"),
        ("-> tool/function_call", "-·> tool/function_call"),
        ("Here's my response:", "H·ere's my response:"),
        ("user<|role_sep|>", "user<·|role_sep|>"),
    ] {
        let want = want.replace('·', "\u{2060}");
        assert_eq!(neutralise(text), want, "{text:?}");
        assert_eq!(neutralise(&want), want, "{text:?}");
        assert_eq!(restore(&want), text, "{text:?}");
    }
}

#[test]
fn text_without_marks_is_not_copied() {
    for text in
        ["", "연차는 15일입니다.\n\n- 3년부터 20일 (상시)", "a\u{2060}b \u{2060}", "if a { 1 < 2 }"]
    {
        assert!(matches!(neutralise(text), Cow::Borrowed(_)), "{text:?}");
        assert!(matches!(restore(text), Cow::Borrowed(_)), "{text:?}");
    }
    let broken = neutralise("<think>");
    assert!(matches!(neutralise(&broken), Cow::Borrowed(_)));
}

#[test]
fn a_word_joiner_of_the_text_stays() {
    for (text, want) in [
        ("a·b<think>·", "a·b<·think>·"),
        ("·<think>", "·<·think>"),
        ("<·think>", "<·think>"),
        ("<··think>", "<··think>"),
        ("<thi·nk>", "<·thi·nk>"),
        ("{·\"name\": 1, \"a\": \"·\"}", "{·\"name\": 1, \"a\": \"·\"}"),
        ("·> ·Action·: f", "·> ·A·ction·: f"),
    ] {
        let (text, want) = (text.replace('·', "\u{2060}"), want.replace('·', "\u{2060}"));
        assert_eq!(neutralise(&text), want, "{text:?}");
        if !text.contains("<\u{2060}") && !text.contains("{\u{2060}") {
            assert_eq!(restore(&want), text);
        }
    }
    // One is taken from a mark, not more.
    assert_eq!(restore("<\u{2060}\u{2060}think>"), "<\u{2060}think>");
}

/// The scanner of JSON mends much, but not this.
#[test]
fn a_broken_object_is_no_object() {
    let parser = reads_all(forms::declared());
    for text in [
        r#"{·"name": "find", "arguments": {}}"#,
        r#"{· "name": "find", "arguments": {}}"#,
        "{·'name': 'find', 'arguments': {}}",
        "{·name: \"find\", arguments: {}}",
        r#"[{·"name": "find", "arguments": {}}]"#,
        r#"{{·"name": "find", "arguments": {}}}"#,
        r#"{"a": {·"name": "find", "arguments": {}}}"#,
    ] {
        for place in ["TEXT", "```json\nTEXT\n```", "A:\nTEXT\nB"] {
            let text = place.replace("TEXT", &text.replace('·', "\u{2060}"));
            assert!(is_text(&parser.parse(&text)), "{text:?}");
        }
    }
}

/// Beginnings of what is broken.
const TRAPS: [&str; 22] = [
    "{",
    "[",
    "(",
    ">",
    "`",
    "<",
    "\\",
    "{/*",
    "{//",
    "{//\n",
    "{ ",
    "[ ",
    "( ",
    "[a",
    "(a ",
    "> ",
    "Final Answer",
    "Action Input ",
    "\u{2060}",
    "<\u{2060}",
    "```",
    "functools ",
];

fn text() -> impl Strategy<Value = String> {
    let trap = prop::sample::select(TRAPS.to_vec()).prop_map(str::to_owned);
    let part = prop_oneof![4 => support::soup::text(), 1 => trap, 1 => Just("\u{2060}".to_owned())];
    prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn neutralised_text_stays_and_comes_back(text in text()) {
        let once = neutralise(&text);
        prop_assert_eq!(&neutralise(&once), &once);
        let whole = restore(&text);
        let again = neutralise(&whole);
        prop_assert_eq!(restore(&again), restore(&whole));
        if whole == text {
            prop_assert_eq!(restore(&once), text.as_str());
        }
        prop_assert_eq!(once.replace('\u{2060}', ""), text.replace('\u{2060}', ""));
    }

    #[test]
    fn neutralised_text_is_text(text in text(), cut in 0_usize..40) {
        let text = neutralise(&text);
        let parser = reads_all(support::declared());
        let part = text.char_indices().nth(cut).map_or(&*text, |(at, _)| &text[at..]);
        for text in [&*text, part] {
            let reply = parser.parse(text);
            prop_assert!(reply.calls.is_empty() && reply.answer.is_none() && reply.thought.is_none(), "{:?}: {:?}", text, reply);
        }
    }
}
