//! What a stream tells, and when.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

use hanok_parse::{CallKind, Event, Format, Language, NoteKind, Parser, PartKind};

use crate::support::reads_all;
use serde_json::json;

use crate::forms;
use crate::support;

/// Feeds `pieces` and gives what was told after each.
fn told(parser: &Parser, pieces: &[&str]) -> Vec<Vec<Event>> {
    let mut stream = parser.stream();
    let mut all = Vec::new();
    for piece in pieces {
        let mut events = Vec::new();
        stream.feed(piece, &mut events);
        all.push(events);
    }
    let mut events = Vec::new();
    stream.finish(&mut events);
    all.push(events);
    all
}

fn content(text: &str) -> Event {
    Event::Content { text: text.to_owned() }
}

/// contract 13
#[test]
fn only_what_may_be_a_mark_is_held_back() {
    let parser = support::parser();
    let events = told(&parser, &["찾아볼게요 <tool", "_cal", "l 은 태그, a <", " b, <|py", "\n"]);
    assert_eq!(events[0], [content("찾아볼게요")]);
    assert_eq!(events[1], []);
    assert_eq!(events[2], [content(" <tool_call 은 태그, a")]);
    assert_eq!(events[3], [content(" < b,")]);
    assert_eq!(events[4], [content(" <|py")]);
}

/// contract 13
#[test]
fn a_call_is_told_by_its_name_and_then_its_arguments_as_they_come() {
    let parser = support::parser();
    let pieces = [
        "<tool_call>{\"name\": \"find\", \"arguments\": {\"q\": \"휴",
        "가 ",
        "정책\"}}",
        "</tool_call>",
    ];
    let events = told(&parser, &pieces);
    let started =
        Event::CallStarted { call: 0, kind: CallKind::Tool, name: "find".into(), id: None };
    let arguments = |json: &str| Event::Arguments { call: 0, json: json.into() };
    assert_eq!(events[0], [started, arguments("{\"q\":\"휴")]);
    assert_eq!(events[1], [arguments("가 ")]);
    assert_eq!(events[2], [arguments("정책\"}"), Event::CallFinished { call: 0 }]);
    assert_eq!(events[3], []);
    assert_eq!(events[4], [Event::Finished]);
}

/// contract 13
#[test]
fn most_formats_tell_a_long_text_before_it_ends() {
    use Format::{BareJson, JsonAction, OpenaiJson, Pythonic};
    let mut late = Vec::new();
    for form in forms::all() {
        let args = [("q", json!("가나다라 ".repeat(50)))];
        let text = (form.write)(&[("find", &args)]);
        let parser = reads_all(forms::declared());
        let parser = if form.hinted { parser.format(form.format) } else { parser };
        let mut stream = parser.stream();
        let mut events = Vec::new();
        let half = text.find("다라 가나").unwrap() + "다라 가나다라 ".len() * 20;
        stream.feed(text.get(..half).unwrap(), &mut events);
        let early: usize = events
            .iter()
            .map(|event| match event {
                Event::Arguments { json, .. } => json.len(),
                _ => 0,
            })
            .sum();
        if early < 400 {
            late.push(form.format);
        }
    }
    // A name that comes late, JSON within JSON, and a list that prose may follow are told at their end.
    late.sort();
    late.dedup();
    assert!(
        late.iter().all(|format| {
            matches!(
                format,
                OpenaiJson
                    | Pythonic
                    | JsonAction
                    | BareJson
                    | Format::Llama3Json
                    | Format::MinimaxM3
                    | Format::Cwm
            ) || *format == Format::Apertus
        }),
        "{late:?}"
    );
    for format in [
        Format::React,
        Format::Hermes,
        Format::Qwen3Xml,
        Format::KimiK2,
        Format::Gemma4,
        Format::Olmo3,
    ] {
        assert!(!late.contains(&format), "{format}");
    }
}

