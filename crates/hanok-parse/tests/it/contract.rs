//! What the parser promises for any text, rule by rule.

use hanok_parse::{Declared, Language, NoteKind, Reasoning};

use crate::support::{self, check, declared, line, parser, read, reads_all};

/// contract 1
#[test]
fn a_label_counts_at_the_start_of_a_line() {
    for label in [
        "Action: f\nAction Input: {}",
        "  Action: f\n\tAction Input: {}",
        "- Action: f\n- Action Input: {}",
        "* Action: f\n* Action Input: {}",
        "1. Action: f\n2. Action Input: {}",
        "### Action: f\n### Action Input: {}",
        "**Action**: **f**\n__Action Input__: {}",
        "Action 1: f\nAction Input 1: {}",
        "Action1: f\nAction_Input1: {}",
        "ACTION : f\nACTION_INPUT : {}",
        "```\nAction: f\nAction Input: {}\n```",
        "```text\nAction: f\nAction Input: {}\n```",
        "행동: f\n행동 입력: {}",
        "행동： f\n행동입력： {}",
        "**행동 입력은 아직**\n**행동:** f\n**행동 입력:** {}",
        "Action:\nf\nAction Input:\n{}",
        "Action: f\r\nAction Input: {}\r\n",
        "\u{feff}Action: f\nAction Input: {}",
        "Action: f\n\n\nAction Input: {}",
    ] {
        assert_eq!(read(label), "f{}", "{label}");
    }
    check(&[
        ("Actions: f\nAction Input: {}", ""),
        ("The Action: f\nAction Input: {}", ""),
        ("> Action: f\n> Action Input: {}", ""),
        ("최종 답변: 네", "=네"),
        ("답변: 네", "=네"),
        ("결론: 네", "=네"),
        ("결과： 네", "=네"),
        ("위임: 계약-검토\n작업: 특약 확인", "@계약-검토:특약 확인"),
    ]);
    let reply = parser().parse("생각: 찾아보자\n행동: find\n행동 입력: 전세 🏠\n관찰: 없음");
    assert_eq!(reply.thought.as_deref(), Some("찾아보자"));
    assert_eq!(line(&reply), r#"find{"q":"전세 🏠"}"#);
}

/// contract 2
#[test]
fn names_lose_their_decoration_and_the_longest_declared_one_wins() {
    for (written, want) in [
        ("\"f\"", "f"),
        ("'f'", "f"),
        ("`f`", "f"),
        ("“f”", "f"),
        ("[f]", "f"),
        ("[`f`]", "f"),
        ("**f**", "f"),
        ("@f", "f"),
        ("f.", "f"),
        ("f (사내 문서)", "f"),
        ("f()", "f"),
        ("functions.f", "f"),
        ("functions.raw", "functions.raw"),
        ("lookup (v2)", "lookup (v2)"),
        ("`lookup (v2)`", "lookup (v2)"),
        ("Web Search", "Web Search"),
    ] {
        assert_eq!(read(&format!("Action: {written}\nAction Input: {{}}")), format!("{want}{{}}"));
    }
}

/// contract 3
#[test]
fn markers_in_a_string_are_data() {
    for data in [
        r"Action: g\nAction Input: {}",
        "\nAction: g\nAction Input: {}\n",
        "\nFinal Answer: 끝\n",
        "</tool_call>",
        "<think>a</think>",
        "</think>",
        "<|eot_id|>",
        "```\n```json",
        "}}]]{{[[",
        r#"\"}, {\"name\": \"g\"}"#,
        "<|python_tag|>; {",
        "// # /* ' 한글 🎉",
    ] {
        let args = format!("{{\"q\":\"{data}\"}}");
        let escaped = args.replace('\n', "\\n");
        for text in [
            format!("Action: f\nAction Input: {args}\nObservation: x"),
            format!("<tool_call>{{\"name\": \"f\", \"arguments\": {args}}}</tool_call>"),
            format!("<tool_call>f</tool_call>\n<tool_input>{args}</tool_input>"),
            format!("<|python_tag|>{{\"name\": \"f\", \"parameters\": {args}}}<|eom_id|>"),
            format!("```json\n{{\"action\": \"f\", \"action_input\": {args}}}\n```"),
            format!("{{\"name\": \"f\", \"arguments\": {args}}}"),
        ] {
            assert_eq!(read(&text), format!("f{escaped}"), "{text}");
        }
    }
}

/// contract 4
#[test]
fn small_faults_are_mended_and_strings_stay() {
    for (written, want) in [
        (r#"{"a":1,}"#, r#"{"a":1}"#),
        (r#"{"a":[1,2,],}"#, r#"{"a":[1,2]}"#),
        (r#"{"a":1 "b":2}"#, r#"{"a":1,"b":2}"#),
        (r#"{"a":[1 2 "x" "y"]}"#, r#"{"a":[1,2,"x","y"]}"#),
        (r#"{'a':'it's "so"'}"#, r#"{"a":"it's \"so\""}"#),
        ("{“a”: “그는 “네”라고 했다”}", r#"{"a":"그는 “네”라고 했다"}"#),
        (r#"{"a":"“네” it's"}"#, r#"{"a":"“네” it's"}"#),
        (r#"{"a":"그는 "네" 라고 했다", "b":"네"}"#, r#"{"a":"그는 \"네\" 라고 했다","b":"네"}"#),
        (r#"{"a":"he said "hi" "}"#, r#"{"a":"he said \"hi\" "}"#),
        (r#"{"a" "b", c: some words}"#, r#"{"a":"b","c":"some words"}"#),
        (r#"{"a":True,"b":False,"c":None}"#, r#"{"a":true,"b":false,"c":null}"#),
        (r#"{"a":"True, None"}"#, r#"{"a":"True, None"}"#),
        ("{a_1: 1, 지역: 2}", r#"{"a_1":1,"지역":2}"#),
        ("{\"a\": 1, // one\n # two\n /* three } */ \"b\": 2}", r#"{"a":1,"b":2}"#),
        (r#"{"a":"http://x.kr/#b /* c */"}"#, r#"{"a":"http://x.kr/#b /* c */"}"#),
        ("{\"a\":\"x\ty\nz\u{1}\"}", r#"{"a":"x\ty\nz\u0001"}"#),
        (r#"{"a":"\d+\.\ "}"#, r#"{"a":"\\d+\\.\\ "}"#),
        (r#"{"a":"it\'s"}"#, r#"{"a":"it's"}"#),
        (r#"{"a":"\u12"}"#, r#"{"a":"\\u12"}"#),
        (r#"{"a":"\ud83c\udf89 \ud83c!"}"#, r#"{"a":"\ud83c\udf89 \\ud83c!"}"#),
        (r#"{"a":"\u00e9\/"}"#, r#"{"a":"\u00e9\/"}"#),
        (r#"{{"a":{{"b":1}}}}"#, r#"{"a":{"b":1}}"#),
        (r#"{{"a":{"b":1}}}"#, r#"{"a":{"b":1}}"#),
        (r#"{"a":1}}}]"#, r#"{"a":1}"#),
        (r#"{"a":[{"b":1}]} 이렇게 찾는다"#, r#"{"a":[{"b":1}]}"#),
        ("{\n  \"a\" : [ 1 , { } ]\n}", r#"{"a":[1,{}]}"#),
    ] {
        let reply = parser().parse(&format!("Action: f\nAction Input: {written}"));
        assert_eq!(line(&reply), format!("f{want}"), "{written}");
        serde_json::from_str::<serde_json::Value>(want).unwrap();
    }
    for bad in [
        r#"{"a":[1,2}"#,
        r#"{"a" 1}"#,
        r#"{"a":}"#,
        r#"{"a":01}"#,
        r#"{"a":+1}"#,
        r#"{"a":undefined}"#,
        "{휴가 정책}",
    ] {
        assert_eq!(read(&format!("Action: f\nAction Input: {bad}")), "!malformed(f)", "{bad}");
    }
}

/// contract 4
#[test]
fn a_missing_closer_is_mended_only_before_the_formats_own_end() {
    check(&[
        (r#"<tool_call>{"name": "f", "arguments": {"q": 1}</tool_call>"#, r#"f{"q":1}"#),
        (r#"<tool_call>{"name": "f", "arguments": {"q": [1, 2</tool_call>"#, r#"f{"q":[1,2]}"#),
        (r#"<tool_call>f</tool_call><tool_input>{"q": 1</tool_input>"#, r#"f{"q":1}"#),
        ("```json\n{\"action\": \"f\", \"action_input\": {\"q\": 1}\n```", r#"f{"q":1}"#),
        (r#"<|python_tag|>{"name": "f", "parameters": {"q": 1}<|eom_id|>"#, r#"f{"q":1}"#),
        ("Action: f\nAction Input: {\"q\": 1\nObservation: 2", r#"f{"q":1}"#),
        ("Action: f\nAction Input: {\"q\": 1\nAction: g\nAction Input: {}", "g{} !malformed(f)"),
        (r#"<tool_call>{"name": "f", "arguments": {"q": "x</tool_call>"#, "!truncated(f)"),
        (r#"<tool_call>{"name": "f", "arguments": {"q":</tool_call>"#, "!malformed(f)"),
    ]);
}

/// contract 4
#[test]
fn a_repair_is_noted() {
    let reply = parser().parse("Action: f\nAction Input: {'q': 1}");
    assert_eq!(reply.notes.len(), 1);
    assert_eq!((reply.notes[0].kind, reply.notes[0].span.clone()), (NoteKind::Repaired, 24..32));
    assert!(parser().parse("Action: f\nAction Input: {\"q\": 1}").notes.is_empty());
}

/// contract 5
#[test]
fn a_call_that_breaks_off_is_dropped_and_earlier_ones_stay() {
    check(&[
        ("Action: f\nAction Input: {}\nAction: g\nAction Input: {\"q\": ", "f{} !truncated(g)"),
        (
            r#"<|python_tag|>{"name": "f", "parameters": {}}; {"name": "g", "par"#,
            "f{} !truncated(g)",
        ),
        (r#"[{"name": "f", "arguments": {}}, {"name": "g", "arg"#, "f{} !truncated(g)"),
        (
            r#"<tool_call>{"name": "f", "arguments": {}}</tool_call><tool_call>{"na"#,
            "f{} !truncated",
        ),
        ("Action: f", "!truncated(f)"),
        ("Delegate: rag_agent", "!truncated(rag_agent)"),
        ("Final Answer:", "!truncated"),
        // The value is complete, its wrapper is not.
        (r#"<tool_call>{"name": "f", "arguments": {}}"#, "f{}"),
        (r#"<tool_call>{"name": "f", "arguments": {}}</tool_c"#, "f{}"),
        (r#"<tool_call>f</tool_call><tool_input>{"q": 1}"#, r#"f{"q":1}"#),
        ("```json\n{\"name\": \"f\", \"arguments\": {}}", "f{}"),
        (r#"[{"name": "f", "arguments": {}}"#, "f{}"),
    ]);
}

/// contract 6
#[test]
fn reasoning_yields_neither_call_nor_answer_nor_content() {
    let reply = parser().parse("<thinking>Final Answer: 초안</thinking>\n안녕하세요");
    assert_eq!((reply.answer, reply.content.as_str()), (None, "안녕하세요"));
    assert_eq!(reply.reasoning.as_deref(), Some("Final Answer: 초안"));

    let stray = "알겠다.\nAction: f\nAction Input: {}\nObservation: 3\n</think>\nAction: g\nAction Input: {}";
    let reply = parser().parse(stray);
    assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("g{}", ""));
    assert_eq!(
        reply.reasoning.as_deref(),
        Some("알겠다.\nAction: f\nAction Input: {}\nObservation: 3")
    );
    assert_eq!(reply.notes.iter().map(|note| note.kind).collect::<Vec<_>>(), [NoteKind::Retracted]);

    check(&[
        ("Final Answer: 초안\n</think>\nFinal Answer: 진짜", "=진짜"),
        (
            "<think>a <think> b </think>\nAction: g\nAction Input: {}\n</think>Action: f\nAction Input: {}",
            "f{}",
        ),
        ("<think>Action: f\nAction Input: {}", ""),
        ("Final Answer: 태그는 `</think>` 입니다", "=태그는 `</think>` 입니다"),
        ("Action: f\n<think>음</think>\nAction Input: {}", "f{}"),
    ]);
}

/// contract 6, 14
#[test]
fn a_call_in_reasoning_counts_only_when_promoted_and_nothing_follows() {
    let promote = parser().reasoning(Reasoning::Promote);
    for (text, ignored, promoted) in [
        ("<think>음\nAction: f\nAction Input: {}</think>", "", "f{}"),
        ("<think>{\"name\": \"f\", \"arguments\": {}}", "", "f{}"),
        ("<think>Action: f\nAction Input: {}</think>네", "", ""),
        ("<think>Final Answer: 네</think>", "", ""),
        ("<think>Action: g\nAction Input: {}</think>Action: f\nAction Input: {}", "f{}", "f{}"),
    ] {
        assert_eq!(read(text), ignored, "{text}");
        assert_eq!(line(&promote.parse(text)), promoted, "{text}");
    }
    let text = "<think>음\nAction: f\nAction Input: {}</think>";
    assert_eq!(
        promote.parse(text).calls[0].span,
        text.find("Action").unwrap()..text.find("</").unwrap()
    );
}

/// contract 7
#[test]
fn what_follows_a_call_does_not_count() {
    for invented in
        ["Observation: 3", "관찰: 3", "<tool_response>3</tool_response>", "<|im_start|>user\n3"]
    {
        let text =
            format!("Action: f\nAction Input: {{}}\n{invented}\nAction: g\nAction Input: {{}}");
        let reply = parser().parse(&text);
        assert_eq!(line(&reply), "f{}", "{text}");
        assert_eq!(reply.notes[0].kind, NoteKind::InventedObservation);
        assert_eq!(text.get(reply.notes[0].span.clone()).unwrap().find(invented), Some(0));
    }
    let reply = parser().parse("Action: f\nAction Input: {}\nFinal Answer: 3");
    assert_eq!(line(&reply), "f{}");
    assert_eq!(
        (reply.notes[0].kind, reply.notes[0].span.clone()),
        (NoteKind::DroppedAnswer, 27..42)
    );
    check(&[
        ("Action: nope\nAction Input: {}\nFinal Answer: 3", "!unknown_tool(nope)"),
        ("Action: f\nFinal Answer: 3", "!missing_input(f)"),
        (
            "Action: f\nAction Input: {}\nAction: ping\nAction Input: {}\nAction: g\nAction Input: {}",
            "f{} ping{} g{}",
        ),
        ("Observation: 지난 결과\nFinal Answer: 네", "=네"),
    ]);
}

/// contract 8
#[test]
fn an_answer_is_everything_up_to_a_thought() {
    check(&[
        (
            "Final Answer: 하나\n\nAction: f\nAction Input: {}",
            "=하나\n\nAction: f\nAction Input: {}",
        ),
        ("Final Answer: 하나\nThought: 더 할까\nAction: f\nAction Input: {}", "=하나"),
        ("Final Answer: 하나 Thought: 둘", "=하나 Thought: 둘"),
        (
            "Final Answer: <tool_call>{\"name\": \"f\"}</tool_call>",
            "=<tool_call>{\"name\": \"f\"}</tool_call>",
        ),
        ("Final Answer:\n\n  네  \n\n", "=네"),
        ("Final Answer: 가<|im_end|>나</s>", "=가나"),
        ("Final Answer: a < b </p> <|other|>", "=a < b </p> <|other|>"),
        ("```\nFinal Answer: 네\n```", "=네"),
        ("```\nFinal Answer: 코드\n```rust\nx\n```\n```", "=코드\n```rust\nx\n```"),
        (r#"{"action": "Final Answer", "action_input": "네\n둘"}"#, "=네\n둘"),
        ("```json\n{\"action\": \"Final Answer\", \"action_input\": \"네\"}\n```", "=네"),
        ("Action: Final Answer\nAction Input: 네", "=네"),
        (
            "Action:\n```json\n{\"action\": \"Final Answer\", \"action_input\": \"네\"}\n```\nAction: f\nAction Input: {}",
            "=네",
        ),
    ]);
}

/// contract 9
#[test]
fn an_undeclared_name_is_an_error_behind_a_marker_and_text_without_one() {
    check(&[
        ("Action: nope\nAction Input: {}", "!unknown_tool(nope)"),
        (r#"<tool_call>{"name": "nope", "arguments": {}}</tool_call>"#, "!unknown_tool(nope)"),
        (r#"<tool_call>nope</tool_call><tool_input>{}</tool_input>"#, "!unknown_tool(nope)"),
        (r#"<|python_tag|>{"name": "nope", "parameters": {}}"#, "!unknown_tool(nope)"),
        ("Delegate: nope\nTask: x", "!unknown_agent(nope)"),
        (
            r#"<|python_tag|>{"name": "f", "parameters": {}}; {"name": "nope", "parameters": {}}; {"name": "g", "parameters": {}}"#,
            "f{} g{} !unknown_tool(nope)",
        ),
    ]);
    check(&[
        (
            r#"<|python_tag|>{"name": "f", "parameters": {"a" 1}}; {"name": "g", "parameters": {}}"#,
            "g{} !malformed(f)",
        ),
        (
            r#"<tool_call>[{"name": "f", "arguments": {"a": x"}"}}, {"name": "g", "arguments": {}}]</tool_call>"#,
            "g{} !malformed(f)",
        ),
        (
            "<tool_call>{bad}</tool_call>\n<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>",
            "g{} !malformed",
        ),
        ("Action: f\nAction Input: {\"a\" 1}\nAction: g\nAction Input: {}", "g{} !malformed(f)"),
    ]);
    for text in [
        r#"{"name": "nope", "arguments": {}}"#,
        "```json\n{\"name\": \"nope\", \"arguments\": {}}\n```",
        "```json\n{\"action\": \"nope\", \"action_input\": {}}\n```",
        r#"[{"name": "홍길동", "age": 3}, {"name": "f", "age": 4}]"#,
        r#"{"name": "f", "description": "a tool", "parameters": {"type": "object"}}"#,
        r#"{"name": "f"}"#,
        r#"{"name": "f", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}"#,
        r#"{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}"#,
        "```json\n[\n  {\"id\": 1},\n  {\"name\": \"f\", \"arguments\": {}}\n]\n```",
        "[\"a\",\n{\"name\": \"f\", \"arguments\": {}}]",
        "[1, [2, None],\n{\"name\": \"f\", \"arguments\": {\"a\": \"]\"}},\n\n{\"name\": \"g\", \"arguments\": {}}]",
        "[{\"id\": 1},\n{\"name\": \"f\", \"arguments\": {}}",
        "{unfinished prose",
        "```python\nprint({'name': 1})\n```",
    ] {
        support::stream::same(&parser(), text, text.char_indices().map(|(at, _)| vec![at]));
        let reply = parser().parse(text);
        assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("", text));
    }
    let reply = parser().parse("Action: nope\nAction Input: {\"q\": 1}");
    assert_eq!(reply.rejected.len(), 1);
    assert_eq!(
        (reply.rejected[0].name.as_str(), reply.rejected[0].arguments.as_str()),
        ("nope", r#"{"q":1}"#)
    );
    assert_eq!(Some(&reply.rejected[0].error), reply.error.as_ref());
}

/// contract 10
#[test]
fn arguments_keep_digits_and_order_and_the_last_of_two_keys() {
    for (written, want) in [
        (r#"{"n":123456789012345678901234567890}"#, r#"{"n":123456789012345678901234567890}"#),
        (
            r#"{"n":0.10000000000000000000001,"m":1E400,"k":-0}"#,
            r#"{"n":0.10000000000000000000001,"m":1E400,"k":-0}"#,
        ),
        (r#"{"z":1,"a":2,"m":3}"#, r#"{"z":1,"a":2,"m":3}"#),
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#),
        (
            r#"{"a":{"x":1,"x":2},"b":0,"a":{"y":1,"y":{"z":1,"z":2}}}"#,
            r#"{"b":0,"a":{"y":{"z":2}}}"#,
        ),
        (r#"{"a":1,"\u0061":2}"#, r#"{"\u0061":2}"#),
    ] {
        assert_eq!(read(&format!("Action: f\nAction Input: {written}")), format!("f{want}"));
        let hermes = format!(r#"<tool_call>{{"name": "f", "arguments": {written}}}</tool_call>"#);
        assert_eq!(read(&hermes), format!("f{want}"));
    }
    check(&[
        (
            r#"<tool_call>{"name": "f", "arguments": "{\"q\": \"a\\nb\"}"}</tool_call>"#,
            r#"f{"q":"a\nb"}"#,
        ),
        (r#"{"action": "f", "action_input": "{'q': 1}"}"#, r#"f{"q":1}"#),
        (
            r#"{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"q\":1}"}},{"function":{"name":"g","arguments":"{}"}}]}"#,
            r#"f{"q":1} g{}"#,
        ),
        (r#"{"function_call": {"name": "f", "arguments": "{}"}}"#, "f{}"),
    ]);
}

/// contract 11
#[test]
fn text_needs_a_string_and_nothing_needs_a_tool_without_parameters() {
    check(&[
        ("Action: find\nAction Input: 휴가 정책\nObservation: x", r#"find{"q":"휴가 정책"}"#),
        ("Action: find\nAction Input: \"휴가\"", r#"find{"q":"휴가"}"#),
        ("Action: find\nAction Input: 5", r#"find{"q":"5"}"#),
        ("Action: find\nAction Input:\n```\n휴가\n```", r#"find{"q":"휴가"}"#),
        ("Action: find\nAction Input: 두\n줄\nThought: 끝", r#"find{"q":"두\n줄"}"#),
        (r#"{"action": "find", "action_input": "휴가"}"#, r#"find{"q":"휴가"}"#),
        (r#"<tool_call>find</tool_call><tool_input>휴가</tool_input>"#, "!malformed(find)"),
        (r#"<tool>find</tool><tool_input>휴가</tool_input>"#, r#"find{"q":"휴가"}"#),
        ("Action: plan\nAction Input: 휴가", "!malformed(plan)"),
        ("Action: f\nAction Input: 휴가", "!malformed(f)"),
        ("Action: ping\nAction Input: 휴가", "!malformed(ping)"),
        ("Action: ping\nAction Input:", "ping{}"),
        ("Action: ping\nAction Input: None", "ping{}"),
        ("Action: ping\nAction Input: {}", "ping{}"),
        ("Action: ping\n", "ping{}"),
        (r#"<tool_call>ping</tool_call>"#, "ping{}"),
        (r#"<tool_call>{"name": "ping"}</tool_call>"#, "ping{}"),
        (r#"<tool_call>{"name": "ping", "arguments": null}</tool_call>"#, "ping{}"),
        ("Action: find\nAction Input: None", "!missing_input(find)"),
        ("Action: find\n{\"q\": 1}", "!missing_input(find)"),
        ("Action: find<|eot_id|>", "!missing_input(find)"),
        ("Action: find\n**Action In", "!truncated(find)"),
        ("Action: ping\nAction In", "!truncated(ping)"),
        ("Action: f\nAction Input: `{\"q\": 1}`", r#"f{"q":1}"#),
        ("Action: find\nAction Input: `a` 와 `b`", r#"find{"q":"`a` 와 `b`"}"#),
        ("Action: find\nAction Input:\nObservation: 1", "!missing_input(find)"),
        (r#"<tool_call>{"name": "find"}</tool_call>"#, "!missing_input(find)"),
    ]);
}

/// contract 12, 14
#[test]
fn delegations_are_calls() {
    check(&[
        (
            "내부 검색이 필요합니다.\n\nDelegate: rag_agent\nTask: 휴가 정책 문서를 검색",
            "@rag_agent:휴가 정책 문서를 검색",
        ),
        (
            "Delegate: rag_agent\nTask: 하나\nDelegate: 계약\nTask: 둘\n- 결과: 표로",
            "@rag_agent:하나 @계약:둘\n- 결과: 표로",
        ),
        ("Delegate: rag_agent\nTask: 하나\nFinal Answer: 둘", "@rag_agent:하나"),
        (
            "Final Answer: 하나\nDelegate: rag_agent\nTask: 둘",
            "=하나\nDelegate: rag_agent\nTask: 둘",
        ),
        (
            "Delegate: rag_agent\nTask: 하나\nObservation: 둘\nDelegate: 계약\nTask: 셋",
            "@rag_agent:하나",
        ),
        ("Delegate: rag_agent\nTask:", "!missing_input(rag_agent)"),
        ("Delegate: rag_agent\n\n", "!missing_input(rag_agent)"),
        ("```\nDelegate: rag_agent\nTask: 하나\n```", "@rag_agent:하나"),
        ("Task: 혼자", ""),
    ]);
}

/// contract 14
#[test]
fn a_name_in_the_wrong_case_is_unknown_and_the_right_one_is_suggested() {
    check(&[
        ("Action: Find\nAction Input: {}", "!unknown_tool(Find)?find"),
        ("Action: web_search\nAction Input: {}", "!unknown_tool(web_search)?Web Search"),
        ("Action: search_kb\nAction Input: {}", "!unknown_tool(search_kb)?search-kb"),
        ("Delegate: Rag_Agent\nTask: x", "!unknown_agent(Rag_Agent)?rag_agent"),
    ]);
}

/// P32
#[test]
fn look_alikes_and_hidden_characters_are_refused() {
    for name in ["fіnd", "find\u{200b}", "fi\u{0}nd", "\u{202e}dnif", "ｆind", "fi\u{ad}nd"] {
        for parser in [parser(), reads_all(Declared::any())] {
            let reply = parser.parse(&format!("Action: {name}\nAction Input: {{}}"));
            let visible = matches!(name, "fіnd" | "ｆind");
            let allowed = parser.declared().tools().next().is_none() && visible;
            assert_eq!(reply.calls.len(), usize::from(allowed), "{name:?}");
            let shown =
                reply.error.map(|error| error.observation(parser.declared(), Language::English));
            assert!(
                !shown.unwrap_or_default().contains(['\u{200b}', '\u{0}', '\u{202e}', '\u{ad}'])
            );
        }
    }
}

#[test]
fn with_unknown_names_every_well_formed_call_counts() {
    let any = reads_all(Declared::any());
    for (text, want) in [
        ("Action: `무엇이든`\nAction Input: {}", "무엇이든{}"),
        (r#"{"name": "x", "arguments": {}}"#, "x{}"),
        ("Delegate: y\nTask: z", "@y:z"),
        ("Action: x\nAction Input: 글", "!malformed(x)"),
    ] {
        assert_eq!(line(&any.parse(text)), want, "{text}");
    }
}

#[test]
fn content_is_the_text_around_calls() {
    for (text, want) in [
        (
            "찾아볼게요.\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>\n잠시만요.",
            "찾아볼게요.\n\n잠시만요.",
        ),
        ("네.\n```json\n{\"name\": \"f\", \"arguments\": {}}\n```\n끝.", "네.\n\n끝."),
        ("네.\n{\"name\": \"f\", \"arguments\": {}}\n[참고] 끝.", "네.\n\n[참고] 끝."),
        (
            "코드:\n```rust\nfn main() {}\n```\n끝<|eot_id|>",
            "코드:\n```rust\nfn main() {}\n```\n끝",
        ),
        ("```json\n{\"a\": 1}\n```", "```json\n{\"a\": 1}\n```"),
        ("<tool_call> 태그를 쓰면 됩니다.", "<tool_call> 태그를 쓰면 됩니다."),
        ("a < b 이고 <b>c</b>", "a < b 이고 <b>c</b>"),
    ] {
        assert_eq!(parser().parse(text).content, want, "{text}");
    }
}

#[test]
fn every_error_is_a_sentence_in_two_languages() {
    let declared = Declared::new().tool("find").agent("rag_agent");
    let parser = reads_all(declared);
    for (text, display, english, korean) in [
        (
            "Action: fnd\nAction Input: {}",
            "no tool `fnd` is declared; the nearest is `find`",
            "There is no tool `fnd`. Did you mean `find`? The tools are: `find`.",
            "`fnd` 도구는 없습니다. 혹시 `find` 말인가요? 쓸 수 있는 도구: `find`.",
        ),
        (
            "Delegate: zzz\nTask: x",
            "no agent `zzz` is declared",
            "There is no agent `zzz`. The agents are: `rag_agent`.",
            "`zzz` 에이전트는 없습니다. 쓸 수 있는 에이전트: `rag_agent`.",
        ),
        (
            "Action: find\nAction Input: {",
            "the text ends inside a call to `find`",
            "Your reply broke off inside the call to `find`, so nothing was run. Write the whole call again, shorter.",
            "답변이 호출 `find` 도중에 끊겨 아무것도 실행하지 않았습니다. 호출 전체를 더 짧게 다시 쓰세요.",
        ),
        (
            "Action: find\nAction Input: {x}",
            "the input of a call to `find` is not a JSON object",
            "The input of the call to `find` could not be read. Give one valid JSON object.",
            "호출 `find`의 입력을 읽을 수 없습니다. 올바른 JSON 객체 하나를 쓰세요.",
        ),
        (
            "Action: find\nAction Input: None",
            "a call to `find` has no input",
            "The call to `find` has no input. Give its arguments as a JSON object.",
            "호출 `find`에 입력이 없습니다. 인자를 JSON 객체로 쓰세요.",
        ),
        (
            "Delegate: rag_agent\nTask:",
            "a delegation to `rag_agent` has no task",
            "The delegation to `rag_agent` has no task. Write `Task:` and what to do after it.",
            "위임 `rag_agent`에 작업이 없습니다. `Task:` 뒤에 할 일을 쓰세요.",
        ),
    ] {
        let error = parser.parse(text).error.unwrap();
        let said = (
            error.to_string(),
            error.observation(parser.declared(), Language::English),
            error.observation(parser.declared(), Language::Korean),
        );
        assert_eq!(said, (display.to_owned(), english.to_owned(), korean.to_owned()));
    }
}

#[test]
fn the_first_error_is_the_first_in_the_text() {
    let reply = parser().parse(
        "Action: nope\nAction Input: {}\nAction: find\nAction Input:\nAction: g\nAction Input: {}",
    );
    assert_eq!(line(&reply), "g{} !unknown_tool(nope)");
    let codes: Vec<_> = reply.rejected.iter().map(|bad| bad.error.kind.code()).collect();
    assert_eq!(codes, ["unknown_tool", "missing_input"]);
    assert!(declared().tools().any(|tool| tool == "g"));
}
