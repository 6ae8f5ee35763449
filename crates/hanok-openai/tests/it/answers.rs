//! Answers, whole and streamed, as servers give them.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_core::{Secret, Spent, Token};
use hanok_model::{ChatModel, Finish, Usage};
use hanok_state::{Arguments, ToolCall};

use crate::server::{
    STOP, Server, Step, Watcher, answer, ask, call, head, json, piece, said, stream,
};

#[tokio::test]
async fn a_whole_answer_is_read_and_counted() {
    let server = Server::start(vec![json(200, said("15일"))]).await;
    let call = call();
    let reply = server.model().chat(ask(), &call).await.unwrap();
    assert_eq!((reply.message.text().as_ref(), reply.finish), ("15일", Finish::Stop));
    assert_eq!(reply.model, "m-1");
    assert_eq!(reply.usage, Usage { input_tokens: 12, output_tokens: 3, ..Usage::default() });
    let spent = Spent { model_calls: 1, input_tokens: 12, output_tokens: 3, ..Spent::default() };
    assert_eq!(call.spend().spent(), spent);

    let received = &server.received()[0];
    assert!(received.head.starts_with("POST /v1/chat/completions "), "{received:?}");
    assert_eq!(received.json()["stream"], serde_json::Value::Null);
}

#[tokio::test]
async fn without_a_key_there_is_no_authorization_and_with_one_it_is_a_bearer() {
    let server = Server::start(vec![json(200, said("네"))]).await;
    server.model().chat(ask(), &call()).await.unwrap();
    let keyed = server.settings().api_key(Secret::new("sk-1".to_owned())).build().unwrap();
    keyed.chat(ask(), &call()).await.unwrap();
    let received = server.received();
    assert!(!received[0].has_header("authorization"), "{received:?}");
    assert!(received[1].has_header("authorization: Bearer sk-1"), "{received:?}");
}

/// The bytes come one by one, so that every syllable is cut within itself.
#[tokio::test]
async fn a_stream_is_shown_as_it_comes_however_its_bytes_are_cut() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}"#;
    let role = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;
    let thought = r#"{"choices":[{"index":0,"delta":{"reasoning_content":"규정을 보자"}}]}"#;
    let events = [role, thought, &piece("연차는 "), &piece("15일"), STOP, usage];
    let text: String =
        events.iter().map(|event| format!(": keep-alive\r\ndata: {event}\r\n\r\n")).collect();
    let bytes = format!("{text}data: [DONE]\r\n\r\n").into_bytes();
    let mut script = vec![head()];
    script.extend(bytes.chunks(1).map(|byte| Step::Send(byte.to_vec())));
    let server = Server::start(vec![script]).await;

    let watcher = Watcher::default();
    let call = watcher.call();
    let reply = server.model().chat(ask(), &call).await.unwrap();
    let text = |text: &str| Token::Text(text.into());
    assert_eq!(
        watcher.seen(),
        [Token::Reasoning("규정을 보자".into()), text("연차는 "), text("15일")]
    );
    assert_eq!(reply.message.text(), "연차는 15일");
    assert_eq!(reply.reasoning.as_deref(), Some("규정을 보자"));
    assert_eq!((reply.finish, reply.model.as_str()), (Finish::Stop, "m-1"));
    assert_eq!(
        reply.usage,
        Usage { input_tokens: 7, output_tokens: 2, cached_tokens: 4, estimated: false }
    );
    assert_eq!(call.spend().spent(), reply.usage.spent());
    let sent = server.received()[0].json();
    assert_eq!(
        (&sent["stream"], &sent["stream_options"]["include_usage"]),
        (&true.into(), &true.into())
    );
}