/// contract 5, 10, 13
#[test]
fn what_was_told_too_early_is_taken_back() {
    let parser = support::parser();
    let fold = |pieces: &[&str]| told(&parser, pieces).concat();

    let events = fold(&["Action: f\nAction Input: {\"a\": 1, \"b\"", ": 2, \"a\": 3}"]);
    let reset =
        events.iter().position(|event| *event == Event::ArgumentsReset { call: 0 }).unwrap();
    let json = r#"{"b":2,"a":3}"#.to_owned();
    assert_eq!(events[reset + 1], Event::Arguments { call: 0, json });

    let events = fold(&["Action: f\nAction Input: {\"a\": 1, \"b", ""]);
    assert!(events.contains(&Event::CallDropped { call: 0 }), "{events:?}");

    let events =
        fold(&["{\"name\": \"f\", \"arguments\": {\"a\": 1", "}, \"description\": \"a tool\"}"]);
    assert!(events.contains(&Event::CallDropped { call: 0 }), "{events:?}");

    let events = fold(&["음. ", "Action: f\nAction Input: {}\n", "</think>네"]);
    let back = events.iter().position(|event| *event == Event::Retracted).unwrap();
    assert_eq!(
        events[back + 1],
        Event::Reasoning { text: "음. Action: f\nAction Input: {}".into() }
    );
    assert!(events[back..].contains(&content("네")));
}

/// contract 13
#[test]
fn an_answer_is_told_without_the_marks_around_it() {
    let parser = support::parser();
    let events = told(&parser, &["**Final Answer: 네, **그", "렇", "습니다", "**"]);
    let answers: Vec<_> = events
        .concat()
        .into_iter()
        .filter_map(|event| if let Event::Answer { text } = event { Some(text) } else { None })
        .collect();
    assert_eq!(answers, ["네, **그", "렇", "습니다", "**"]);

    let events = told(&parser, &["**Final Answer: 네, 그", "렇습니다*", "*"]).concat();
    assert!(
        events.iter().all(|event| !matches!(event, Event::Answer { text } if text.contains('*')))
    );
}

#[test]
fn bytes_are_read_like_text_and_what_is_no_text_is_replaced() {
    let parser = support::parser();
    for (bytes, want) in [
        ("전세 🏠".as_bytes(), "전세 🏠"),
        (b"a\xff\xfeb", "a\u{fffd}\u{fffd}b"),
        (b"a\xec\xa0", "a\u{fffd}"),
        (b"a\xec\xa0b", "a\u{fffd}b"),
        (b"\xf0\x9f\x8f\xa0\xf0\x9f", "🏠\u{fffd}"),
    ] {
        for size in 1..=bytes.len() {
            let mut stream = parser.stream();
            let mut events = Vec::new();
            for piece in bytes.chunks(size) {
                stream.feed_bytes(piece, &mut events);
            }
            assert_eq!(stream.finish(&mut events).content, want, "{bytes:?} by {size}");
        }
        assert_eq!(String::from_utf8_lossy(bytes), want);
    }
}

#[test]
fn events_are_json() {
    let events = told(&support::parser(), &["Action: f\nAction Input: {'a': 1}"]).concat();
    let json: Vec<_> = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    assert_eq!(
        json,
        [
            json!({"event": "call_started", "call": 0, "kind": "tool", "name": "f"}),
            json!({"event": "arguments", "call": 0, "json": "{\"a\":1}"}),
            json!({"event": "call_finished", "call": 0}),
            json!({"event": "noted", "note": {
                "kind": "repaired", "span": {"start": 24, "end": 32}, "repairs": [{"kind": "quotes", "at": 25}]
            }}),
            json!({"event": "finished"}),
        ]
    );
}

#[test]
fn every_part_of_a_text_has_its_bytes() {
    let text =
        "<think>음</think>Thought: 찾자\nAction: f\nAction Input: {\"q\": 1}\nObservation: 3";
    let reply = support::parser().parse(text);
    let parts: Vec<_> =
        reply.parts.iter().map(|part| (part.kind, &text[part.span.clone()])).collect();
    assert_eq!(
        parts,
        [
            (PartKind::Reasoning, "음"),
            (PartKind::Thought, "Thought: 찾자\n"),
            (PartKind::Call, "Action: f\nAction Input: {\"q\": 1}"),
            (PartKind::Arguments, "{\"q\": 1}"),
        ]
    );
    let reply = support::parser().parse("Final Answer: 네");
    assert_eq!((reply.parts[0].kind, reply.parts[0].span.clone()), (PartKind::Answer, 0..17));
}

