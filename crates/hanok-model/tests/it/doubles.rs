//! The scripted and the recorded model.
#![cfg(feature = "test")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{error::Error, time::Duration};

use hanok_core::{Cancellation, Spent, Token};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Exchange, Finish, ModelError, NotRecorded, RecordedModel,
    ScriptError, ScriptedModel, SharedModel, Wait,
};
use hanok_state::{Arguments, Message, ToolCall};

use crate::clock::{Watcher, call};

fn ask(text: &str) -> ChatRequest {
    ChatRequest::new([Message::system("Answer briefly."), Message::user(text)])
}

fn script_error(error: &ModelError) -> &ScriptError {
    error.source().unwrap().downcast_ref().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_script_answers_checks_counts_and_records_its_requests() {
    let search =
        ToolCall { id: "c1".into(), name: "search".into(), arguments: Arguments::default() };
    let script = ScriptedModel::new([
        Exchange::says("15일").contains("휴가").usage(10, 3),
        Exchange::calls([search.clone()]).check(|request| match request.tools.len() {
            0 => Ok(()),
            n => Err(format!("{n} tools")),
        }),
    ])
    .named("gpt-test");
    let (model, call) = (SharedModel::new(script.clone()), call());
    assert_eq!(model.name(), "gpt-test");

    let first = model.chat(ask("휴가는 며칠?"), &call).await.unwrap();
    assert_eq!((first.message.text().as_ref(), first.finish), ("15일", Finish::Stop));
    assert_eq!(
        call.spend().spent(),
        Spent { model_calls: 1, input_tokens: 10, output_tokens: 3, ..Spent::default() }
    );
    assert_eq!(script.finished(), Err(ScriptError::Unfinished { remaining: 1, exchanges: 2 }));

    let second = model.chat(ask("찾아줘"), &call).await.unwrap();
    assert_eq!(
        (second.message.tool_calls(), second.finish),
        ([search].as_slice(), Finish::ToolCalls)
    );
    assert!(second.usage.estimated && second.usage.input_tokens > 0);
    assert_eq!(script.finished(), Ok(()));
    assert_eq!(script.requests(), [ask("휴가는 며칠?"), ask("찾아줘")]);
}

#[tokio::test]
async fn calls_of_a_script_are_numbered_like_its_exchanges() {
    let script = ScriptedModel::new([
        Exchange::says("15일"),
        Exchange::call("search", r#"{"q":"출장"}"#),
        Exchange::calls([ToolCall::new("mine", "search", "{}")]),
        Exchange::replies(ChatReply::new(
            Message::assistant("찾아볼게요").with_tool_calls([ToolCall::new("", "search", "{}")]),
            "",
        )),
    ]);
    let call = call();
    let (mut ids, mut texts) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let reply = script.chat(ask("?"), &call).await.unwrap();
        texts.push(reply.message.text().into_owned());
        ids.extend(reply.message.tool_calls().iter().map(|call| call.id.clone()));
    }
    assert_eq!(ids, ["call-2", "mine", "call-4"]);
    assert_eq!(texts, ["15일", "", "", "찾아볼게요"]);
}

#[tokio::test(start_paused = true)]
async fn an_unexpected_request_is_an_error_that_shows_it() {
    let script = ScriptedModel::new([Exchange::says("15일").contains("휴가").lacks("출장")]);
    let error = script.chat(ask("출장비는?"), &call()).await.unwrap_err();
    assert_eq!(
        script_error(&error),
        &ScriptError::Mismatch {
            exchange: 1,
            problem: "no message contains \"휴가\"; a message contains \"출장\"".into(),
            sent: "[system] Answer briefly.\n[user] 출장비는?\n".into(),
        }
    );
    script.chat(ask("휴가는?"), &call()).await.unwrap();
    let error = script.chat(ask("휴가는?"), &call()).await.unwrap_err();
    assert!(matches!(script_error(&error), ScriptError::Ended { exchanges: 1, .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn parallel_requests_are_answered_in_any_order() {
    let script = ScriptedModel::new([
        Exchange::says("하나").contains("1"),
        Exchange::says("둘").contains("2"),
    ])
    .in_any_order();
    for (question, answer) in [("2?", "둘"), ("1?", "하나")] {
        assert_eq!(script.chat(ask(question), &call()).await.unwrap().message.text(), answer);
    }
    assert_eq!(script.finished(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_sees_the_pieces_and_a_failure_after_them() {
    let broken = ModelError::BrokenStream { received: 7, source: None };
    let script = ScriptedModel::new([
        Exchange::says("15일").pieces(["15", "일"]),
        Exchange::says("15일").reasoning("음"),
        Exchange::fails(broken).pieces(["1"]),
    ]);
    let text = |text: &str| Token::Text(text.into());
    let watcher = Watcher::default();
    let call = watcher.watch(call());
    script.chat(ask("?"), &call).await.unwrap();
    script.chat(ask("?"), &call).await.unwrap();
    let error = script.chat(ask("?"), &call).await.unwrap_err();
    assert!(matches!(error, ModelError::BrokenStream { received: 7, .. }));
    assert_eq!(
        watcher.tokens(),
        [text("15"), text("일"), Token::Reasoning("음".into()), text("15일"), text("1")]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_and_a_deadline_end_a_call() {
    let hour = Duration::from_secs(3600);
    let script = ScriptedModel::new((0..2).map(|_| Exchange::says("늦음").delay(hour)));
    let cancellation = Cancellation::default();
    let stopped = call().cancellation(cancellation.clone());
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancellation.cancel();
    };
    let (answer, ()) = tokio::join!(script.chat(ask("?"), &stopped), stop);
    assert!(matches!(answer, Err(ModelError::Cancelled)), "{answer:?}");

    let call = call();
    let late = call.clock().now().plus(Duration::from_secs(9));
    let answer = script.chat(ask("?"), &call.deadline(late)).await;
    let Err(ModelError::TimedOut { what: Wait::Deadline, .. }) = answer else {
        panic!("{answer:?}")
    };
}

#[tokio::test(start_paused = true)]
async fn a_recorded_reply_is_replayed_by_its_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("turns.jsonl");
    let script = ScriptedModel::new(["하나", "둘", "셋"].map(Exchange::says));
    let recorder = RecordedModel::record(script, &path).unwrap();
    for question in ["수?", "수?", "다른 수?"] {
        recorder.chat(ask(question), &call()).await.unwrap();
    }

    let replay = RecordedModel::replay(&path).unwrap();
    // Ids and metadata of messages are not what a server sees.
    let marked = ChatRequest::new([
        Message::system("Answer briefly.").with_id("a"),
        Message::user("수?").with_id("b").with_metadata("task", 1),
    ]);
    let call = call();
    for (request, want) in
        [(ask("다른 수?"), "셋"), (marked, "하나"), (ask("수?"), "둘"), (ask("수?"), "둘")]
    {
        assert_eq!(replay.chat(request, &call).await.unwrap().message.text(), want);
    }
    assert_eq!(call.spend().spent().model_calls, 4);

    let error = replay.chat(ask("다른 날?"), &call).await.unwrap_err();
    let missing: &NotRecorded = error.source().unwrap().downcast_ref().unwrap();
    let closest = missing.closest.as_deref().unwrap();
    assert!(closest.contains("다른 수?") && closest.contains("다른 날?"), "{closest}");
}

/// P55
#[tokio::test(start_paused = true)]
async fn a_recording_holds_requests_and_replies_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("turns.jsonl");
    let recorder =
        RecordedModel::record(ScriptedModel::new([Exchange::says("네")]), &path).unwrap();
    recorder.chat(ask("안녕"), &call()).await.unwrap();
    let line: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let keys: Vec<_> = line.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["key", "request", "reply"]
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    );
    assert!(!line.to_string().to_lowercase().contains("authorization"));
}