#[tokio::test]
async fn streamed_calls_are_put_together_by_their_index() {
    let calls = |calls: &str| {
        format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{calls}]}}}}]}}"#)
    };
    let events = [
        calls(
            r#"{"index":0,"id":"a","type":"function","function":{"name":"search","arguments":""}}"#,
        ),
        calls(r#"{"index":0,"function":{"arguments":"{\"query\":"}}"#),
        calls(r#"{"index":1,"id":"b","function":{"name":"now","arguments":""}}"#),
        calls(r#"{"index":0,"function":{"arguments":"\"휴가\"}"}}"#),
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned(),
    ];
    let server = Server::start(vec![stream(&events.each_ref().map(String::as_str))]).await;
    let watcher = Watcher::default();
    let reply = server.model().chat(ask(), &watcher.call()).await.unwrap();
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: Arguments::new(arguments),
    };
    assert_eq!(
        reply.message.tool_calls(),
        [call("a", "search", r#"{"query":"휴가"}"#), call("b", "now", "{}")]
    );
    assert_eq!((reply.finish, watcher.seen()), (Finish::ToolCalls, vec![]));
    assert!(reply.usage.estimated && reply.usage.output_tokens > 0);
}

/// Calls without index or id, with arguments as an object, with one index for all, and a finish that does not say so.
#[tokio::test]
async fn calls_of_servers_with_habits_of_their_own_are_read() {
    let whole = |calls: &str, finish: &str| {
        json(
            200,
            format!(
                r#"{{"choices":[{{"message":{{"content":null,"tool_calls":[{calls}]}},"finish_reason":"{finish}"}}]}}"#
            ),
        )
    };
    let bare = r#"{"function":{"name":"search","arguments":{"query":"휴가"}}}"#;
    let same = r#"{"index":0,"id":"a","function":{"name":"now"}},{"index":0,"id":"b","function":{"name":"now"}}"#;
    let cut = r#"{"id":"a","function":{"name":"now","arguments":"{}"}},{"id":"b","function":{"name":"send","arguments":"{\"to"}}"#;
    let server =
        Server::start(vec![whole(bare, "stop"), whole(same, "tool_calls"), whole(cut, "length")])
            .await;
    let model = server.model();

    let reply = model.chat(ask(), &call()).await.unwrap();
    let [only] = reply.message.tool_calls() else { panic!("{reply:?}") };
    assert_eq!((only.name.as_str(), only.arguments.as_str()), ("search", r#"{"query":"휴가"}"#));
    assert!(only.id.starts_with("call_"), "{only:?}");
    assert_eq!(reply.finish, Finish::ToolCalls);

    let ids = |reply: &hanok_model::ChatReply| {
        reply.message.tool_calls().iter().map(|call| call.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&model.chat(ask(), &call()).await.unwrap()), ["a", "b"]);

    // Half a call is none.
    let reply = model.chat(ask(), &call()).await.unwrap();
    assert_eq!((ids(&reply), reply.finish), (vec!["a".to_owned()], Finish::Length));
}

#[tokio::test]
async fn a_server_that_answers_whole_to_a_watcher_is_shown_in_one_piece() {
    let server = Server::start(vec![json(200, said("15일"))]).await;
    let watcher = Watcher::default();
    let reply = server.model().chat(ask(), &watcher.call()).await.unwrap();
    assert_eq!((reply.message.text().as_ref(), watcher.text().as_str()), ("15일", "15일"));
}

/// A finish without `[DONE]` is the end, whether the connection ends there or is reset.
#[tokio::test]
async fn a_stream_that_said_its_finish_is_whole_without_done() {
    for end in [Step::Wait(std::time::Duration::ZERO), Step::Reset] {
        let events = format!("data: {}\n\ndata: {STOP}\n\n", piece("15일"));
        let script = vec![head(), Step::Send(events.into_bytes()), Step::Wait(PAUSE), end];
        let server = Server::start(vec![script]).await;
        let reply = server.model().chat(ask(), &Watcher::default().call()).await.unwrap();
        assert_eq!(reply.message.text(), "15일");
        assert!(reply.usage.estimated);
    }
}

const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

#[tokio::test]
async fn what_a_server_refuses_by_name_is_left_out_and_not_sent_again() {
    let refusal = r#"{"error":{"message":"Unknown parameter: stream_options"}}"#;
    let good = stream(&[&piece("네"), STOP]);
    let server = Server::start(vec![json(400, refusal), good.clone(), good]).await;
    let model = server.model();
    for _ in 0..2 {
        let reply = model.chat(ask(), &Watcher::default().call()).await.unwrap();
        assert_eq!(reply.message.text(), "네");
    }
    let sent: Vec<_> = server
        .received()
        .iter()
        .map(|received| received.json().get("stream_options").is_some())
        .collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn a_content_type_that_says_less_does_not_matter() {
    let server = Server::start(vec![answer(200, "text/plain", "", said("네"))]).await;
    let reply = server.model().chat(ask(), &call()).await.unwrap();
    assert_eq!(reply.message.text(), "네");
}