/// contract 4, 6, 7
#[test]
fn every_note_is_a_sentence_in_two_languages() {
    let promote = support::parser().reasoning(hanok_parse::Reasoning::Promote);
    for (text, kind, english, korean) in [
        (
            "Action: f\nAction Input: {'a': True, // x\n \"b\": \"\\d\",}",
            NoteKind::Repaired,
            "The JSON of your call was mended: double quotes around keys and strings, `true`, `false` and `null` in lower \
             case, no comments, backslashes in strings doubled, commas only between members.",
            "호출의 JSON을 고쳐 읽었습니다: 키와 문자열은 큰따옴표로, `true`, `false`, `null`은 소문자로, 주석 없이, 문자열의 \
             역슬래시는 두 번, 쉼표는 항목 사이에만.",
        ),
        (
            "Action: f\nAction Input: {}\nFinal Answer: 3",
            NoteKind::DroppedAnswer,
            "Your final answer was left out: it was written before the result of your call. Wait for the observation.",
            "최종 답변을 버렸습니다. 호출의 결과를 보기 전에 쓴 답변입니다. 관찰을 기다리세요.",
        ),
        (
            "Action: f\nAction Input: {}\nObservation: 3",
            NoteKind::InventedObservation,
            "You wrote an observation yourself. It and all behind it was left out: observations come from outside.",
            "관찰을 직접 지어냈으므로 그 뒤를 모두 버렸습니다. 관찰은 밖에서 옵니다.",
        ),
        (
            "a</think>",
            NoteKind::Retracted,
            "A closing reasoning mark had no opening one: all before it was taken for reasoning.",
            "여는 표시 없이 닫는 추론 표시가 있어, 그 앞을 모두 추론으로 읽었습니다.",
        ),
        (
            "Action: f\nAction Input: {\"a\": \"\\uc804\\uc138\"}",
            NoteKind::Escaped,
            "You wrote letters as `\\u` escapes, which are easily misspelled. Write them as they are.",
            "글자를 `\\u` 이스케이프로 썼습니다. 틀리기 쉬우니 글자 그대로 쓰세요.",
        ),
        (
            "[f(a='b'), f(a=b)]",
            NoteKind::Unreadable,
            "A call in your list cannot be read, so the list was taken for text. Write each argument as `name=value`, and strings \
             in quotes.",
            "목록의 호출 하나를 읽을 수 없어 목록을 글로 보았습니다. 인자는 `이름=값`으로, 문자열은 따옴표로 쓰세요.",
        ),
        (
            "<think>\nAction: f\nAction Input: {}</think>네",
            NoteKind::Decoy,
            "A call inside your reasoning was not made. Write it behind the reasoning if you want it.",
            "추론 안의 호출은 실행하지 않았습니다. 필요하면 추론 뒤에 쓰세요.",
        ),
        (
            "<think>\nAction: f\nAction Input: {}</think>",
            NoteKind::Promoted,
            "Your call stood inside your reasoning. It was made this once: write calls behind the reasoning.",
            "호출이 추론 안에 있었습니다. 이번에는 실행하지만, 호출은 추론 뒤에 쓰세요.",
        ),
    ] {
        let reply = promote.parse(text);
        let note = reply.notes.iter().find(|note| note.kind == kind).unwrap();
        let said = (note.observation(Language::English), note.observation(Language::Korean));
        assert_eq!(said, (english.to_owned(), korean.to_owned()), "{text:?}");
    }
}

