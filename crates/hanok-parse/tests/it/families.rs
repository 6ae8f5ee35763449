//! What each family of formats does at its edges.

use hanok_parse::{Declared, Format, NoteKind, Parser};

use crate::forms::declared;
use crate::support::{self, line, reads_all};

/// Every text gives its line, whole and in bytes.
fn check(parser: &Parser, cases: &[(&str, &str)]) {
    for (text, want) in cases {
        assert_eq!(line(&parser.parse(text)), *want, "{text}");
        support::stream::same(parser, text, []);
    }
}

fn reads(cases: &[(&str, &str)]) {
    check(&reads_all(declared()), cases);
}

/// contract 10
#[test]
fn values_between_tags_have_the_type_of_their_parameter() {
    let call = |params: &str| format!("<tool_call><function=find>{params}</function></tool_call>");
    for (params, want) in [
        ("<parameter=q>true</parameter>", r#"{"q":"true"}"#),
        ("<parameter=q>1e5</parameter>", r#"{"q":"1e5"}"#),
        ("<parameter=q>null</parameter>", r#"{"q":"null"}"#),
        ("<parameter=q>{\"a\": 1}</parameter>", r#"{"q":"{\"a\": 1}"}"#),
        ("<parameter=q>&lt;b&gt;</parameter>", r#"{"q":"&lt;b&gt;"}"#),
        ("<parameter=q>\n\n a \n\n</parameter>", r#"{"q":"\n a \n"}"#),
        ("<parameter=q>\r\na\r\n</parameter>", r#"{"q":"a"}"#),
        ("<parameter=q></parameter>", r#"{"q":""}"#),
        ("<parameter=n>12345678901234567890123</parameter>", r#"{"n":12345678901234567890123}"#),
        ("<parameter=n> -3 </parameter>", r#"{"n":-3}"#),
        ("<parameter=n>셋</parameter>", r#"{"n":"셋"}"#),
        ("<parameter=on>True</parameter>", r#"{"on":true}"#),
        ("<parameter=on>yes</parameter>", r#"{"on":"yes"}"#),
        ("<parameter=list>['a', 1, None]</parameter>", r#"{"list":["a",1,null]}"#),
        ("<parameter=deep>{\"a\": 1</parameter>", r#"{"deep":"{\"a\": 1"}"#),
        ("<parameter=other>7</parameter>", r#"{"other":7}"#),
        ("<parameter=other>칠</parameter>", r#"{"other":"칠"}"#),
        ("<parameter=q>a</parameter><parameter=q>b</parameter>", r#"{"q":"b"}"#),
        ("", "{}"),
    ] {
        reads(&[(&call(params), &format!("find{want}"))]);
    }
}

/// contract 3, 18
#[test]
fn a_close_mark_in_a_string_of_an_object_closes_nothing() {
    reads(&[
        (
            "<tool: function>\nfind {\"q\":\"</tool>\"}\n</tool><tool: find> {\"q\":\"b\"}</tool>",
            r#"find{"q":"</tool>"} find{"q":"b"}"#,
        ),
        ("<tool: find>{\"q\": \"a</tool> b\"}</tool>", r#"find{"q":"a</tool> b"}"#),
        (
            "<tool>find</tool><tool_input>{\"q\":\"a</tool_input>\"}</tool_input>",
            r#"find{"q":"a</tool_input>"}"#,
        ),
        // A block of a program is no object, and goes on to its close mark.
        ("<tool: find>\n{ echo a; }\n</tool>", r#"find{"q":"{ echo a; }"}"#),
    ]);
    // However far away an object stands, it is read alike whole and in pieces.
    for blanks in [0, 1, 900, 1_010, 1_016, 1_017, 1_018, 1_019, 1_020, 1_030, 3_000] {
        for between in ["", "{"] {
            let far =
                format!("<tool: find>{between}{}{{\"q\":\"</tool>\"}}</tool>", " ".repeat(blanks));
            support::stream::same(&reads_all(declared()), &far, []);
        }
        let far = format!("<tool: find> {{{}\"q\":\"</tool>\"}}</tool>", "\n".repeat(blanks));
        support::stream::same(&reads_all(declared()), &far, []);
    }
}

/// contract 3, 4, 5
#[test]
fn a_close_tag_counts_where_the_format_goes_on() {
    reads(&[
        // In the text of a value it is text.
        (
            "<function=find><parameter=q>a</parameter> b </function> c</parameter></function>",
            r#"find{"q":"a</parameter> b </function> c"}"#,
        ),
        (
            "<tool_call>find<arg_key>q</arg_key><arg_value>a</arg_value>b</tool_call>c</arg_value></tool_call>",
            r#"find{"q":"a</arg_value>b</tool_call>c"}"#,
        ),
        (
            "<invoke name=\"find\"><parameter name=\"q\">a</parameter>b</parameter></invoke>",
            r#"find{"q":"a</parameter>b"}"#,
        ),
        // It may be missing before the end of the call and its wrapper.
        ("<tool_call><function=find><parameter=q>\na\n</function></tool_call>", r#"find{"q":"a"}"#),
        ("<tool_call><function=find><parameter=q>a</parameter></tool_call>", r#"find{"q":"a"}"#),
        // It may be missing before another declared parameter on a line of its own.
        (
            "<function=find>\n<parameter=q>\na\n<parameter=n>\n1\n</parameter>\n</function>",
            r#"find{"q":"a","n":1}"#,
        ),
        (
            "<function=find>\n<parameter=q>\na\n<parameter=x>\n1\n</parameter>\n</function>",
            r#"find{"q":"a\n<parameter=x>\n1"}"#,
        ),
        // Nothing says that these are whole.
        ("<function=find><parameter=q>a</parameter>", "!truncated(find)"),
        ("<function=find><parameter=q>a</function>", "!truncated(find)"),
        ("<tool_call>find<arg_key>q</arg_key><arg_value>a</tool_call>", "!truncated(find)"),
        ("<function=find><parameter=q", "!truncated(find)"),
        // What is not of the format ends at the call's end, and takes no other call with it.
        ("<function=find>noise</function><function=ping></function>", "ping{} !malformed(find)"),
        (
            "<invoke name=\"find\"><param>x</param></invoke><invoke name=\"ping\"></invoke>",
            "ping{} !malformed(find)",
        ),
    ]);
}

/// contract 10
#[test]
fn tags_may_hold_json_and_attributes_any_quotes() {
    reads(&[
        ("<function=find>{\"q\": \"a</function>\"}</function>", r#"find{"q":"a</function>"}"#),
        (
            "<｜DSML｜tool_calls><｜DSML｜invoke name=\"find\">{\"q\": 1}</｜DSML｜invoke></｜DSML｜tool_calls>",
            r#"find{"q":1}"#,
        ),
        (
            "<｜DSML｜invoke name=\"find\"><｜DSML｜parameter name=\"q\" string=\"false\">7</｜DSML｜parameter></｜DSML｜invoke>",
            r#"find{"q":7}"#,
        ),
        (
            "<｜DSML｜invoke name=\"find\"><｜DSML｜parameter name=\"n\" string=\"true\">7</｜DSML｜parameter></｜DSML｜invoke>",
            // contract 24: exactly one number, where a number is declared.
            r#"find{"n":7}"#,
        ),
        ("<invoke name='find'><parameter name=q>a</parameter></invoke>", r#"find{"q":"a"}"#),
        (
            "<|open|>call tool=\"find\"<|sep|><|open|>argument key=\"a&quot;&amp;\" type=\"number\"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|>",
            r#"find{"a\"&":1}"#,
        ),
        (
            "<minimax:tool_call><invoke name=\"find\"><parameter name=\"q\">&amp;</parameter></invoke></minimax:tool_call>",
            r#"find{"q":"&amp;"}"#,
        ),
    ]);
}

/// contract 3, 4, 9
#[test]
fn python_is_read_like_python() {
    reads(&[
        (
            r#"<|python_start|>[find(q='it\'s "so"\n', n=-1)]<|python_end|>"#,
            r#"find{"q":"it's \"so\"\n","n":-1}"#,
        ),
        (r#"<|python_start|>[find(q="""a "b" c""")]<|python_end|>"#, r#"find{"q":"a \"b\" c"}"#),
        (r#"<|python_start|>[find(q='''a'b''')]<|python_end|>"#, r#"find{"q":"a'b"}"#),
        (r#"<|python_start|>[find(q='', n=1)]<|python_end|>"#, r#"find{"q":"","n":1}"#),
        (r#"<|python_start|>[find(q="\x41\u00e9\d")]<|python_end|>"#, r#"find{"q":"Aé\\d"}"#),
        (
            r#"<|python_start|>[find(list=(1, 2,), deep={'a': (True, None)},)]<|python_end|>"#,
            r#"find{"list":[1,2],"deep":{"a":[true,null]}}"#,
        ),
        (r#"<|python_start|>[find(q=")],[")]<|python_end|>"#, r#"find{"q":")],["}"#),
        ("<|python_start|>[]<|python_end|>", ""),
        ("<|python_start|>ping()<|python_end|>", "ping{}"),
        ("<|python_start|>[{\"name\": \"ping\", \"arguments\": {}}]<|python_end|>", "ping{}"),
        ("<|python_tag|>crm.search-kb.call(q=\"x\")", r#"crm.search-kb{"q":"x"}"#),
        ("<|python_tag|>print(1)", "!malformed(print)"),
        ("<|python_start|>[find(\"x\")]<|python_end|>", "!malformed(find)"),
        ("<|python_start|>[find(q=open('/etc'))]<|python_end|>", "!malformed(find)"),
        ("[find(q=\"x\"), ping()]", r#"find{"q":"x"} ping{}"#),
        ("[find(q=\"x\"),\n ping()]\n", r#"find{"q":"x"} ping{}"#),
        ("네: [find(q=\"x\")] 입니다.", r#"find{"q":"x"}"#),
        (
            r#"<|python_start|>[find(a=+2, b=0x1f, c=1_000, d=r"\d\"", e="a" 'b', f=.5, g=-0b11)]<|python_end|>"#,
            r#"find{"a":2,"b":31,"c":1000,"d":"\\d\\\"","e":"ab","f":0.5,"g":-3}"#,
        ),
        ("<|python_start|>[find(q=\"a\nb\")]<|python_end|>", r#"find{"q":"a\nb"}"#),
        ("[crm.search-kb(\"서울\")]", r#"crm.search-kb{"q":"서울"}"#),
        ("[find({\"q\": True})]", r#"find{"q":true}"#),
        ("[find(q=\"x\"), ping(", "find{\"q\":\"x\"} !truncated(ping)"),
    ]);
    let parser = reads_all(declared());
    for prose in [
        "`[find(q=\"x\")]` is how you call it.",
        "[find(q=\"x\")] and [ping()] are calls.",
        "[find(x) = 3]",
        "[find] it",
        "[other(q=\"x\")]",
        "[find(q=\"x\") and more",
        "[1, 2] [find](http://x.kr)",
        "```python\nresults = [find(q=\"x\")]\n```",
        "```python\nprint(1, [find(q=\"x\")])\n```",
        "results = [find(q=\"x\")]",
        "return [find(q=\"x\")]",
        "foo([find(q=\"x\")])",
        "for x in [find(q=\"x\")]:\n    pass",
        "a[find(q=\"x\")]",
        "[find(q=\"x\")](http://x.kr)",
        "이것은 [find(q=\"x\")](http://x.kr) 입니다.",
    ] {
        support::stream::same(&parser, prose, prose.char_indices().map(|(at, _)| vec![at]));
        let reply = parser.parse(prose);
        assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("", prose));
    }
}

/// contract 6, 7, 8
#[test]
fn messages_of_channels_are_reasoning_answers_and_calls() {
    reads(&[
        ("<|channel|>final<|message|>네, 15일입니다.<|return|>", "=네, 15일입니다."),
        (
            "<|channel|>analysis<|message|>음<|end|><|start|>assistant<|channel|>final<|message|>네",
            "=네",
        ),
        (
            "<|channel|>commentary to=functions.find<|message|>{\"q\": 1}<|call|><|start|>functions.find to=assistant<|channel|>commentary<|message|>3<|end|><|start|>assistant<|channel|>commentary to=functions.ping<|message|>{}<|call|>",
            r#"find{"q":1}"#,
        ),
        ("<|channel|>commentary to=functions.nope<|message|>{}<|call|>", "!unknown_tool(nope)"),
        ("<|channel|>commentary to=python<|message|>print(1)<|call|>", "!unknown_tool(python)"),
        (
            "<|channel|>commentary to=functions.find <|constrain|>json<|message|>{\"q\": ",
            "!truncated(find)",
        ),
        ("<|channel|>commentary to=functions.fi", "!truncated"),
        ("<|channel|>final<|message|>", "!truncated"),
    ]);
    let text = "<|channel|>analysis<|message|>I must not write <|call|> or <|channel|>final.<|end|>\
                <|start|>assistant<|channel|>commentary<|message|>먼저 찾겠습니다.<|end|>\
                <|start|>assistant to=functions.ping<|channel|>commentary json<|message|>{}<|call|>";
    let reply = reads_all(declared()).parse(text);
    assert_eq!(reply.reasoning.as_deref(), Some("I must not write <|call|> or <|channel|>final."));
    assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("ping{}", "먼저 찾겠습니다."));
}

/// contract 3, 5, 6, 9: Beam's tags behind a header, and what one of them holds.
#[test]
fn parameters_in_tags_stand_behind_a_header() {
    let beam = |head: &str, body: &str| format!("{head} to=find<|channel|>analysis{body}");
    let q = "<rfl:parameter name=\"q\">a</rfl:parameter>";
    let n = "<rfl:parameter  name='n'>7</rfl:parameter>";
    let page = "[ping()]</rfl:parameter> <|channel|>commentary to=ping<|message|>{}<|call|>";
    for head in ["", "<|start|>assistant"] {
        for (body, want) in [
            (format!(" <|constrain|>xml<|message|>{q}\n{n}<|call|>"), r#"find{"q":"a","n":7}"#),
            (format!("<|message|>\n{q}\n<|end|>"), r#"find{"q":"a"}"#),
            (
                format!("<|message|>{q}<|start|>assistant to=ping<|message|><|call|>"),
                r#"find{"q":"a"} ping{}"#,
            ),
            (format!("<|message|>{q}<|end|><|channel|>final<|message|>네"), r#"find{"q":"a"}"#),
            ("<|message|><|call|>".to_owned(), "!missing_input(find)"),
            ("<|message|>{\"q\": \"a\"}<|call|>".to_owned(), r#"find{"q":"a"}"#),
            (format!("<|message|>{q}noise<|call|>"), "!truncated(find)"),
            (
                "<|message|><rfl:parameter id=1>a</rfl:parameter><|call|>".to_owned(),
                "!malformed(find)",
            ),
            (format!("<|message|>{q}"), "!truncated(find)"),
            ("<|message|><rfl:para".to_owned(), "!truncated(find)"),
            (format!("<|message|><rfl:parameter name=\"q\">{page}"), "!truncated(find)"),
        ] {
            reads(&[(&beam(head, &body), want)]);
            check(&reads_all(declared()).format(Format::Harmony), &[(&beam(head, &body), want)]);
        }
    }
}

/// contract 6
#[test]
fn each_model_has_reasoning_marks_of_its_own() {
    for (open, close) in [
        ("<think>", "</think>"),
        ("<seed:think>", "</seed:think>"),
        ("<longcat_think>", "</longcat_think>"),
        ("[THINK]", "[/THINK]"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("◁think▷", "◁/think▷"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("<|channel>thought\n", "<channel|>"),
        ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        ("<think:1f>", "</think:1f>"),
        ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    ] {
        let parser = reads_all(declared());
        for text in [
            format!("{open}Action: ping\nAction Input: {{}}{close}네"),
            format!("Action: ping\nAction Input: {{}}{close}네"),
        ] {
            let reply = parser.parse(&text);
            assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("", "네"), "{text}");
            let thought = reply.reasoning.unwrap_or_default();
            assert_eq!(thought, "Action: ping\nAction Input: {}", "{text}");
            support::stream::same(&parser, &text, []);
        }
    }
}

/// contract 2, 4, 9
#[test]
fn names_between_tokens_lose_what_the_format_adds() {
    reads(&[
        (
            "<|tool_call_begin|>functions.find:12<|tool_call_argument_begin|>{}<|tool_call_end|>",
            "find{}",
        ),
        ("<|tool_call_begin|>find:0 <|tool_call_argument_begin|> {} <|tool_call_end|>", "find{}"),
        (
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n```json\n{\"q\": \"```\"}\n```<｜tool▁call▁end｜>",
            r#"find{"q":"```"}"#,
        ),
        ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n{}<｜tool▁call▁end｜>", "find{}"),
        ("<｜tool▁calls▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁calls▁end｜>", "ping{}"),
        ("[TOOL_CALLS]find{\"q\": \"[TOOL_CALLS]\"}", r#"find{"q":"[TOOL_CALLS]"}"#),
        (
            "[TOOL_CALLS] [{\"arguments\": {\"name\": \"x\"}, \"name\": \"find\"}]",
            r#"find{"name":"x"}"#,
        ),
        ("[TOOL_CALLS]find[ARGS]{\"q\": 1", "!truncated(find)"),
        (
            "<|tool_call_begin|>find<|tool_call_argument_begin|>[1]<|tool_call_end|>",
            "!malformed(find)",
        ),
        ("<|tool_call_begin|>ping<|tool_call_argument_begin|><|tool_call_end|>", "ping{}"),
        (
            "<|START_ACTION|>[{\"tool_name\": \"nope\", \"parameters\": {}}, {\"tool_name\": \"ping\", \"parameters\": {}}]<|END_ACTION|>",
            "ping{} !unknown_tool(nope)",
        ),
        (
            "<|tools_prefix|>[{\"find\": {\"name\": \"x\"}}, {\"ping\": {}}]<|tools_suffix|>",
            r#"find{"name":"x"} ping{}"#,
        ),
        (
            "<|tool_call>call:find{q:<|\"|>a}, b:<|\"|>,key with space:1.5e-05}<tool_call|>",
            r#"find{"q":"a}, b:","key with space":1.5e-05}"#,
        ),
        ("<|tool_call>call:find no brace<tool_call|>", "!malformed"),
        (
            "<|tool_calls_section_begin|> noise <|tool_call_begin|>ping:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
            "ping{}",
        ),
        // Its own close mark is there, also where `<tool_input>` might have come.
        ("<tool_call>find</tool_call>", "find{}"),
        ("<tool_call>find</tool_call>\n<tool_in", "!truncated(find)"),
        ("<tool_call>find</tool_call>\n끝", "find{}"),
        ("<tool_call>ping\n</tool_call>", "ping{}"),
    ]);
    let glm = reads_all(Declared::new().tool("f")).format(hanok_parse::Format::Glm47);
    assert_eq!(line(&glm.parse("<tool_call>f</tool_call>")), "f{}");
}

/// contract 9
#[test]
fn a_mark_that_is_talked_about_is_text() {
    let parser = reads_all(declared());
    for prose in [
        "`<tool_call>` 태그를 씁니다.",
        "`<think>`는 추론입니다.",
        "<function=x 라고 쓰면 안 됩니다",
        "제네릭 Vec<T>와 <div>, a[TOOL], [0]",
        "functools는 파이썬 모듈입니다.",
        "function call은 함수 호출입니다.",
        "<invoke the spirits>",
        "★ ✿ ◁ 꽃",
    ] {
        let reply = parser.parse(prose);
        assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("", prose));
        support::stream::same(&parser, prose, []);
    }
}

/// contract 6, 9: what servers and templates of this year write in forms that are known.
#[test]
fn forms_of_known_formats_are_read_as_their_models_write_them() {
    reads(&[
        // GLM 5.3, with the name as it is displayed before, and with a line break.
        ("네.<tool_call>find>{\"q\": \"a\"}<tool_call>ping>{}", r#"find{"q":"a"} ping{}"#),
        ("<tool_call>Search/find>{\"q\": \"a\"}</tool_call>", r#"find{"q":"a"}"#),
        ("<tool_call>find\n{\"q\": \"a\"}\n</tool_call>", r#"find{"q":"a"}"#),
        ("<tool_call>fynd>{}", "!unknown_tool(fynd)?find"),
        ("<tool_call>find>{\"q\": ", "!truncated(find)"),
        ("<tool_call>이라는 태그 뒤에 {가 옵니다.", ""),
        ("<tool_call> and then x>{y}", ""),
        // GLM where the chat template wrote the first mark.
        ("find\n<arg_key>q</arg_key>\n<arg_value>a</arg_value>\n</tool_call>", r#"find{"q":"a"}"#),
        ("ping</tool_call>\n<tool_call>ping</tool_call>", "ping{} ping{}"),
        ("find<arg_key>q</arg_key><arg_va", "!truncated(find)"),
        ("fynd<arg_key>q</arg_key><arg_value>a</arg_value></tool_call>", ""),
        ("find it. <arg_key>", ""),
        ("네, find<arg_key>q</arg_key><arg_value>a</arg_value></tool_call>", ""),
        // K2's reasoning, by how long it is.
        ("<ifm|think>a<ifm|tool_call>ping</ifm|tool_call></ifm|think>네", ""),
        ("<ifm|think_fast>a<ifm|tool_call>ping</ifm|tool_call></ifm|think_fast>네", ""),
        ("<ifm|think_faster>a<ifm|tool_call>ping</ifm|tool_call></ifm|think_faster>네", ""),
        ("a<ifm|tool_call>ping</ifm|tool_call></ifm|think>네", ""),
        (
            "<ifm|tool_call>[{\"name\": \"ping\", \"arguments\": {}}, {\"name\": \"find\", \"arguments\": {\"q\": 1}}]</ifm|tool_call>",
            r#"ping{} find{"q":1}"#,
        ),
        // InternLM's tokens with blanks, MiniMax M1's lines, Hermes with a list.
        (
            "<|action_start|> <|plugin|>\n{\"name\": \"find\", \"parameters\": {\"q\": \"a\"}}<|action_end|>",
            r#"find{"q":"a"}"#,
        ),
        (
            "<tool_calls>\n{\"name\": \"ping\", \"arguments\": {}}\n{\"name\": \"find\", \"arguments\": {\"q\": \"a\"}}\n</tool_calls>",
            r#"ping{} find{"q":"a"}"#,
        ),
        (
            "<think>음</think><tool_call>[{\"name\": \"ping\", \"arguments\": {}}]</tool_call>",
            "ping{}",
        ),
        ("Action: find(q='<point>510 150</point>')", r#"find{"q":"<point>510 150</point>"}"#),
        ("Action: find\nAction Input {\"q\": \"a\"}", r#"find{"q":"a"}"#),
    ]);
    let functionary = reads_all(declared()).parse("<|recipient|>ping\n<|content|>{}<|stop|>");
    assert_eq!((line(&functionary).as_str(), functionary.content.as_str()), ("ping{}", ""));
}

/// Models that are named by one format and write another one, too.
#[test]
fn what_the_models_of_a_format_write_besides_is_read_where_it_is_named() {
    let parser = |format| reads_all(declared()).format(format);
    let pairs =
        "네.<tool_call>find\n<arg_key>q</arg_key>\n<arg_value>서울</arg_value>\n</tool_call>";
    check(&parser(Format::Hyperclovax), &[(pairs, "find{\"q\":\"서울\"}")]);
    let bare = "[{'name': 'find', 'arguments': {'q': '서울'}}]";
    for format in [Format::Hyperclovax, Format::Sarashina] {
        check(&parser(format), &[(bare, "find{\"q\":\"서울\"}")]);
    }
}

/// contract 9: what a header without a name holds is read as its parameters, and calls nothing.
#[test]
fn a_header_without_a_name_is_malformed_and_nothing_in_it_runs() {
    let page = "[ping()]\n<tool_call>{\"name\": \"ping\", \"arguments\": {}}</tool_call>\n\
                <invoke name=\"ping\"></invoke>\n</invoke>\n<function name=\"ping\"></function>";
    for (open, param, close) in [
        ("<invoke id=\"1\">", "parameter", "</invoke>"),
        ("<invoke  name=\"\">", "parameter", "</invoke>"),
        ("<invoke >", "parameter", "</invoke>"),
        ("<invoke nome=\"find\">", "parameter", "</invoke>"),
        ("<function id='1'>", "param", "</function>"),
        ("<｜DSML｜invoke>", "｜DSML｜parameter", "</｜DSML｜invoke>"),
        ("<｜DSML｜invoke name=\"\">", "｜DSML｜parameter", "</｜DSML｜invoke>"),
        ("<｜DSML｜ invoke>", "｜DSML｜ parameter", "</｜DSML｜ invoke>"),
        ("<｜GCML｜invoke id=1>", "｜GCML｜parameter", "</｜GCML｜invoke>"),
    ] {
        let params = format!("<{param} name=\"q\">{page}</{param}>\n");
        let text = format!("네.\n{open}\n{params}{close}\n끝");
        reads(&[(&text, "!malformed"), (&format!("{open}{params}"), "!truncated")]);
        assert_eq!(reads_all(declared()).parse(&text).content, "네.\n\n끝", "{text}");
        reads(&[(&format!("{open}{{\"q\": 1}}{close}"), "!malformed")]);
        reads(&[(&format!("{open}\n[ping()]\n{close}"), "!malformed")]);
    }
    let m3 = "]<]minimax[>[";
    reads(&[(&format!("{m3}<invoke id=\"1\">{m3}<q>a{m3}</q>{m3}</invoke>"), "!malformed")]);
    for text in [
        "<invoke the spirits>",
        "<function of x>",
        "the tag <invoke f> and more",
        "<function of x",
        "<invoke the spirits",
    ] {
        let reply = reads_all(declared()).parse(text);
        assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("", text));
        support::stream::same(&reads_all(declared()), text, []);
    }
    // Words in the place of attributes make it an element as any other.
    reads(&[("<invoke of x>\n[ping()]\n</invoke>", "")]);
}

/// contract 4, 5: MiniCPM 4 has a tag round the parameters, and loses it.
#[test]
fn a_tag_round_parameters_means_nothing() {
    let param = "<param name=\"q\">a</param>";
    for (inner, want) in [
        (format!("<arguments>{param}</arguments></function>"), r#"find{"q":"a"}"#),
        (format!("\n<arguments>\n{param}\n</function>"), r#"find{"q":"a"}"#),
        (format!("{param}</arguments>\n</function>"), r#"find{"q":"a"}"#),
        ("<arguments></arguments></function>".to_owned(), "find{}"),
        ("<arguments>".to_owned(), "!truncated(find)"),
        (format!("<arguments>{param}</argu"), "!truncated(find)"),
        ("<arguments>[ping()]</arguments></function>".to_owned(), "!malformed(find)"),
    ] {
        reads(&[(&format!("<function name=\"find\">{inner}"), want)]);
    }
}

/// contract 9: a call as Python writes it in `<tool_call>`, and prose in it that has brackets.
#[test]
fn a_call_of_python_in_a_tag_is_one_and_prose_with_brackets_is_none() {
    reads(&[
        ("<tool_call>find(q=\"a\")</tool_call>", r#"find{"q":"a"}"#),
        (
            "네.<tool_call>\nfind(q = '<b>\\n{a}', n=-1)\n</tool_call>",
            r#"find{"q":"<b>\n{a}","n":-1}"#,
        ),
        ("<tool_call>[find(q='a'), ping()]</tool_call>", r#"find{"q":"a"} ping{}"#),
        ("<tool_call>find(q='a')\nping()</tool_call>", r#"find{"q":"a"} ping{}"#),
        ("<tool_call>find({\"q\": \"a\"})</tool_call>", r#"find{"q":"a"}"#),
        ("<tool_call>crm.search-kb(q='a')</tool_call>", r#"crm.search-kb{"q":"a"}"#),
        ("<tool_call>find(q='</tool_call>')</tool_call>", r#"find{"q":"</tool_call>"}"#),
        ("<tool_call>ping()", "ping{}"),
        ("<tool_call>find(q=\"a\")\n끝", r#"find{"q":"a"}"#),
        ("<tool_call>fynd(q=\"a\")</tool_call>", "!unknown_tool(fynd)?find"),
        ("<tool_call>find(q=open(1))</tool_call>", "!malformed(find)"),
        ("<tool_call>find(", "!truncated(find)"),
        ("<tool_call>find(q", "!truncated(find)"),
        ("<tool_call>find(q='a", "!truncated(find)"),
        ("<tool_call>note(s) are here</tool_call>", "!malformed"),
        ("<tool_call>서울 날씨 (오늘)</tool_call>", "!malformed"),
        ("<tool_call>find (the tool)</tool_call>", "find{}"),
        ("<tool_call>f(x) == g(x)", ""),
        // What stands in the value of an unknown tool is data, too.
        (
            "<tool_call>fynd(q='<tool_call>{\"name\": \"ping\", \"arguments\": {}}</tool_call>')</tool_call>",
            "!unknown_tool(fynd)?find",
        ),
    ]);
}

/// contract 9: prose shows code, so lines of calls count only where the format is named.
#[test]
fn lines_of_code_are_calls_where_the_format_is_named() {
    let named = reads_all(declared()).format(hanok_parse::Format::GranitePythonic);
    check(
        &named,
        &[
            ("find(q=\"a\", n=-1)", r#"find{"q":"a","n":-1}"#),
            ("네.\nfind(q=\"a\")\nping()\n", r#"find{"q":"a"} ping{}"#),
            // The first letter of a label or not.
            ("네.\nping()\n네.\n\nping()", "ping{} ping{}"),
            ("fynd(q=\"a\")", ""),
            ("the call find(q=\"a\") is made so", ""),
            ("> find(q=\"a\")", ""),
            ("find(q=\"a", "!truncated(find)"),
        ],
    );
    reads(&[("find(q=\"a\")", ""), ("네.\nping()", "")]);
}

/// contract 16
#[test]
fn deepseeks_tokens_count_with_bars_of_ascii_and_with_underscores() {
    let plain = "<tool_call>{\"name\": \"ping\", \"arguments\": {}}</tool_call>";
    reads(&[
        ("<|tool▁calls▁begin|><|tool▁call▁begin|>ping<|tool▁sep|>{}<|tool▁call▁end|>", "ping{}"),
        (
            "<|tool▁call▁begin|>function<|tool▁sep|>ping\n```json\n{}\n```<|tool▁call▁end|><|tool▁calls▁end|>",
            "ping{}",
        ),
        (&format!("<|tool▁output▁begin|>{plain}<|tool▁output▁end|>"), ""),
        (&format!("<|tool▁outputs▁begin|>{plain}<|tool▁outputs▁end|>"), ""),
        (
            "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>ping\n```json\n{}\n```<｜tool_call_end｜><｜tool_calls_end｜>",
            "ping{}",
        ),
        ("<｜tool_call_begin｜>ping<｜tool_sep｜>{}<｜tool_call_end｜>", "ping{}"),
        (
            "<｜tool_call_begin｜>pong<｜tool_sep｜>{}<｜tool_call_end｜>",
            "!unknown_tool(pong)?ping",
        ),
        ("<｜tool_call_begin｜>function<｜tool_sep｜>ping\n```json\n{", "!truncated(ping)"),
        (&format!("<｜tool_output_begin｜>{plain}<｜tool_output_end｜>"), ""),
    ]);
}

/// contract 13: no mark is shown beside the call that it is the wrapper of.
#[test]
fn a_wrapper_with_words_in_it_is_not_shown() {
    let call = "<function=find><parameter=q>x</parameter></function>";
    for (text, content) in [
        (format!("<tool_call>Let me check… {call}</tool_call>"), "Let me check…"),
        (format!("<tool_call>\nLet me check…\n{call}\n</tool_call>"), "Let me check…"),
        (
            format!("Use `<tool_call>` or <tool_call> as <b>:\n{call}"),
            "Use `<tool_call>` or <tool_call> as <b>:",
        ),
    ] {
        let parser = reads_all(declared());
        support::stream::same(&parser, &text, text.char_indices().map(|(at, _)| vec![at]));
        let reply = parser.parse(&text);
        assert_eq!((reply.calls.len(), reply.content.as_str()), (1, content), "{text}");
    }
}

/// contract 9, 20
#[test]
fn what_is_printed_on_a_line_of_its_own_is_called() {
    for parser in [reads_all(declared()), reads_all(declared()).format(Format::ToolCode)] {
        check(
            &parser,
            &[
                ("print(find(q=\"a\"))", r#"find{"q":"a"}"#),
                ("네.\nprint(find(q=\"a\"))\nprint(ping())", r#"find{"q":"a"} ping{}"#),
                ("tool_code = print(find(q=\"a\"))", r#"find{"q":"a"}"#),
                ("tool_code = find(q=\"a\")\nprint(tool_code)", r#"find{"q":"a"}"#),
                ("print(default_api.ping())", "ping{}"),
                ("print(pong())", ""),
                ("print(\"find\")", ""),
                ("예: print(find(q=\"a\"))", ""),
                ("```python\nprint(find(q=\"a\"))\n```", ""),
                ("```python\nx = 1\nprint(find(q=\"a\"))\n```", ""),
                ("> print(find(q=\"a\"))", ""),
            ],
        );
        for (text, content) in [
            ("네.\nprint(ping())", "네."),
            ("print(ping())\n끝", "끝"),
            ("tool_code = print(ping())\n", ""),
            ("```tool_code\nprint(ping())\n```", ""),
        ] {
            let reply = parser.parse(text);
            assert_eq!((reply.calls.len(), reply.content.trim()), (1, content), "{text}");
            support::stream::same(&parser, text, text.char_indices().map(|(at, _)| vec![at]));
        }
    }
}

/// contract 13
#[test]
fn what_addresses_everybody_is_content_without_its_mark() {
    for (text, content, want) in [
        (">>>all\n안녕", "안녕", ""),
        (">>>all", "", ""),
        (">>>all\n안녕\n>>>ping\n{}", "안녕", "ping{}"),
        ("<|from|>assistant\n<|recipient|>all\n<|content|>안녕", "안녕", ""),
        (">>>allow\n안녕", ">>>allow\n안녕", ""),
        (">>> all\n안녕", ">>> all\n안녕", ""),
    ] {
        for parser in [reads_all(declared()), reads_all(declared()).format(Format::Functionary)] {
            support::stream::same(&parser, text, text.char_indices().map(|(at, _)| vec![at]));
            let reply = parser.parse(text);
            assert_eq!((reply.content.as_str(), line(&reply).as_str()), (content, want), "{text}");
        }
    }
}

/// contract 9: never silence.
#[test]
fn a_list_of_calls_that_cannot_be_read_is_text_with_a_note() {
    let parser = reads_all(declared());
    for text in [
        "[find(q=foo)]",
        "[find(q='a'), find(q=bar)]",
        "[find(\"서울\", 3)]",
        "네: [find(q=open(1))]",
    ] {
        support::stream::same(&parser, text, text.char_indices().map(|(at, _)| vec![at]));
        let reply = parser.parse(text);
        assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("", text));
        let kinds: Vec<_> = reply.notes.iter().map(|note| note.kind).collect();
        assert_eq!(kinds, [NoteKind::Unreadable], "{text}");
        let span = reply.notes[0].span.clone();
        assert!(text[span.clone()].starts_with("[find("), "{text} {span:?}");
    }
}
