//! Texts that are cut, huge or nonsense.

use hanok_parse::{Declared, Reasoning, Reply};
use proptest::prelude::*;

use crate::support::{self, line, parser, reads_all, soup::text};

const SAMPLES: [(&str, &str); 12] = [
    ("Thought: 찾자\nAction: find\nAction Input: {\"q\": \"휴가 🏖 } 정책\", \"n\": 10}\n", "find"),
    ("**행동:** find\n**행동 입력:**\n```json\n{\"q\": [1, {\"a\": 2}]}\n```", "find"),
    ("<tool_call>find</tool_call>\n<tool_input>{\"q\": \"a\"}</tool_input>", "find"),
    ("<tool_call>find</tool_call><tool_input>휴가</tool_input>", "find"),
    ("```json\n{\"action\": \"find\", \"action_input\": {\"q\": \"월세\"}}\n```", "find"),
    ("{\"action\": \"find\", \"action_input\": \"월세\"}", "find"),
    ("<tool_call>\n{\"name\": \"find\", \"arguments\": {\"q\": \"전세\"}}\n</tool_call>", "find"),
    (
        "<|python_tag|>{\"type\": \"function\", \"name\": \"find\", \"parameters\": {\"q\": \"a;b\"}}<|eom_id|>",
        "find",
    ),
    ("[{\"name\": \"find\", \"arguments\": {\"q\": {\"x\": []}}}]", "find"),
    (
        "{\"tool_calls\": [{\"function\": {\"name\": \"find\", \"arguments\": \"{\\\"q\\\": 1}\"}}]}",
        "find",
    ),
    ("Delegate: rag_agent\nTask: ", "rag_agent"),
    ("<think>음</think>Action: find\nAction Input: {'q': 'it's', k: None,}", "find"),
];

/// contract 5
#[test]
fn no_cut_text_yields_another_call_than_the_whole_one() {
    for (sample, name) in SAMPLES {
        let whole = line(&parser().parse(sample));
        for (cut, _) in sample.char_indices() {
            let text = &sample[..cut];
            let reply = parser().parse(text);
            sound(text, &reply);
            let value_is_complete = line(&reply) == whole;
            assert!(value_is_complete || reply.calls.is_empty(), "{text:?} gives {reply:?}");
            // Behind the name nobody can take what there is for an answer.
            if !value_is_complete && text.contains(&format!("{name}\"")) {
                assert!(reply.error.is_some(), "{text:?} gives {reply:?}");
            }
        }
    }
}

/// contract 5
#[test]
fn a_call_cut_after_its_marker_is_truncated() {
    for (sample, marker) in [
        (SAMPLES[0].0, "Action: f"),
        (SAMPLES[2].0, "<to"),
        (SAMPLES[6].0, "<to"),
        (SAMPLES[7].0, "<|p"),
        (SAMPLES[8].0, "[{\"name\""),
    ] {
        let from = sample.find(marker).unwrap() + marker.len();
        let whole = line(&parser().parse(sample));
        for (cut, _) in sample.char_indices().filter(|(cut, _)| *cut >= from) {
            let got = line(&parser().parse(&sample[..cut]));
            let kind =
                got == whole || got.starts_with("!truncated") || got == "!missing_input(find)";
            assert!(kind, "{:?} gives {got}", &sample[..cut]);
        }
    }
}

/// Every one of these is a quadratic or a recursive trap for some other parser. Running to the end is the test.
#[test]
fn big_inputs_are_read_to_the_end() {
    for unit in [
        "{",
        "[",
        "{\n",
        "[\n",
        "\n",
        " ",
        "\n\n ",
        "[{",
        "{{",
        "{\"a\":",
        "{\"a\":[\n",
        "{\"name\":\"f\",\"arguments\":",
        "{\"note: \n",
        "{'a'\n",
        "['\n",
        "[\"\n",
        "[“\n",
        "{//\n",
        "{/*\n",
        "'",
        "' ",
        "Action: ",
        "Action: f\n",
        "Action:\n",
        "Action: f\nAction Input: {",
        "Action: f\nAction Input: {\n",
        "Action: f\nAction Input: [\"\",\"\n",
        "Action: f\nAction Input: {}\n",
        "Action: f\nAction Input: {\"a\":\"\n\"\n",
        "Action: nope\nAction Input: x\n",
        "Action: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\nAction Input: x\n",
        "Action Input: ",
        "Final Answer: ",
        "Thought: \n",
        "Delegate: x\n",
        "Delegate: rag_agent\nTask: ",
        "<",
        "<think>",
        "</think>",
        "a</think>",
        "<think></think>",
        "<tool_call>",
        "<tool_call>\n",
        "<tool_call>f",
        "<tool_call>f</tool_call>",
        "<tool_call>f</tool_call><tool_input>",
        "<tool_call>{",
        "<tool_call>{\"name\":\"f\"}",
        "<tool_call>{x} ",
        "</tool_call>",
        "<tool_cal",
        "<|python_tag|>",
        "<|python_tag|>{",
        "<|python_tag|>[",
        "<|eot_id|>",
        "<|eot_id|> ",
        "```\n",
        "```json\n{",
        "```json\n{}\n```\n",
        "`",
        "*",
        "- ",
        "1.",
        "1",
        "-*",
        "(",
        "Action: ((((((",
        "}",
        "{}}",
        ";",
        "{\"name\":\"f\",\"arguments\":{}};",
        "[{\"name\":\"f\",\"arguments\":{}},\n",
        "{\"a\":1,\"a\":",
        "{\"a\":1,",
        "\\",
        "\"\\u",
    ] {
        for wrap in ["", "Action: f\nAction Input: {\"q\": \"", "Final Answer: ", "<tool_call>"] {
            let text = format!("{wrap}{}", unit.repeat(60_000 / unit.len()));
            sound(&text, &parser().parse(&text));
        }
    }
    let deep = format!("Action: f\nAction Input: {}", "{\"a\":".repeat(250_000));
    assert_eq!(line(&parser().parse(&deep)), "!malformed(f)");
    let nested = format!("<tool_call>{}", "[".repeat(1_000_000));
    assert_eq!(line(&parser().parse(&nested)), "!truncated");
}

