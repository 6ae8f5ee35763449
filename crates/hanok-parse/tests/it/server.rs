//! What a model server needs: why the text ended, open reasoning, streams that take nothing back.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

use hanok_parse::{
    Declared, Deltas, ErrorKind, Event, Finish, FinishReason, Format, Formats, Language, Mistyped,
    NoteKind, Parser, Reasoning, Reply, SchemaError,
};
use serde_json::json;

use crate::support::{self, line, parser, reads_all};

/// The reply and all events of a text in pieces.
fn stream(parser: &Parser, text: &str, size: usize, finish: Finish) -> (Reply, Vec<Event>) {
    let (mut stream, mut events) = (parser.stream(), Vec::new());
    for piece in text.as_bytes().chunks(size) {
        stream.feed_bytes(piece, &mut events);
    }
    let reply = stream.finish_with(finish, &mut events);
    (reply, events)
}

/// contract 22
#[test]
fn what_has_no_end_of_its_own_is_truncated_where_there_was_no_room_for_more() {
    for (text, stopped, cut) in [
        ("Action: find\nAction Input: /home/us", "find{\"q\":\"/home/us\"}", "!truncated(find)"),
        ("Delegate: rag_agent\nTask: 조사", "@rag_agent:조사", "!truncated(rag_agent)"),
        ("Action: ping\n", "ping{}", "!truncated(ping)"),
        ("[f(a=1), g(b=2)", "f{\"a\":1} g{\"b\":2}", "!truncated"),
        ("Action: find\nAction Input: {\"q\": 1}", "find{\"q\":1}", "find{\"q\":1}"),
        ("Action: find\nAction Input: x\nThought: 음", "find{\"q\":\"x\"}", "find{\"q\":\"x\"}"),
        ("<tool_call>ping</tool_call>", "ping{}", "ping{}"),
        ("Final Answer: 네", "=네", "=네"),
    ] {
        assert_eq!(line(&parser().parse(text)), stopped, "{text}");
        for finish in [Finish::Length, Finish::Abort] {
            let reply = parser().parse_finished(text, finish);
            assert_eq!(line(&reply), cut, "{text}");
            assert_eq!(stream(&parser(), text, 3, finish).0, reply, "{text}");
        }
    }
}

#[test]
fn the_reason_for_the_end_says_what_a_client_may_rely_on() {
    let call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    for (text, finish, want) in [
        ("네", Finish::Stop, FinishReason::Stop),
        (call, Finish::Stop, FinishReason::ToolCalls),
        (call, Finish::Length, FinishReason::Length),
        ("네", Finish::Abort, FinishReason::Abort),
    ] {
        assert_eq!(parser().parse_finished(text, finish).finish, want, "{text}");
    }
}

/// contract 17
#[test]
fn reasoning_that_the_prompt_opened_is_told_as_such_from_the_beginning() {
    let parser = parser().in_reasoning();
    for (text, reasoning, want, content) in [
        ("음\nAction: f\nAction Input: {}</think>네", "음\nAction: f\nAction Input: {}", "", "네"),
        ("음</think>\nAction: f\nAction Input: {}", "음", "f{}", ""),
        ("음◁/think▷네", "음", "", "네"),
        ("음", "음", "", ""),
    ] {
        let (reply, events) = stream(&parser, text, 1, Finish::Stop);
        assert_eq!(reply, parser.parse(text), "{text}");
        assert_eq!(reply.reasoning.as_deref(), Some(reasoning), "{text}");
        assert_eq!((line(&reply).as_str(), reply.content.as_str()), (want, content), "{text}");
        assert!(!events.contains(&Event::Retracted), "{text}");
    }
}

/// contract 17: a second close mark is text, and swallows nothing.
#[test]
fn a_second_close_mark_swallows_nothing() {
    let call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    for (text, want, content) in [
        ("<think>a</think>서울은 맑습니다.</think>".to_owned(), "", "서울은 맑습니다."),
        (format!("<think>a</think>네.{call}</think>"), "f{}", "네."),
        (
            "<think>a</think>모델은 </think> 로 닫습니다".to_owned(),
            "",
            "모델은 </think> 로 닫습니다",
        ),
        ("<|channel>thought\na<channel|>네.<channel|>".to_owned(), "", "네."),
        ("a</think>네.</think>".to_owned(), "", "네."),
    ] {
        let reply = parser().parse(&text);
        assert_eq!((line(&reply).as_str(), reply.content.as_str()), (want, content), "{text}");
        support::stream::same(&parser(), &text, []);
    }
}