/// contract 4
#[test]
fn every_repair_is_told_with_its_place() {
    use hanok_parse::RepairKind::{
        Brace, Closer, Colon, Comma, Comment, Control, Escape, Key, Literal, Quotes,
    };
    for (json, want) in [
        ("{'a':1}", vec![(Quotes, 1)]),
        ("{a:1}", vec![(Key, 1)]),
        ("{\"a\":True}", vec![(Literal, 5)]),
        ("{\"a\":1,}", vec![(Comma, 7)]),
        ("{\"a\":1 \"b\":2}", vec![(Comma, 7)]),
        ("{\"a\":1} }", vec![(Brace, 8)]),
        ("{{\"a\":1}}", vec![(Brace, 1)]),
        ("{\"a\":1 /* x */}", vec![(Comment, 7)]),
        ("{\"a\":\"x\ty\"}", vec![(Control, 7)]),
        ("{\"a\":\"\\d\"}", vec![(Escape, 6)]),
        ("{\"a\"：1}", vec![(Colon, 4)]),
        ("{\"a\":1</tool_call>", vec![(Closer, 6)]),
        ("{\"a\":1}", vec![]),
    ] {
        let text = format!("<tool_call>f</tool_call><tool_input>{json}</tool_input>");
        let text = match json.strip_suffix("</tool_call>") {
            Some(json) => format!("<tool_call>{{\"name\":\"f\",\"arguments\":{json}}}</tool_call>"),
            None => text,
        };
        let text = if want == [(Closer, 6)] {
            text.replace("}</tool_call>", "</tool_call>")
        } else {
            text
        };
        let reply = support::parser().parse(&text);
        assert_eq!(reply.calls.len(), 1, "{text:?} gives {reply:?}");
        let repairs: Vec<_> = reply.notes.iter().flat_map(|note| &note.repairs).collect();
        let kinds: Vec<_> = repairs.iter().map(|repair| repair.kind).collect();
        assert_eq!(kinds, want.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), "{json}");
        for (repair, (kind, at)) in repairs.iter().zip(&want) {
            let from = if *kind == Closer {
                "<tool_call>{\"name\":\"f\",\"arguments\":".len()
            } else {
                36
            };
            assert_eq!(repair.at, from + at, "{json}");
        }
    }
}

/// contract 1, 9
#[test]
fn a_hint_leaves_other_formats_alone() {
    let hermes = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let react = "Action: f\nAction Input: {}";
    for (format, text, calls) in [
        (Format::Hermes, hermes, 1),
        (Format::React, hermes, 0),
        (Format::Hermes, react, 0),
        (Format::React, react, 1),
        (Format::Mistral, hermes, 0),
        (Format::KimiK2, "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}]", 0),
    ] {
        let reply = support::parser().format(format).parse(text);
        assert_eq!(reply.calls.len(), calls, "{format}: {text}");
        assert!(calls == 1 || reply.content == text, "{format}: {reply:?}");
        assert!(reply.error.is_none());
    }
    // Reasoning and the marks that end a turn are every model's.
    let reply = support::parser().format(Format::KimiK2).parse("<think>음</think>네<|im_end|>");
    assert_eq!((reply.content.as_str(), reply.reasoning.as_deref()), ("네", Some("음")));
}

/// contract 13: the number of a call is its place in the reply, however the text is cut.
#[test]
fn the_number_of_a_call_does_not_depend_on_the_cut() {
    let text = "<tool_call>find\n<arg_key>q</arg_key></tool_call><tool_call>find<arg_key>q</arg_key>\
                <arg_value>x</arg_value></tool_call>";
    let parser = support::parser();
    for cut in 0..text.len() {
        let (mut stream, mut events) = (parser.stream(), Vec::new());
        stream.feed(&text[..cut], &mut events);
        stream.feed(&text[cut..], &mut events);
        let reply = stream.finish(&mut events);
        assert_eq!(reply.calls.len(), 1);
        let last = events.iter().rev().find_map(|event| match event {
            Event::CallFinished { call } => Some(*call),
            _ => None,
        });
        assert_eq!(last, Some(0), "cut at {cut}");
    }
}
