//! What the regular expressions of the first prompt-based agents got wrong, row by row.

use crate::support::{check, parser, read};

/// seed pattern 1, 2
#[test]
fn an_input_ends_where_its_braces_balance() {
    check(&[
        (
            r#"Action: f
Action Input: {"a": {"b": 1}, "c": 2}"#,
            r#"f{"a":{"b":1},"c":2}"#,
        ),
        ("Action: f\nAction Input: {\"q\": \"a } b\"}", r#"f{"q":"a } b"}"#),
    ]);
}

/// seed pattern 3
#[test]
fn a_name_has_any_letters() {
    for name in ["search-kb", "crm.find", "문서검색", "3d_render", "Web Search"] {
        assert_eq!(read(&format!("Action: {name}\nAction Input: {{}}")), format!("{name}{{}}"));
    }
}

/// seed pattern 4
#[test]
fn labels_and_names_may_be_decorated() {
    check(&[
        ("**Action:** f\n**Action Input:** {}", "f{}"),
        ("**Action**: f\n**Action Input**: {}", "f{}"),
        ("Action: `f`\nAction Input: {}", "f{}"),
        ("action: f\naction input: {}", "f{}"),
        ("Action： f\nAction Input： {}", "f{}"),
        ("Action: f\nAction Input:\n```json\n{\"q\": 1}\n```", r#"f{"q":1}"#),
        ("Action: f\nAction Input: ```{\"q\": 1}```", r#"f{"q":1}"#),
    ]);
}

/// seed pattern 5
#[test]
fn small_faults_of_json_are_mended() {
    check(&[
        ("Action: f\nAction Input: {'q': 1}", r#"f{"q":1}"#),
        ("Action: f\nAction Input: {\"q\": 1,}", r#"f{"q":1}"#),
        ("Action: f\nAction Input: {\"q\": True, \"r\": None}", r#"f{"q":true,"r":null}"#),
    ]);
}

/// seed pattern 6
#[test]
fn plain_text_goes_to_the_only_string() {
    check(&[("Action: find\nAction Input: 휴가", r#"find{"q":"휴가"}"#)]);
}

/// seed pattern 7
#[test]
fn two_blocks_are_two_calls() {
    check(&[(
        "Action: f\nAction Input: {\"q\":1}\nAction: g\nAction Input: {\"q\":2}",
        r#"f{"q":1} g{"q":2}"#,
    )]);
}

/// seed pattern 8
#[test]
fn reasoning_holds_no_call() {
    check(&[("<think>Action: g\nAction Input: {}</think> Action: f\nAction Input: {}", "f{}")]);
}

/// seed pattern 9
#[test]
fn a_label_in_prose_is_prose() {
    let reply = parser().parse("설명: Action: f\nAction Input: {\"q\": 1} 처럼 쓴다");
    assert!(reply.calls.is_empty() && reply.answer.is_none() && reply.error.is_none(), "{reply:?}");
    assert_eq!(reply.content, "설명: Action: f\nAction Input: {\"q\": 1} 처럼 쓴다");
}

/// seed pattern 10
#[test]
fn hostile_repetition_is_read_to_the_end() {
    assert_eq!(read(&format!("Action: f{}", "\n".repeat(200_000))), "!truncated(f)");
    assert_eq!(read(&"Action Input: {".repeat(50_000)), "");
    assert_eq!(read(&format!("Action: f\n{}", "Action Input: {".repeat(50_000))), "!malformed(f)");
}

/// seed pattern 11
#[test]
fn a_close_tag_in_a_string_is_data() {
    check(&[(
        r#"<tool_call>f</tool_call><tool_input>{"q": "} </tool_input>"}</tool_input>"#,
        r#"f{"q":"} </tool_input>"}"#,
    )]);
}

/// seed pattern 12
#[test]
fn other_models_formats_are_calls() {
    check(&[
        (r#"<tool_call>{"name": "f", "arguments": {"q": 1}}</tool_call>"#, r#"f{"q":1}"#),
        (
            r#"<|python_tag|>{"type": "function", "name": "f", "parameters": {"q": 1}}"#,
            r#"f{"q":1}"#,
        ),
        (
            r#"<|python_tag|>{"type": "function", "function": {"name": "f", "parameters": {"q": 1}}}<|eom_id|>"#,
            r#"f{"q":1}"#,
        ),
    ]);
}

/// seed pattern 13, 14, 15, 16
#[test]
fn json_actions_are_read_whole() {
    check(&[
        (
            "```json\n{\"action\": \"f\", \"action_input\": {\"a\": {\"b\": {}}, \"c\": []}}\n```",
            r#"f{"a":{"b":{}},"c":[]}"#,
        ),
        (
            "```json\n{\"action\": \"f\", \"action_input\": {\"q\": \"```a` b\"}}\n```",
            r#"f{"q":"```a` b"}"#,
        ),
        ("```\n{\"action_input\": {\"q\": 1}, \"action\": \"f\"}\n```", r#"f{"q":1}"#),
        (r#"{"action": "f", "action_input": {"q": 1}}"#, r#"f{"q":1}"#),
        (
            "```json\n{\"action\": \"f\", \"action_input\": {}}\n{\"action\": \"g\", \"action_input\": {}}\n```",
            "f{} g{}",
        ),
    ]);
}

/// seed pattern 17, 18
#[test]
fn an_answer_goes_to_the_end() {
    check(&[
        (
            "Final Answer: 다음과 같습니다:\n\n- 1년: 15일\n- 3년: 20일",
            "=다음과 같습니다:\n\n- 1년: 15일\n- 3년: 20일",
        ),
        ("Final Answer: 코드\n\n```rust\nfn main() {}\n```", "=코드\n\n```rust\nfn main() {}\n```"),
    ]);
}

/// seed pattern 19
#[test]
fn an_answer_in_prose_is_prose() {
    for text in ["시험지의 Answer: 칸은 비워 두세요.", "고객의 답변: 이라는 제목", "검색 결과: 3건"]
    {
        assert_eq!(read(text), "", "{text}");
        assert_eq!(parser().parse(text).content, text);
    }
}

/// seed pattern 20
#[test]
fn a_draft_in_a_thought_is_no_answer() {
    let reply = parser().parse("Thought: 답변: 초안은 이렇다\nFinal Answer: 진짜");
    assert_eq!(reply.answer.as_deref(), Some("진짜"));
    assert_eq!(reply.thought.as_deref(), Some("답변: 초안은 이렇다"));
}

/// seed pattern 21, 22, 23
#[test]
fn an_answer_has_neither_marks_nor_tokens() {
    check(&[
        ("**Final Answer:** 네", "=네"),
        ("**Final Answer: 네**", "=네"),
        ("**Final Answer:** **네**, 그렇습니다", "=**네**, 그렇습니다"),
        ("final answer: 네", "=네"),
        ("Final Answer：네", "=네"),
        ("Final Answer: 여기서 끝<|eot_id|>", "=여기서 끝"),
    ]);
}

/// seed pattern 24
#[test]
fn an_invented_result_is_no_answer() {
    check(&[("Action: f\nAction Input: {}\nObservation: 3\nFinal Answer: 3", "f{}")]);
}

/// seed pattern 25, 26
#[test]
fn an_agents_name_is_read_whole() {
    check(&[
        ("Delegate: real-estate-agent\nTask: 시세", "@real-estate-agent:시세"),
        ("Delegate: 계약-검토\nTask: 특약", "@계약-검토:특약"),
        ("Delegate: [rag_agent]\nTask: 조사", "@rag_agent:조사"),
        ("Delegate: \"rag_agent\"\nTask: 조사", "@rag_agent:조사"),
        ("**Delegate:** rag_agent\n**Task:** 조사", "@rag_agent:조사"),
        ("Delegate： rag_agent\nTask： 조사", "@rag_agent:조사"),
    ]);
}

/// seed pattern 27, 28, 29, 30, 31, 32
#[test]
fn a_delegation_is_a_line_with_a_known_agent_and_a_task() {
    check(&[
        ("이 질문은 Delegate: 없이 답한다", ""),
        ("Delegate:\n\nTask: 조사", "!malformed"),
        ("Final Answer: 앞서 Delegate: rag_agent 로 조회", "=앞서 Delegate: rag_agent 로 조회"),
        (
            "Delegate: rag_agent\nTask: \"Final Answer: \" 형식으로",
            "@rag_agent:\"Final Answer: \" 형식으로",
        ),
        ("Delegate: rag_agent.v2\nTask: 조사", "!unknown_agent(rag_agent.v2)?rag_agent"),
        (
            "delegate: rag_agent\ntask: 회사 휴가 정책을 찾아\n요약",
            "@rag_agent:회사 휴가 정책을 찾아\n요약",
        ),
    ]);
}

/// seed pattern 33
#[test]
fn each_way_to_fail_has_its_own_error() {
    check(&[
        ("휴가는 15일입니다.", ""),
        ("Action: f\nAction Input: {\"q\" 1}", "!malformed(f)"),
        ("Action: f\nAction Input: {\"q\": ", "!truncated(f)"),
        ("Action: finde\nAction Input: {}", "!unknown_tool(finde)?find"),
        ("Action: find\nAction Input:\n", "!missing_input(find)"),
    ]);
}
