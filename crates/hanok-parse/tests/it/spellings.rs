//! One call in the spellings of many models, and words where JSON was announced.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use hanok_parse::{Declared, Parser};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{self, line, reads_all};

fn declared(q: &Value) -> Declared {
    let schema = json!({ "type": "object", "properties": { "q": q } });
    let declared = Declared::new().tool_schema("find", &schema).unwrap();
    declared.tool_with("ping", [])
}

/// contract 1, 2, 10, 13
#[test]
fn a_call_is_read_in_every_spelling_of_its_format() {
    let parser = reads_all(declared(&json!({ "type": "string" })));
    for text in [
        // Gemma's, bare, with brackets of Python, and with the name alone.
        "call:find{q:<|\"|>a<|\"|>}",
        "call:find{q:a}",
        "call:find(q=\"a\")",
        "<|tool_call>call:find(q=\"a\")<tool_call|>",
        "<|tool_call>find{q:<|\"|>a<|\"|>}<tool_call|>",
        "<|tool_call>call:find{q:a}",
        "[Calling tool=\"find\" q=\"a\"]",
        "[Calling tool: find({\"q\": \"a\"})]",
        "<|tool▁calls▁begin|><|tool▁call▁begin|>find<|tool▁sep|>{\"q\": \"a\"}<|tool▁call▁end|><|tool▁calls▁end|>",
        // Keys.
        "{\"tool\": \"find\", \"tool_input\": {\"q\": \"a\"}}",
        "{\"tool_name\": \"find\", \"args\": {\"q\": \"a\"}}",
        "{\"function_name\": \"find\", \"arguments\": {\"q\": \"a\"}}",
        "{\"name\": \"find\", \"input\": {\"q\": \"a\"}}",
        "{\"name\": \"find\", \"params\": {\"q\": \"a\"}}",
        "{\"tool_use\": {\"name\": \"find\", \"input\": {\"q\": \"a\"}}}",
        "{\"functionCall\": {\"name\": \"find\", \"args\": {\"q\": \"a\"}}}",
        "{\"tool_uses\": [{\"recipient_name\": \"functions.find\", \"parameters\": {\"q\": \"a\"}}]}",
        // Names.
        "Action: default_api.find\nAction Input: {\"q\": \"a\"}",
        "<tool_call>{\"name\": \"tools.find\", \"arguments\": {\"q\": \"a\"}}</tool_call>",
        "Action: find 도구 사용\nAction Input: {\"q\": \"a\"}",
        "행동: find 도구를 사용\n행동 입력: {\"q\": \"a\"}",
        // Open tags that are stray, and fences in tags.
        "<tool_call>\n<tool_call>{\"name\": \"find\", \"arguments\": {\"q\": \"a\"}}</tool_call>",
        "<tool_call>\n```json\n{\"name\": \"find\", \"arguments\": {\"q\": \"a\"}}\n```\n</tool_call>",
        // ReAct's input.
        "Action: find\nAction Input: ** {\"q\": \"a\"}",
        "**Action:** find\n**Action Input:** {\"q\": \"a\"}",
        "Action: find\nAction Input: find({\"q\": \"a\"})",
        "Action: find\nAction Input: {q: a}",
        "Action: find\nAction Input {\"q\": \"a\"}",
        "Action: find {\"q\": \"a\"}",
        "Action: find(q=\"a\")",
        "Action: find({\"q\": \"a\"})",
        "Action: find({\"q\": \"a\"}) ",
        "Action: find({'q': 'a',})\n",
        "Action: functions.find ( {\"q\": \"a\"} )",
        "Action:\nfind({\"q\": \"a\"})",
        "**Action:** find({\n  \"q\": \"a\"\n})\n",
        "액션: find({\"q\": \"a\"})",
        "행동 1: find(\n{\"q\": \"a\"}\n)",
        // Labels.
        "도구: find\n도구 입력: {\"q\": \"a\"}",
        "도구: find\n인자: {\"q\": \"a\"}",
        "액션: find\n액션 입력: {\"q\": \"a\"}",
        "액션: find\n입력: {\"q\": \"a\"}",
        "Tool: find\nTool Input: {\"q\": \"a\"}",
        "Tool: find\nArguments: {\"q\": \"a\"}",
        "Action: find\nInput: {\"q\": \"a\"}",
        "Action: find\nArguments: {\"q\": \"a\"}",
        "[행동] find\n[행동 입력] {\"q\": \"a\"}",
        "Ａｃｔｉｏｎ： find\nＡｃｔｉｏｎ Ｉｎｐｕｔ： {\"q\": \"a\"}",
    ] {
        support::stream::same(&parser, text, text.char_indices().map(|(at, _)| vec![at]));
        let reply = parser.parse(text);
        assert_eq!(
            (line(&reply).as_str(), reply.content.as_str()),
            (r#"find{"q":"a"}"#, ""),
            "{text}"
        );
    }
    for (text, want) in [
        // A name and its object in brackets, before what is invented, another call, and words.
        ("Action: find({\"q\": \"a\"})\nObservation: 1\nAction: ping", r#"find{"q":"a"}"#),
        ("액션: find({\"q\": \"a\"}) \n관찰: 1\n최종 답변: 1", r#"find{"q":"a"}"#),
        ("Action: find({\"q\": \"a\"})\nAction: ping({})", r#"find{"q":"a"} ping{}"#),
        ("Thought: t\nAction: find({\"q\": \")}\"})\n음", r#"find{"q":")}"}"#),
        ("Action: find({\"q\": \"a\"", "!truncated(find)"),
        ("Action: find({\"q\": \"a\"}", "!truncated(find)"),
        ("Action: find({\"q\": \"a\"} [1])", "!malformed(find)"),
        ("Action: find({\"q\": \"a\"}, 1)", "!malformed(find)"),
        // A declared name calls itself, whatever its object holds, and a word that is none calls nothing.
        (
            "Action: find({\"name\": \"ping\", \"arguments\": {}})",
            r#"find{"name":"ping","arguments":{}}"#,
        ),
        ("Action: call({\"name\": \"ping\", \"arguments\": {}})", "ping{}"),
        ("Action: fnd({\"q\": \"a\"})", "!unknown_tool(fnd)?find"),
        ("최종 응답: 네", "=네"),
        ("최종 답: 네", "=네"),
        ("Action: 없음\nFinal Answer: 네", "=네"),
        ("<|tool_call>call:find{q:a}call:ping{}<tool_call|>", r#"find{"q":"a"} ping{}"#),
        (
            "<|tool_call>call:find{q:<|\"|>a<|\"|>},call:ping{}<tool_call|>",
            r#"find{"q":"a"} ping{}"#,
        ),
        ("<|tool_call>call:find{q:a} ;\ncall:ping{}<tool_call|>", r#"find{"q":"a"} ping{}"#),
        // Muse's header names the tool once or twice.
        (" to=ping<|message|><atem:invoke name=\"ping\"></atem:invoke>", "ping{}"),
        (" to=ping.ping<|message|><atem:invoke name=\"ping\"></atem:invoke>", "ping{}"),
    ] {
        support::stream::same(&parser, text, text.char_indices().map(|(at, _)| vec![at]));
        assert_eq!(line(&parser.parse(text)), want, "{text}");
    }
}

/// contract 2: Muse's header and its tag name the tool twice, and the format alone is enough to read both.
#[test]
fn a_name_that_a_header_says_twice_is_read_where_muse_alone_is() {
    let parser = reads_all(declared(&json!({ "type": "string" })));
    let call = |name: &str| {
        let param = "<atem:parameter name=\"q\">a</atem:parameter>";
        format!(
            " to={name}<|message|><atem:function_calls><atem:invoke name=\"{name}\">{param}</atem:invoke></atem:function_calls>"
        )
    };
    for parser in [&parser.clone().format(hanok_parse::Format::Muse), &parser] {
        for (name, head) in [
            ("find", ""),
            ("find.find", ""),
            ("find.find", "<|start|>assistant"),
            ("find.find", " to=self<|message|>hm<|eom|><|start|>assistant"),
            ("find.find", "<|start|>assistant to=user<|message|>hm<|eom|><|start|>assistant"),
        ] {
            let text = format!("{head}{}<|eom|>", call(name));
            support::stream::same(parser, &text, text.char_indices().map(|(at, _)| vec![at]));
            let reply = parser.parse(&text);
            assert_eq!(line(&reply), r#"find{"q":"a"}"#, "{text}");
            assert!(!reply.content.contains("<|"), "{text}: {reply:?}");
        }
        let text = format!("<|start|>user{}", call("find"));
        assert!(parser.parse(&text).calls.is_empty(), "{text}");
    }
}

/// contract 2: arguments behind a name are no remark, and what has lost them does not run.
#[test]
fn a_whole_call_in_place_of_a_name_is_no_name() {
    let parser = reads_all(declared(&json!({ "type": "string" })));
    for text in [
        "<function=find(q=\"a\")></function>",
        "<invoke name=\"find(q='a')\"></invoke>",
        "<invoke name=\"find('a')\"></invoke>",
        "[TOOL_CALLS]find(q=\"a\")[ARGS]{}",
    ] {
        for parser in [&parser, &Parser::default()] {
            support::stream::same(parser, text, text.char_indices().map(|(at, _)| vec![at]));
            let reply = parser.parse(text);
            assert!(reply.calls.is_empty() && reply.error.is_some(), "{text}: {reply:?}");
        }
    }
    for name in ["find(q='a')", "find({'q': 1})", "find(q=1)"] {
        let call = json!({ "name": name, "arguments": {} }).to_string();
        assert!(parser.parse(&call).calls.is_empty(), "{name}");
    }
    for name in ["find (v2)", "find(the user's)", "find()", "[find]"] {
        let call = format!(
            "<tool_call>{}</tool_call>",
            json!({ "name": name, "arguments": { "q": "a" } })
        );
        assert_eq!(line(&parser.parse(&call)), r#"find{"q":"a"}"#, "{name}");
    }
}

/// Calls that announce JSON, with words in its place.
const ANNOUNCED: &[(&str, &str)] = &[
    ("<|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>", "<|tool_call_end|>"),
    ("<|channel|>commentary to=functions.find<|message|>", "<|call|>"),
    ("<|channel|>commentary to=functions.find <|constrain|>json<|message|>", "<|call|>"),
    ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n", "<｜tool▁call▁end｜>"),
    ("<｜tool▁call▁begin｜>find<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
    ("<｜tool_call_begin｜>function<｜tool_sep｜>find\n", "<｜tool_call_end｜>"),
    (
        "<|plamo:begin_tool_name:plamo|>find<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>",
        "<|plamo:end_tool_arguments:plamo|>",
    ),
    ("<|tool_call:begin|>7<|tool_call:name|>find<|tool_call:args|>", "<|tool_call:end|>"),
    ("[TOOL_CALLS]find[ARGS]", "</s>"),
    ("<|recipient|>find\n<|content|>", "<|stop|>"),
    ("<tool_call>find</tool_call><tool_input>", "</tool_input>"),
    ("<tool_call>{\"name\": \"find\", \"arguments\": \"", "\"}</tool_call>"),
    ("{\"name\": \"find\", \"arguments\": \"", "\"}"),
    ("✿FUNCTION✿: find\n✿ARGS✿: ", "\n"),
    (">>>find\n", "\n"),
];

/// A parameter that text may stand for, and whether it is the only string.
fn params() -> Vec<(Value, bool)> {
    vec![
        (json!({ "type": "string" }), true),
        (json!({ "type": ["string", "null"] }), false),
        (json!({}), false),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }), false),
        (json!({ "type": "string", "nullable": true }), false),
    ]
}

/// contract 18
#[test]
fn words_are_no_arguments_where_json_was_announced() {
    for (q, _) in params() {
        let parser = reads_all(declared(&q));
        for (open, close) in ANNOUNCED {
            for words in ["keep all files", "7 all", "functions.find", "네"] {
                let text = format!("{open}{words}{close}");
                support::stream::same(&parser, &text, text.char_indices().map(|(at, _)| vec![at]));
                let reply = parser.parse(&text);
                assert!(reply.calls.is_empty(), "{text} gives {reply:?} with {q}");
                // No more tokens could make them JSON, where they are not yet a name.
                let is_input = open.contains("argument") || open.contains("<|message|>");
                if is_input && open.ends_with('>') {
                    let open = parser.parse(&format!("{open}{words}"));
                    assert_eq!(line(&open), "!malformed(find)", "{text} without its end");
                }
            }
        }
    }
}

/// contract 11, 18
#[test]
fn words_are_the_input_of_react_where_no_other_parameter_could_take_them() {
    for (q, takes) in params() {
        let schema =
            json!({ "type": "object", "properties": { "q": { "type": "string" }, "other": q } });
        let both = Declared::new().tool_schema("find", &schema).unwrap();
        let text = "Action: find\nAction Input: 휴가 정책";
        assert_eq!(line(&reads_all(both).parse(text)), "!malformed(find)", "{q}");
        if takes {
            let want = r#"find{"q":"휴가 정책"}"#;
            assert_eq!(line(&reads_all(declared(&q)).parse(text)), want);
        }
    }
}

proptest! {
    /// contract 18
    #[test]
    fn no_words_run_behind_a_mark_that_announces_json(
        at in 0..ANNOUNCED.len(),
        param in 0..5_usize,
        words in "[a-z가-힣][a-z0-9가-힣 .,!?_-]{0,40}",
    ) {
        let (open, close) = ANNOUNCED[at];
        let (q, _) = &params()[param];
        let reply = reads_all(declared(q)).parse(&format!("{open}{words}{close}"));
        prop_assert!(reply.calls.is_empty(), "{reply:?}");
    }
}