/// What is handed on can be decoded: `serde_json` reads 127 levels.
#[test]
fn nesting_is_read_as_deep_as_it_can_be_decoded() {
    for (depth, calls) in [(126, 1), (127, 0)] {
        let value = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let reply = parser().parse(&format!("Action: f\nAction Input: {value}"));
        assert_eq!(reply.calls.len(), calls, "{depth}");
        for call in &reply.calls {
            call.arguments.decode::<serde_json::Value>().unwrap();
        }
    }
}

/// Spans lie in the text on character boundaries, names are declared, arguments can be decoded.
#[allow(clippy::unwrap_used, reason = "a test helper: a panic is a failed test")]
fn sound(text: &str, reply: &Reply) {
    let notes = reply.notes.iter().map(|note| &note.span);
    let errors = reply
        .error
        .iter()
        .chain(reply.rejected.iter().map(|bad| &bad.error))
        .map(|error| &error.span);
    for span in reply.calls.iter().map(|call| &call.span).chain(notes).chain(errors) {
        assert!(text.get(span.clone()).is_some(), "{span:?} of {} bytes", text.len());
    }
    for arguments in reply.calls.iter().map(|call| &call.arguments) {
        serde_json::from_str::<serde::de::IgnoredAny>(arguments.as_str()).unwrap();
        assert!(arguments.as_str().starts_with('{'), "{arguments}");
    }
    assert!(reply.calls.is_empty() || reply.answer.is_none());
}

proptest! {
    #[test]
    fn any_text_is_some_sound_reply(text in text()) {
        for declared in [support::declared(), Declared::any(), Declared::new()] {
            let parser = reads_all(declared);
            sound(&text, &parser.parse(&text));
            sound(&text, &parser.reasoning(Reasoning::Promote).parse(&text));
        }
    }

    /// contract 3, 10
    #[test]
    fn any_value_comes_through_every_format(text in any::<String>(), number in any::<i128>()) {
        let q = serde_json::Value::from(text.as_str());
        let args = format!("{{\"q\":{q},\"n\":{number},\"l\":[{q},{{}}]}}");
        for text in [
            format!("Action: f\nAction Input: {args}"),
            format!("<tool_call>{{\"name\":\"f\",\"arguments\":{args}}}</tool_call>"),
            format!("<tool_call>f</tool_call><tool_input>{args}</tool_input>"),
            format!("<|python_tag|>{{\"name\":\"f\",\"parameters\":{args}}}"),
            format!("```json\n{{\"action\":\"f\",\"action_input\":{args}}}\n```"),
            format!("{{\"name\":\"f\",\"arguments\":{}}}", serde_json::Value::from(args.as_str())),
        ] {
            let reply = parser().parse(&text);
            prop_assert_eq!(reply.calls.len(), 1);
            prop_assert_eq!(reply.calls[0].arguments.as_str(), args.as_str());
            prop_assert!(reply.notes.is_empty() && reply.content.is_empty());
        }
    }

    /// contract 8
    #[test]
    fn any_answer_without_marks_is_kept(text in "[^<`]{1,60}") {
        prop_assume!(!text.trim().is_empty() && !text.to_lowercase().contains("thought") && !text.contains("생각"));
        let reply = parser().parse(&format!("Final Answer: {text}"));
        prop_assert_eq!(reply.answer.as_deref(), Some(text.trim()));
    }
}