#[test]
fn a_committed_stream_takes_nothing_back() {
    let committed = parser().committed();
    for text in [
        "네.\n<tool_call>{\"name\": \"f\", \"arguments\": {\"q\": 1}}</tool_call>\n<tool_call>{\"name\": \"g\"",
        "알겠다.\nAction: f\nAction Input: {}\n</think>\nAction: g\nAction Input: {}",
        "Action: f\nAction Input: {\"a\": 1, \"a\": 2}",
        "Final Answer: 네",
    ] {
        for size in [1, 5, 1000] {
            let (reply, events) = stream(&committed, text, size, Finish::Stop);
            assert_eq!(reply, committed.parse(text), "{text}");
            let taken = |event: &Event| {
                matches!(
                    event,
                    Event::Retracted | Event::CallDropped { .. } | Event::ArgumentsReset { .. }
                )
            };
            assert!(!events.iter().any(taken), "{text}: {events:?}");
            let first = events.iter().position(|event| matches!(event, Event::CallStarted { .. }));
            let texts =
                |event: &Event| matches!(event, Event::Content { .. } | Event::Reasoning { .. });
            assert!(!events[first.unwrap_or(events.len())..].iter().any(texts), "{text}");
            let started = |event: &Event| match event {
                Event::CallStarted { call, name, .. } => Some((*call, name.clone())),
                _ => None,
            };
            let told: Vec<_> = events.iter().filter_map(started).collect();
            let want: Vec<_> =
                reply.calls.iter().map(|call| call.name.clone()).enumerate().collect();
            assert_eq!(told, want, "{text}");
        }
    }
    let stray = "Action: f\nAction Input: {}\n</think>\nAction: g\nAction Input: {}";
    assert_eq!(line(&committed.parse(stray)), "g{}");
    let (reply, events) = stream(&committed, "Final Answer: 15 days</think>", 4, Finish::Stop);
    assert_eq!(reply.answer.as_deref(), Some("15 days"));
    let said = events.iter().filter_map(|event| match event {
        Event::Answer { text } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(said.collect::<String>(), "15 days");
}

/// contract 22: reasoning that the end of the text cut off is cut, and one that was closed is whole.
#[test]
fn calls_that_are_promoted_know_why_the_text_ended() {
    let promoting = parser().reasoning(Reasoning::Promote);
    for (text, stopped, cut) in [
        ("<think>Action: find\nAction Input: /home/us", "find{\"q\":\"/home/us\"}", ""),
        (
            "<think>Action: find\nAction Input: /home</think>",
            "find{\"q\":\"/home\"}",
            "find{\"q\":\"/home\"}",
        ),
        ("<think>Action: find\nAction Input: {\"q\": 1}", "find{\"q\":1}", "find{\"q\":1}"),
    ] {
        for (finish, want) in [(Finish::Stop, stopped), (Finish::Length, cut), (Finish::Abort, cut)]
        {
            let reply = promoting.parse_finished(text, finish);
            assert_eq!(line(&reply), want, "{text}");
            assert_eq!(stream(&promoting, text, 3, finish).0, reply, "{text}");
        }
    }
}

/// contract 24
#[test]
fn a_value_that_contradicts_its_type_is_noted_and_may_be_refused() {
    let schema = json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "q": {"type": ["string", "null"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "list": {"$ref": "#/$defs/list"},
            "free": {},
        },
        "$defs": {"list": {"type": "array", "items": {"type": "string"}}},
    });
    let parser = reads_all(Declared::new().tool_schema("f", &schema).unwrap());
    let call =
        |args: &str| format!("<tool_call>{{\"name\":\"f\",\"arguments\":{args}}}</tool_call>");
    for (args, want, mistyped) in [
        (r#"{"n":3,"q":null,"either":"3","list":["a"],"free":{}}"#, None, false),
        (r#"{"n":"3"}"#, Some(r#"{"n":3}"#), true),
        (r#"{"n":" 3"}"#, None, true),
        (r#"{"n":"3.5"}"#, None, true),
        (r#"{"n":"12345678901234567890123"}"#, Some(r#"{"n":12345678901234567890123}"#), true),
        (r#"{"n":3.0}"#, None, false),
        (r#"{"q":3}"#, None, true),
        (r#"{"list":"[1]"}"#, None, true),
        (r#"{"other":1}"#, None, false),
        (r#"{"q":"a\"},","n":"7","free":"8"}"#, Some(r#"{"q":"a\"},","n":7,"free":"8"}"#), true),
    ] {
        let reply = parser.parse(&call(args));
        assert_eq!(reply.calls[0].arguments.as_str(), want.unwrap_or(args), "{args}");
        let noted = reply.notes.iter().any(|note| note.kind == NoteKind::Mistyped);
        assert_eq!(noted, mistyped, "{args}");
        support::stream::same(&parser, &call(args), []);

        let refused = parser.clone().mistyped(Mistyped::Refuse).parse(&call(args));
        let is_wrong = mistyped && want.is_none();
        assert_eq!(refused.calls.is_empty(), is_wrong, "{args}");
        let error = refused.error.map(|error| error.kind);
        assert_eq!(error, is_wrong.then_some(ErrorKind::Malformed), "{args}");
    }
    let text =
        "<function=f><parameter=q>007</parameter><parameter=either>007</parameter></function>";
    assert_eq!(parser.parse(text).calls[0].arguments.as_str(), r#"{"q":"007","either":"007"}"#);
}

/// contract 24: what stands in objects and lists is compared, too, as far as its schema is known for certain.
#[test]
fn a_value_within_another_that_contradicts_its_type_is_named_by_its_place() {
    let id = || json!({ "type": "object", "properties": { "id": { "type": "string" } } });
    let schema = json!({
        "type": "object",
        "properties": {
            "deep": {
                "type": "object",
                "properties": {
                    "n": { "type": "integer" },
                    "on": { "type": "boolean", "nullable": true },
                    "tree": { "$ref": "#/$defs/tree" },
                    "maybe": { "$ref": "#/$defs/tree", "nullable": true },
                },
            },
            "rows": { "type": "array", "items": { "$ref": "#/$defs/row" } },
            "grid": { "type": "array", "items": { "type": "array", "items": { "type": "number" } } },
            "one": { "anyOf": [id(), { "type": "null" }, { "type": "array", "items": id() }] },
            "either": { "oneOf": [id(), { "type": "object" }] },
            "parts": { "allOf": [id(), { "minProperties": 1 }] },
            "pair": { "type": "array", "prefixItems": [{ "type": "string" }], "items": { "type": "integer" } },
            "same": { "anyOf": [{ "type": "string", "const": "a" }, { "type": "string", "const": "b" }] },
            "bound": { "type": "object", "properties": { "a": { "type": "string" } }, "anyOf": [{ "required": ["a"] }] },
        },
        "$defs": {
            "row": { "type": "object", "properties": { "id": { "type": "string" }, "n": { "type": ["integer", "null"] } } },
            "tree": { "type": "object", "properties": { "v": { "type": "integer" }, "child": { "$ref": "#/$defs/tree" } } },
        },
    });
    let parser = reads_all(Declared::new().tool_schema("f", &schema).unwrap());
    let right: &[&str] = &[];
    for (args, want, paths) in [
        (r#"{"deep":{"n":3,"on":null,"tree":{"v":1},"maybe":null,"more":"x"}}"#, None, right),
        (r#"{"deep":{"n":"x"}}"#, None, &["deep.n"]),
        (r#"{"deep":{"n":"3"},"rows":[]}"#, Some(r#"{"deep":{"n":3},"rows":[]}"#), &["deep.n"]),
        (r#"{"deep":{"n":null}}"#, None, &["deep.n"]),
        (r#"{"deep":{"\u006e":[3]}}"#, None, &["deep.n"]),
        (r#"{"deep":{"tree":{"child":{"child":{"v":true}}}}}"#, None, &["deep.tree.child.child.v"]),
        (
            r#"{"rows":[{"id":"}],","n":null},{"id":7},{"n":true},[]]}"#,
            None,
            &["rows[1].id", "rows[2].n", "rows[3]"],
        ),
        (
            r#"{"rows":[{"id":"a","n":"7"},{"n":"8"}]}"#,
            Some(r#"{"rows":[{"id":"a","n":7},{"n":8}]}"#),
            &["rows[0].n", "rows[1].n"],
        ),
        (r#"{"grid":[[1,2.5],[],["x",1]],"deep":{}}"#, None, &["grid[2][0]"]),
        (r#"{"one":null}"#, None, right),
        (r#"{"one":{"id":7}}"#, None, &["one.id"]),
        (r#"{"one":[{"id":"a"},{"id":7}]}"#, None, &["one[1].id"]),
        (r#"{"one":"x"}"#, None, right),
        // It may be the other one.
        (r#"{"either":{"id":7}}"#, None, right),
        (r#"{"parts":{"id":7}}"#, None, &["parts.id"]),
        // What stands behind other items is not counted.
        (r#"{"pair":["a",1]}"#, None, right),
        (r#"{"same":7}"#, None, &["same"]),
        (r#"{"bound":[]}"#, None, &["bound"]),
        (r#"{"bound":{"a":7}}"#, None, &["bound.a"]),
        (
            r#"{"rows":[1,2,3,4,5,6,7,8,9]}"#,
            None,
            &[
                "rows[0]", "rows[1]", "rows[2]", "rows[3]", "rows[4]", "rows[5]", "rows[6]",
                "rows[7]",
            ],
        ),
    ] {
        let text = format!("Action: f\nAction Input: {args}\nObservation: 1");
        let reply = parser.parse(&text);
        assert_eq!(reply.calls[0].arguments.as_str(), want.unwrap_or(args), "{args}");
        let noted = reply.notes.iter().find(|note| note.kind == NoteKind::Mistyped);
        assert_eq!(noted.map(|note| note.paths.clone()).unwrap_or_default(), paths, "{args}");
        support::stream::same(&parser, &text, text.char_indices().map(|(at, _)| vec![at]));

        let refused = parser.clone().mistyped(Mistyped::Refuse).parse(&text);
        let is_wrong = !paths.is_empty() && want.is_none();
        assert_eq!(refused.calls.is_empty(), is_wrong, "{args}");
        let error = refused.error.map(|error| error.paths);
        assert_eq!(error.unwrap_or_default(), if is_wrong { paths } else { right }, "{args}");
    }
    let refused = parser.mistyped(Mistyped::Refuse);
    let error = refused.parse("Action: f\nAction Input: {\"rows\": [{\"id\": 7}]}").error.unwrap();
    assert_eq!(
        error.observation(refused.declared(), Language::English),
        "The input of the call to `f` has values of other types than its parameters (`rows[0].id`). Write each as its parameter's type says."
    );
    assert_eq!(
        error.observation(refused.declared(), Language::Korean),
        "호출 `f`의 값이 매개변수의 형식과 다릅니다 (`rows[0].id`). 값마다 매개변수의 형식대로 쓰세요."
    );
}

/// contract 24: each value by itself.
#[test]
fn a_number_in_a_string_is_one_beside_a_value_that_is_wrong() {
    let schema = json!({
        "properties": {
            "n": { "type": "integer" },
            "list": { "type": "array", "items": { "type": "integer" } },
        },
    });
    let parser = reads_all(Declared::new().tool_schema("f", &schema).unwrap());
    for (args, want, paths) in [
        (r#"{"n":"3","list":[]}"#, r#"{"n":3,"list":[]}"#, &["n"][..]),
        (r#"{"n":"3","list":"x"}"#, r#"{"n":3,"list":"x"}"#, &["n", "list"]),
        (
            r#"{"list":["1",true,"x",2]}"#,
            r#"{"list":[1,true,"x",2]}"#,
            &["list[0]", "list[1]", "list[2]"],
        ),
        (r#"{"n":"3.5","list":["4"]}"#, r#"{"n":"3.5","list":[4]}"#, &["n", "list[0]"]),
    ] {
        let text = format!("Action: f\nAction Input: {args}");
        let reply = parser.parse(&text);
        assert_eq!(reply.calls[0].arguments.as_str(), want, "{args}");
        assert_eq!(reply.notes[0].paths, paths, "{args}");
        support::stream::same(&parser, &text, text.char_indices().map(|(at, _)| vec![at]));
    }
    let refused = parser.mistyped(Mistyped::Refuse);
    let reply = refused.parse("Action: f\nAction Input: {\"n\": \"3\", \"list\": \"x\"}");
    assert_eq!(reply.rejected[0].arguments.as_str(), r#"{"n":"3","list":"x"}"#);
}

/// A schema of a stranger costs little, however its types hold each other, and arguments of any depth are compared as far as
/// it is known.
#[test]
fn a_schema_that_holds_itself_many_times_is_read_in_time() {
    let twice = |at: usize| {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        (format!("d{at}"), json!({ "anyOf": [next, next] }))
    };
    let mut defs: serde_json::Map<String, serde_json::Value> = (0..30).map(twice).collect();
    defs.insert("d30".to_owned(), json!({ "type": "string" }));
    defs.insert(
        "wide".to_owned(),
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/wide" }, "b": { "$ref": "#/$defs/wide" } } }),
    );
    defs.insert("list".to_owned(), json!({ "type": "array", "items": { "$ref": "#/$defs/list" } }));
    let schema = json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs });
    assert!(Declared::new().tool_schema("f", &schema).is_err());

    let inner = json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/d0" } } });
    let schema = json!({
        "properties": { "x": inner, "wide": { "$ref": "#/$defs/wide" }, "list": { "$ref": "#/$defs/list" } },
        "$defs": defs,
    });
    let parser = reads_all(Declared::new().tool_schema("f", &schema).unwrap());
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let flat = vec!["[7]"; 10_000].join(",");
    for (args, mistyped) in [
        (format!("{{\"list\":{deep}}}"), false),
        (format!("{{\"list\":[{flat}]}}"), true),
        ("{\"x\":{\"x\":7},\"wide\":{\"a\":{\"b\":{}}}}".to_owned(), false),
        ("{\"wide\":{\"a\":{\"b\":7}}}".to_owned(), true),
    ] {
        let reply = parser.parse(&format!("Action: f\nAction Input: {args}"));
        assert_eq!(reply.calls[0].arguments.as_str(), args);
        assert_eq!(reply.notes.len(), usize::from(mistyped), "{:?}", reply.notes);
    }
}

#[test]
fn a_schema_that_leads_nowhere_says_where() {
    for (schema, want) in [
        (json!("x"), "the schema of `f` is no object with `properties`"),
        (json!({"type": "array"}), "the schema of `f` is no object with `properties`"),
        (
            json!({"properties": {"a": {"$ref": "#/x"}}}),
            "the schema of `f` refers to `#/x`, which is not in it",
        ),
        (
            json!({"properties": {"a": {"$ref": "#/properties/a"}}}),
            "the schema of `f` refers to itself, or is nested too deep",
        ),
    ] {
        let error: SchemaError = Declared::new().tool_schema("f", &schema).unwrap_err();
        assert_eq!(error.to_string(), want);
    }
}

#[test]
fn the_id_that_a_format_carries_is_kept() {
    for (text, id) in [
        (
            "<|tool_call_begin|>functions.f:3<|tool_call_argument_begin|>{}<|tool_call_end|>",
            Some("functions.f:3"),
        ),
        ("[TOOL_CALLS]f[CALL_ID]aB3[ARGS]{}", Some("aB3")),
        (
            "<|START_ACTION|>[{\"tool_call_id\": \"7\", \"tool_name\": \"f\", \"parameters\": {}}]<|END_ACTION|>",
            Some("7"),
        ),
        (
            "<|tool_call:begin|>b4<|tool_call:name|>f<|tool_call:args|>{}<|tool_call:end|>",
            Some("b4"),
        ),
        (
            "{\"tool_calls\": [{\"id\": \"c1\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]}",
            Some("c1"),
        ),
        ("Action: f\nAction Input: {}", None),
    ] {
        let reply = parser().parse(text);
        assert_eq!(line(&reply), "f{}", "{text}");
        assert_eq!(reply.calls[0].id.as_deref(), id, "{text}");
    }
}

#[test]
fn a_named_tool_needs_nothing_but_its_arguments() {
    let parser = parser().named("find");
    for (text, want) in [
        ("{\"q\": \"Action: f\"}", "find{\"q\":\"Action: f\"}"),
        ("<think>음</think>\n```json\n{\"q\": 1}\n```", "find{\"q\":1}"),
        ("{\"q\": 1", "!truncated(find)"),
        ("Action: f\nAction Input: {}", "!missing_input(find)"),
        ("", "!missing_input(find)"),
    ] {
        assert_eq!(line(&parser.parse(text)), want, "{text}");
        support::stream::same(&parser, text, []);
    }
}

#[test]
fn a_template_says_which_formats_are_written() {
    for (template, format, other) in [
        (
            "<tool_call>\n{\"name\": <function-name>, \"arguments\": <args>}\n</tool_call>",
            Format::Hermes,
            Format::Glm45,
        ),
        ("<tool_call>{name}<arg_key>{k}</arg_key>", Format::Glm47, Format::React),
        ("{{'<|tool_call:start|>'}}", Format::SolarOpen2, Format::SolarOpen),
        ("<|channel|>analysis<|message|>", Format::Harmony, Format::Hermes),
        ("<tool_calls>…</tool_calls> <answer>…</answer>", Format::HunyuanA13b, Format::Ernie45),
        ("<tool_call>…</tool_call> <response>…</response>", Format::Ernie45, Format::HunyuanA13b),
        ("<|start_of_role|>assistant … <tool_call>…</tool_call>", Format::Granite4, Format::Xlam),
        ("[{\"name\": \"tool_call_name\", \"arguments\": {…}}]", Format::Xlam, Format::React),
        ("Thought: …\nAction: …\nclick(start_box='…')", Format::UiTars, Format::React),
        ("Action:\n{\n  \"name\": \"final_answer\", …", Format::Smolagents, Format::UiTars),
        ("[Calling tool: f({…})]", Format::CallingTool, Format::Hermes),
        // Llama 4, both ways to say it.
        ("Use exact format: [func_name1(param1=value1, …)]", Format::Pythonic, Format::Lfm2),
        ("<|header_start|> … [func_name1(param1=value1), …]", Format::Pythonic, Format::Hermes),
        // Command R+.
        (
            "'Action:' and a list:\n```json\n[{\"tool_name\": …, \"parameters\": …}]```",
            Format::Smolagents,
            Format::Cohere,
        ),
        // GigaChat 3 and 3.5.
        ("sep=\"<|role_sep|>\" … 'function call' + sep", Format::Gigachat3, Format::Hermes),
        ("'<｜GCML｜tool_calls>\\n'", Format::Gigachat3, Format::DeepseekV4),
        // SmolLM3, whose words stand in a string.
        (
            "{{ \"<tool_call>\\n{\\\"name\\\": …, \\\"arguments\\\": …}\\n</tool_call>\" }}",
            Format::Hermes,
            Format::ToolInputXml,
        ),
        (
            "xml_tools … \"<tool_call>{\\\"arguments\\\": {}}</tool_call>\" … python_tools",
            Format::Hermes,
            Format::Glm45,
        ),
        // LFM 2 and 2.5.
        ("\"List: <|tool_list_start|>[\"", Format::Lfm2, Format::Pythonic),
        ("<|im_start|>system\\n \"List of tools: \" + tools", Format::Lfm2, Format::Pythonic),
        // Sarashina's vision models.
        ("<|available_tools|>[…]</s><|assistant|>", Format::Sarashina, Format::SolarOpen),
        // Hy3.
        ("{% set HYTK = ':x' %}{{ '<tool_sep' + HYTK }}", Format::HyV3, Format::Glm45),
        ("{% set HYTK = ':x' %}{{ '<tool_sep' + HYTK }}", Format::HyV4, Format::Glm45),
    ] {
        let formats = Formats::of_template(template);
        assert!(formats.contains(format) && !formats.contains(other), "{template}: {formats:?}");
    }
    assert!(Formats::of_template("{{ messages }}").is_empty());
    // What stands around the answer is not shown.
    let formats = Formats::of_template("<tool_calls>…</tool_calls> <answer>…</answer>");
    let reply = reads_all(Declared::new()).formats(formats).parse("<answer>네</answer>");
    assert_eq!(reply.content, "네");
}

/// contract 23
#[test]
fn what_looks_like_a_call_of_no_format_is_text_with_a_note() {
    for (text, noted) in [
        ("<my_tool_call>{\"name\": \"f\"}</my_tool_call>", true),
        ("<|new_tool|>f", true),
        ("[use tool f {\"q\": 1}]", true),
        ("`<my_tool_call>` 는 태그입니다", false),
        ("<b>tool</b> [tool]", false),
    ] {
        let reply = parser().parse(text);
        let is_noted = reply.notes.iter().any(|note| note.kind == NoteKind::UnknownMark);
        assert_eq!((is_noted, reply.content.as_str()), (noted, text), "{text}");
        support::stream::same(&parser(), text, text.char_indices().map(|(at, _)| vec![at]));
    }
}

/// contract 19
#[test]
fn an_action_that_names_nothing_is_no_action() {
    for none in ["None", "none", "N/A", "없음", "-", "`None`"] {
        for (behind, want) in [
            ("\nFinal Answer: 네", "=네"),
            ("\nAction Input: None\nFinal Answer: 네", "=네"),
            ("", ""),
        ] {
            let text = format!("Thought: 음\nAction: {none}{behind}");
            assert_eq!(line(&parser().parse(&text)), want, "{text}");
            support::stream::same(&parser(), &text, []);
        }
    }
}

#[test]
fn replies_and_events_are_read_back() {
    for text in [
        "음</think>네.\nAction: f\nAction Input: {'a': 1,}\nFinal Answer: x",
        "Action: nope\nAction Input: {\"q\": 12345678901234567890123}",
        "<tool_call>{\"name\": \"f\", ",
    ] {
        let (reply, events) = stream(&parser(), text, 4, Finish::Stop);
        let json = serde_json::to_string(&reply).unwrap();
        assert_eq!(serde_json::from_str::<Reply>(&json).unwrap(), reply, "{json}");
        let json = serde_json::to_string(&events).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Event>>(&json).unwrap(), events, "{json}");
    }
    assert!(serde_json::from_str::<hanok_parse::Arguments>("\"{\"").is_err());
}

#[test]
fn deltas_count_calls_without_a_hole() {
    let text = "네.<tool_call>{\"name\": \"f\", \"arguments\": {\"q\": 1}}</tool_call>\
                <tool_call>{\"name\": \"nope\", \"arguments\": {}}</tool_call>\
                <tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>";
    let (_, events) = stream(&parser().committed(), text, 2, Finish::Stop);
    let mut deltas = Deltas::with_ids("req-1-");
    let sent: Vec<_> = events.iter().filter_map(|event| deltas.delta(event)).collect();
    let calls: Vec<_> = sent.iter().flat_map(|delta| &delta.tool_calls).collect();
    let ids: Vec<_> =
        calls.iter().filter_map(|call| Some((call.index, call.id.as_deref()?))).collect();
    assert_eq!(ids, [(0, "req-1-0"), (1, "req-1-1")]);
    let content: String = sent.iter().filter_map(|delta| delta.content.as_deref()).collect();
    assert_eq!(content, "네.");
}

/// contract 13: the id that a text gives a call is told with its name, however the text is cut.
#[test]
fn ids_are_told_when_calls_begin() {
    let kimi = "<|tool_calls_section_begin|><|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>{\"q\": 1}\
                <|tool_call_end|><|tool_calls_section_end|>";
    let solar = "<|tool_call:begin|>b4f8<|tool_call:name|>find<|tool_call:args|>{\"q\": 1}<|tool_call:end|>";
    let cohere = "<|START_ACTION|>[{\"tool_call_id\": \"7\", \"tool_name\": \"find\", \"parameters\": {\"q\": 1}}]<|END_ACTION|>";
    let late = "{\"name\": \"find\", \"arguments\": {\"q\": 1}, \"id\": \"7\"}";
    let openai = "{\"tool_calls\": [{\"id\": \"7\", \"function\": {\"name\": \"find\", \"arguments\": \"{}\"}}]}";
    for (text, want, committed) in [
        (kimi, Some("functions.find:0"), "functions.find:0"),
        ("[TOOL_CALLS]find[CALL_ID]aB3[ARGS]{\"q\": 1}", Some("aB3"), "aB3"),
        (solar, Some("b4f8"), "b4f8"),
        (openai, Some("7"), "7"),
        // What may come behind the arguments is not told before them.
        (cohere, None, "7"),
        (late, None, "7"),
    ] {
        let parser = reads_all(Declared::new().tool("find"));
        for (parser, want) in [(parser.clone(), want), (parser.committed(), Some(committed))] {
            for (cut, _) in text.char_indices() {
                let (mut stream, mut events) = (parser.stream(), Vec::new());
                stream.feed(&text[..cut], &mut events);
                stream.feed(&text[cut..], &mut events);
                let reply = stream.finish(&mut events);
                assert_eq!(reply.calls[0].id.as_deref(), Some(committed), "{text}");
                let ids: Vec<_> = events
                    .iter()
                    .filter_map(|event| match event {
                        Event::CallStarted { id, .. } => Some(id.as_deref()),
                        _ => None,
                    })
                    .collect();
                assert_eq!(ids, [want], "{text} {cut}");
                let mut deltas = Deltas::new();
                let first = events.iter().find_map(|event| deltas.delta(event));
                let id = first.and_then(|delta| delta.tool_calls.into_iter().next()?.id);
                assert_eq!(id.as_deref(), Some(want.unwrap_or("call_0")), "{text} {cut}");
            }
        }
    }
}

/// contract 10: where values are elements, those in objects and lists have the types of the schema, too.
#[test]
fn values_in_objects_and_lists_have_the_types_of_their_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "deep": {
                "type": ["object", "null"],
                "properties": { "code": { "type": "string" }, "n": { "type": "integer" }, "tree": { "$ref": "#/$defs/tree" } },
            },
            "list": { "type": "array", "items": { "type": "string" } },
            "rows": { "type": "array", "items": { "type": "object", "properties": { "id": { "type": "string" } } } },
            "either": { "anyOf": [{ "type": "null" }, { "type": "object", "properties": { "id": { "type": "string" } } }] },
            "lost": { "type": "object", "properties": { "id": { "$ref": "#/$defs/nowhere" } } },
        },
        "$defs": { "tree": { "type": "object", "properties": { "name": { "type": "string" }, "child": { "$ref": "#/$defs/tree" } } } },
    });
    let parser = reads_all(Declared::new().tool_schema("find", &schema).unwrap());
    let call = |inner: &str| {
        let inner = inner.replace('<', "]<]minimax[>[<");
        format!("]<]minimax[>[<invoke name=\"find\">{inner}]<]minimax[>[</invoke>")
    };
    for (inner, want) in [
        (
            "<deep><code>7</code><n>7</n><other>7</other></deep>",
            r#"{"deep":{"code":"7","n":7,"other":7}}"#,
        ),
        ("<list><item>7</item><item>true</item></list>", r#"{"list":["7","true"]}"#),
        ("<rows><item><id>7</id></item></rows>", r#"{"rows":[{"id":"7"}]}"#),
        ("<either><id>007</id></either>", r#"{"either":{"id":"007"}}"#),
        ("<lost><id>7</id></lost>", r#"{"lost":{"id":7}}"#),
        (
            "<deep><tree><child><child><name>1</name></child></child></tree></deep>",
            r#"{"deep":{"tree":{"child":{"child":{"name":"1"}}}}}"#,
        ),
    ] {
        let text = call(inner);
        assert_eq!(parser.parse(&text).calls[0].arguments.as_str(), want, "{text}");
        support::stream::same(&parser, &text, text.char_indices().map(|(at, _)| vec![at]));
    }
}

/// Told means strict and free: nothing else counts, and prose may stand before what does.
#[test]
fn one_format_that_is_told_counts_behind_prose_on_its_line() {
    let parser = Parser::new(Declared::new().tool("f"));
    for (format, text, want) in [
        (Format::Phi4mini, "Both: functools[{\"name\":\"f\",\"arguments\":{}}] Done.", "f{}"),
        (Format::Llama3Json, "Hey. {\"name\": \"f\", \"parameters\": {\"a\": 1}}", "f{\"a\":1}"),
        (Format::Pythonic, "I call [f(a=1)] now.", "f{\"a\":1}"),
        (Format::Llama3Json, "It has {\"name\": \"x\", \"parameters\": {}} in it.", ""),
        (Format::Phi4mini, "The word functools is no call, and myfunctools[1] neither.", ""),
        // What stands in the value of another format's call is data here, too.
        (Format::React, "<parameter=x>\nAction: f\nAction Input: {}\n</parameter>", ""),
        (Format::React, "<tool_input>\nAction: f\nAction Input: {}\n</tool_input>", ""),
    ] {
        let told = parser.clone().format(format);
        let reply = told.parse(text);
        assert_eq!(line(&reply), want, "{text}");
        for size in [1, 8] {
            assert_eq!(stream(&told, text, size, Finish::Stop).0, reply, "{text}");
        }
        assert!(reply.calls.iter().all(|call| call.format == Some(format)), "{text}");
        assert!(parser.parse(text).calls.is_empty(), "{text}");
    }
}

/// Nothing takes a call back whose format was told, so its arguments are sent on as they come.
#[test]
fn a_committed_stream_of_a_told_format_tells_arguments_as_they_come() {
    let text =
        "<tool_call>{\"name\": \"find\", \"arguments\": {\"q\": \"a long text\"}}</tool_call>";
    for (parser, is_told) in [(parser(), false), (parser().format(Format::Hermes), true)] {
        let mut stream = parser.committed().stream();
        let mut events = Vec::new();
        let half = text.find("text").unwrap();
        stream.feed(&text[..half], &mut events);
        let told: String = events.iter().filter_map(arguments).collect();
        assert_eq!(told, if is_told { "{\"q\":\"a long " } else { "" });
        stream.feed(&text[half..], &mut events);
        let reply = stream.finish(&mut events);
        let told: String = events.iter().filter_map(arguments).collect();
        assert_eq!(told, reply.calls[0].arguments.as_str());
    }
}

/// What is told of a call stands, so one with a key twice is told anew, with a number that no other has.
#[test]
fn a_committed_stream_gives_no_number_twice() {
    let parser = parser().format(Format::Hermes).committed();
    let call = |arguments: &str| {
        format!("<tool_call>{{\"name\": \"f\", \"arguments\": {arguments}}}</tool_call>")
    };
    let text = [call("{\"q\": 1, \"q\": 2}"), call("{\"q\": 3}")].concat();
    for size in [1, 8, 1000] {
        let (reply, events) = stream(&parser, &text, size, Finish::Stop);
        assert_eq!(line(&reply), "f{\"q\":2} f{\"q\":3}");
        assert!(!events.iter().any(|event| matches!(event, Event::ArgumentsReset { .. })));
        let (mut numbers, mut dropped) = (Vec::new(), Vec::new());
        for event in &events {
            match event {
                Event::CallStarted { call, .. } => numbers.push(*call),
                Event::CallDropped { call } => dropped.push(*call),
                _ => {}
            }
        }
        assert!(numbers.is_sorted_by(|one, next| one < next), "{events:?}");
        let kept = numbers.iter().filter(|number| !dropped.contains(number));
        for (number, call) in kept.zip(&reply.calls) {
            let told = events.iter().filter_map(|event| match event {
                Event::Arguments { call, json } if call == number => Some(json.as_str()),
                _ => None,
            });
            assert_eq!(told.collect::<String>(), call.arguments.as_str());
        }
        assert_eq!(numbers.len() - dropped.len(), reply.calls.len());
    }
}

fn arguments(event: &Event) -> Option<&str> {
    match event {
        Event::Arguments { json, .. } => Some(json),
        _ => None,
    }
}

/// A bad item of a list is told, and takes no good one with it.
#[test]
fn a_list_keeps_its_good_calls() {
    let parser = reads_all(Declared::new().tool("f"));
    for (text, want) in [
        ("[f(a=1), nope(b=2)]", "f{\"a\":1} !unknown_tool(nope)"),
        ("[{\"name\":\"f\"},{\"name\":\"x\"}]", ""),
        ("[nope(b=2), f(a=1)]", ""),
    ] {
        assert_eq!(line(&parser.parse(text)), want, "{text}");
    }
}
