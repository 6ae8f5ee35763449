//! What a user sees of an agent's model while it writes.

use futures::StreamExt;
use hanok_agent::{
    Protocol, ReactAgent,
    parse::{Bare, Policy},
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Effect, Tenant, ThreadKey, Token};
use hanok_graph::{EventKind, Input};
use hanok_model::{Exchange, FnTool, ScriptedModel, ToolSpec};
use serde_json::json;

/// What is shown of replies that come in pieces of `size` characters, without what was taken back: `+text`, `~reasoning`; and
/// the answer.
async fn shown(replies: &[&str], size: usize, protocol: Protocol) -> (String, Option<String>) {
    let pieces = |reply: &&str| {
        let letters: Vec<char> = reply.chars().collect();
        let pieces: Vec<String> =
            letters.chunks(size).map(|piece| piece.iter().collect()).collect();
        Exchange::says(*reply).pieces(pieces)
    };
    let spec = ToolSpec::new("find", "finds", json!({"type": "object"})).unwrap();
    let find = FnTool::untyped(spec, |_, _| async { Ok("연 15일".into()) }).effect(Effect::Pure);
    let model = ScriptedModel::new(replies.iter().map(pieces));
    // The same texts by both protocols: calls as text are read.
    let policy = Policy { bare: Bare::On, ..Policy::default() };
    let agent = ReactAgent::builder("tester", "", model).tool(find).protocol(protocol);
    let agent = agent.text_calls(policy);
    let agent = agent.build().unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    let mut events = thread.stream(Input::New(agent.ask("?")), ());
    let mut told: Vec<(char, String)> = Vec::new();
    while let Some(event) = events.next().await {
        let EventKind::Token(token) = event.kind else { continue };
        let (mark, text) = match token {
            Token::Text(text) => ('+', text),
            Token::Reasoning(text) => ('~', text),
            _ => {
                told.retain(|(mark, _)| *mark != '+');
                continue;
            }
        };
        match told.last_mut() {
            Some((last, said)) if *last == mark => said.push_str(&text),
            _ => told.push((mark, text)),
        }
    }
    let told = told.iter().map(|(mark, text)| format!("{mark}{text}")).collect();
    let state = events.outcome().await.unwrap().done().unwrap();
    (told, state.answer)
}

const CALL: &str =
    "Thought: 규정을 찾는다\nAction: find\nAction Input: {\"q\": \"연차 } Final Answer: 0\"}";

/// B102: the answer and the thoughts, and never the protocol, however the model's text is cut.
#[tokio::test]
async fn a_user_sees_the_answer_and_never_the_protocol() {
    for (replies, want) in [
        (
            &[CALL, "Thought: 안다\nFinal Answer: 연차는 15일.\n\n- 3년부터 20일"][..],
            "~규정을 찾는다안다+연차는 15일.\n\n- 3년부터 20일",
        ),
        (&["**최종 답변:** 15일"], "+15일"),
        (&["<think>Action: find?</think>연차는 15일입니다."], "~Action: find?+연차는 15일입니다."),
        (
            &["볼게요.\n<tool_call>{\"name\": \"find\", \"arguments\": {}}</tool_call>", "15일"],
            "+볼게요.15일",
        ),
        // What looked like a mark and was none is text in the end.
        (&["a < b, <tools>, <"], "+a < b, <tools>, <"),
        // Text before the label is no part of the answer.
        (&["답을 압니다.\nFinal Answer: 15일"], "+15일"),
        (&["생각 중 </think>15일"], "~생각 중+15일"),
    ] {
        for size in [1, 2, 7, 1_000] {
            for protocol in [Protocol::Text, Protocol::Native] {
                let (told, answer) = shown(replies, size, protocol).await;
                let said = match protocol {
                    Protocol::Text => want.replace("볼게요.", ""),
                    _ => want.to_owned(),
                };
                let told: String = told.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
                assert_eq!(told, said, "{replies:?} in pieces of {size}, {protocol:?}");
                let last = want.rsplit(['+', '~']).next().unwrap();
                let answer = answer.unwrap();
                assert!(last.ends_with(&answer) || answer.is_empty(), "{answer:?}");
            }
        }
    }
}
