//! However a text is cut, what comes out is the same, and the events say the same as the reply.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use hanok_parse::{Declared, Format, Reasoning};
use proptest::prelude::*;

use crate::support::{self, reads_all, soup::text, stream::same};

const TEXTS: [&str; 26] = [
    "Thought: 찾자\nAction: find\nAction Input: {\"q\": \"휴가 🏖 } 정책\", \"n\": 10}\n",
    "생각: 음\n**행동:** `find`\n**행동 입력:**\n```json\n{\"q\": [1, {\"a\": 2}]}\n```\n관찰: 없음",
    "<tool_call>find</tool_call>\n<tool_input>{\"q\": \"a\"}}</tool_input> 끝",
    "<tool_call>find</tool_call><tool_input>휴가</tool_input>",
    "네.\n```json\n{\"action\": \"find\", \"action_input\": {\"q\": \"월세\"}}\n```\n끝.",
    "{\"action\": \"find\", \"action_input\": \"월세\"}",
    "a\n<tool_call>\n{\"name\": \"find\", \"arguments\": {\"q\": \"전세\"}}\n</tool_call>\n<tool_call>{\"name\":",
    "<|python_tag|>{\"name\": \"find\", \"parameters\": {\"q\": \"a;b\"}}; {\"name\": \"g\", \"parameters\": {}}<|eom_id|>",
    "[{\"name\": \"find\", \"arguments\": {\"q\": {\"x\": []}}},\n {\"name\": \"g\", \"arguments\": {}}]",
    "{\"tool_calls\": [{\"function\": {\"name\": \"find\", \"arguments\": \"{\\\"q\\\": 1}\"}}]}",
    "Delegate: rag_agent\nTask: 조사\n- 결과: 표\nDelegate: 계약-검토\nTask: 둘",
    "<think>음\nAction: g\nAction Input: {}</think>Action: find\nAction Input: {'q': 'it's', k: None,}",
    "알겠다.\nAction: f\nAction Input: {}\nObservation: 3\n</think>\nAction: g\nAction Input: {}",
    "**Final Answer: 네, `<b>` 그렇습니다**",
    "```\nFinal Answer: 코드\n```rust\nx\n```\n```",
    "Action: f\nAction Input: {\"q\" 1, \"x\": [\"}\"]}\nAction: g\nAction Input: {{\"a\": 1}}}}\n",
    "Action: f\nAction Input: {\"a\":1,\"b\":2,\"a\":3}",
    "코드:\n```rust\nfn main() {\n    let x = [1];\n}\n```\n[참고] a < b <b> </tool_call>",
    "{\"city\": \"서울\",\n \"list\": [1, 2\nAction: f\nAction Input: {}",
    "{\"city\": \"서울\", \"name\": \"f\", \"text\": \"<tool_call>\"}\n끝",
    "Action: find\nAction Input: 두\n줄\nThought: 끝\nFinal Answer: 아니",
    "Action: nope\nAction Input: {\"q\": 1}\nFinal Answer: x",
    "{\"action\": \"Final Answer\", \"action_input\": \"네\\n둘\"}",
    "Action:\n\n```json\n{\"action\": \"f\", \"action_input\": {\"q\": \"\\ud83c\\udf89\\u12\"}}\n```\n",
    "<tool_call> 태그를 쓰면 됩니다.\n<tool_call>\n{bad}</tool_call> x",
    "Action: f\n\n\nAction Input:\n\n{\"a\": /* } */ 1 // x\n}",
];

/// contract 13
#[test]
fn every_split_of_a_text_says_the_same() {
    for promote in [Reasoning::Ignore, Reasoning::Promote] {
        let parser = support::parser().reasoning(promote);
        for text in TEXTS {
            same(&parser, text, text.char_indices().map(|(at, _)| vec![at]));
            let single: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
            same(&parser, text, [single]);
        }
    }
}

proptest! {
    /// contract 13
    #[test]
    fn any_split_of_any_text_says_the_same(text in text(), cuts in prop::collection::vec(0_usize..200, 0..6)) {
        for declared in [support::declared(), Declared::any()] {
            let parser = reads_all(declared);
            let mut cuts: Vec<_> = cuts.iter().copied().filter(|cut| text.is_char_boundary(*cut)).collect();
            cuts.sort_unstable();
            let single = text.char_indices().map(|(at, _)| at).collect();
            same(&parser, &text, [cuts, single]);
        }
    }
}

proptest! {
    /// contract 13
    #[test]
    fn any_split_says_the_same_when_the_format_is_known(
        text in text(),
        format in prop::sample::select(Format::ALL.to_vec()),
    ) {
        let parser = support::parser().format(format);
        let single = text.char_indices().map(|(at, _)| at).collect();
        same(&parser, &text, [single]);
    }
}

/// A stream may stand in a sink of an agent that other threads write to.
#[test]
fn a_stream_belongs_to_nobody() {
    fn outlives<T: Send + Sync + 'static>(_: &T) {}

    let stream = support::parser().stream();
    outlives(&stream);
    let reply = std::thread::spawn(move || {
        let mut stream = stream;
        stream.feed("Final Answer: 네", &mut Vec::new());
        stream.finish(&mut Vec::new())
    });
    assert_eq!(reply.join().unwrap().answer.as_deref(), Some("네"));
}
