//! Servers that misbehave.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::time::Duration;

use hanok_core::Cancellation;
use hanok_model::{ChatModel, ModelError, Wait};

use crate::server::{
    STOP, Script, Server, Step, Watcher, answer, ask, call, cut, head, json, piece, said, settings,
    stream,
};

type Is = fn(&ModelError) -> bool;

/// Long enough to be cut off, short enough to be waited for.
const SHORT: Duration = Duration::from_millis(100);
/// Long enough for a first token on a machine that is busy.
const BUSY: Duration = Duration::from_secs(2);
/// No machine is as slow as this.
const LONG: Duration = Duration::from_secs(60);

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, future).await.unwrap()
}

/// P16
#[tokio::test]
async fn what_another_attempt_cannot_help_is_typed_and_not_tried_again() {
    let html = || answer(200, "text/html; charset=utf-8", "", "<!doctype html><h1>502</h1>");
    let cases: Vec<(&str, Script, Is)> = vec![
        ("401", json(401, r#"{"error":{"code":"invalid_api_key","message":"no"}}"#), |e| {
            matches!(e, ModelError::BadKey { sent: false, source: Some(_) })
        }),
        (
            "404 model",
            json(
                404,
                r#"{"error":{"code":"model_not_found","message":"The model `m` does not exist"}}"#,
            ),
            |e| matches!(e, ModelError::UnknownModel { model, .. } if model == "m"),
        ),
        (
            "400 too long",
            json(
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"maximum context length is 8192 tokens"}}"#,
            ),
            |e| matches!(e, ModelError::ContextTooLong { limit: Some(8192), .. }),
        ),
        ("429 quota", json(429, r#"{"error":{"code":"insufficient_quota"}}"#), |e| {
            matches!(e, ModelError::QuotaExceeded { .. })
        }),
        (
            "429 in an hour",
            answer(429, "application/json", "retry-after: 3600\r\n", "{}"),
            |e| matches!(e, ModelError::RateLimited { retry_after: Some(after), .. } if after.as_secs() == 3600),
        ),
        (
            "503 in an hour",
            answer(503, "application/json", "retry-after: 3600\r\n", "{}"),
            |e| matches!(e, ModelError::Server { retry_after: Some(after), .. } if after.as_secs() == 3600),
        ),
        ("302", answer(302, "text/plain", "location: http://127.0.0.1:9/\r\n", ""), |e| {
            matches!(e, ModelError::Protocol { .. })
        }),
        ("200 empty", json(200, ""), |e| matches!(e, ModelError::Protocol { .. })),
        ("200 error", json(200, r#"{"error":{"message":"no tools here"}}"#), |e| {
            matches!(e, ModelError::Protocol { source: Some(_), .. })
        }),
        (
            "200 HTML",
            html(),
            |e| matches!(e, ModelError::Protocol { what, .. } if what == "an HTML page"),
        ),
        (
            "200 invalid UTF-8",
            json(200, b"{\"choices\":[\"\xff\"]}"),
            |e| matches!(e, ModelError::Protocol { what, .. } if what.contains("UTF-8")),
        ),
        ("200 other type", answer(200, "image/png", "", "\u{89}PNG"), |e| {
            matches!(e, ModelError::Protocol { .. })
        }),
        ("200 no choice", json(200, r#"{"choices":[]}"#), |e| {
            matches!(e, ModelError::Protocol { .. })
        }),
        ("200 other JSON", json(200, r#"{"choices":"many"}"#), |e| {
            matches!(e, ModelError::Protocol { .. })
        }),
        (
            "200 filtered",
            json(
                200,
                r#"{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}"#,
            ),
            |e| matches!(e, ModelError::ContentFiltered { .. }),
        ),
    ];
    for (what, script, is) in cases {
        for watched in [false, true] {
            let server = Server::start(vec![script.clone()]).await;
            let call = if watched { Watcher::default().call() } else { call() };
            let error = soon(server.model().chat(ask(), &call)).await.unwrap_err();
            assert!(is(&error), "{what}: {error:?}");
            assert_eq!(server.received().len(), 1, "{what}");
        }
    }
}

/// P16
#[tokio::test]
async fn what_another_attempt_may_help_is_tried_again_and_then_typed() {
    let broken = || {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{\"cho";
        vec![Step::Send(head.into()), Step::Reset]
    };
    let cases: Vec<(&str, Script, Is)> = vec![
        ("429", answer(429, "application/json", "retry-after: 0\r\n", "{}"), |e| {
            matches!(e, ModelError::RateLimited { retry_after: Some(Duration::ZERO), .. })
        }),
        ("500", json(500, "oops"), |e| {
            matches!(e, ModelError::Server { status: 500, source: Some(_), .. })
        }),
        ("closed at once", vec![], |e| matches!(e, ModelError::BrokenStream { received: 0, .. })),
        ("reset in the body", broken(), |e| matches!(e, ModelError::BrokenStream { .. })),
        ("no HTTP", vec![Step::Send(b"SSH-2.0-x\r\n\r\n".to_vec())], |e| {
            matches!(e, ModelError::BrokenStream { .. })
        }),
    ];
    for (what, script, is) in cases {
        for (scripts, answered, attempts) in [
            (vec![script.clone(), script.clone(), json(200, said("네"))], true, 3),
            (vec![script], false, 4),
        ] {
            let server = Server::start(scripts).await;
            let answer = soon(server.model().chat(ask(), &call())).await;
            match answer {
                Ok(reply) => assert!(answered && reply.message.text() == "네", "{what}: {reply:?}"),
                Err(error) => assert!(!answered && is(&error), "{what}: {error:?}"),
            }
            assert_eq!(server.received().len(), attempts, "{what}");
        }
    }
}

/// P16
#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    // A port that is taken and at which nobody listens.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let gone = format!("http://{}/v1", socket.local_addr().unwrap());
    let model = settings(&gone).max_retries(1).build().unwrap();
    let error = soon(model.chat(ask(), &call())).await.unwrap_err();
    let ModelError::Unreachable { server, source: Some(_) } = &error else { panic!("{error:?}") };
    assert!(server.starts_with("http://127.0.0.1:"), "{server}");
}

/// P16
#[tokio::test]
async fn a_stream_that_breaks_is_tried_again_only_before_its_first_token() {
    let good = stream(&[&piece("15일"), STOP]);
    let early = ["", ": hello\n\n", "data: {\"choices\":[]}\n\n", "data: {\"cho"];
    for end in [Step::Wait(Duration::ZERO), Step::Reset] {
        for text in early {
            let server = Server::start(vec![cut(text, end.clone()), good.clone()]).await;
            let watcher = Watcher::default();
            let reply = soon(server.model().chat(ask(), &watcher.call())).await.unwrap();
            assert_eq!((reply.message.text().as_ref(), watcher.text().as_str()), ("15일", "15일"));
            assert_eq!(server.received().len(), 2, "{text:?}");
        }

        let text = format!("data: {}\n\ndata: {{\"choi", piece("연차는"));
        let script = vec![head(), Step::Send(text.into_bytes()), Step::Wait(SHORT), end];
        let server = Server::start(vec![script, good.clone()]).await;
        let watcher = Watcher::default();
        let call = watcher.call();
        let error = soon(server.model().chat(ask(), &call)).await.unwrap_err();
        assert!(matches!(error, ModelError::BrokenStream { received: 1.., .. }), "{error:?}");
        assert_eq!((watcher.text().as_str(), server.received().len()), ("연차는", 1));
        assert_eq!(call.spend().spent().model_calls, 1, "half an answer is paid for");
    }
}

/// P16. Half a call is never handed on.
#[tokio::test]
async fn a_stream_that_breaks_within_a_call_is_an_error() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"send","arguments":"{}"}}]}}]}"#;
    let server =
        Server::start(vec![cut(&format!("data: {call}\n\n"), Step::Wait(Duration::ZERO))]).await;
    let error = soon(server.model().chat(ask(), &Watcher::default().call())).await.unwrap_err();
    assert!(matches!(error, ModelError::BrokenStream { .. }), "{error:?}");
    assert_eq!(server.received().len(), 1);
}

/// P16
#[tokio::test]
async fn what_goes_wrong_within_a_stream_is_typed() {
    let after = |bad: &[u8]| {
        let begin = format!("data: {}\n\n", piece("연차는"));
        vec![head(), Step::Send([begin.as_bytes(), bad, b"\n\n"].concat()), Step::Hang]
    };
    let cases: Vec<(&str, Script, Is)> = vec![
        (
            "error object",
            after(br#"data: {"error":{"message":"out of memory","type":"server_error"}}"#),
            |e| matches!(e, ModelError::Server { status: 500, .. }),
        ),
        (
            "bare error",
            after(br#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#),
            |e| matches!(e, ModelError::ContextTooLong { .. }),
        ),
        ("plain error", after(br#"data: {"error":"CUDA out of memory"}"#), |e| {
            is_server_saying(e, "the server said: CUDA out of memory")
        }),
        (
            "error with a code",
            after(br#"data: {"error":{"message":"bad tools","code":400}}"#),
            |e| matches!(e, ModelError::BadRequest { status: 400, .. }),
        ),
        ("no JSON", after(b"data: {what?"), |e| is_server_saying(e, "the server said: {what?")),
        ("other JSON", after(br#"data: {"choices":"many"}"#), |e| {
            is_server_saying(e, r#"the server said: {"choices":"many"}"#)
        }),
        ("invalid UTF-8", after(b"data: \xff\xfe"), |e| {
            is_server_saying(
                e,
                "invalid UTF-8 in a stream, invalid utf-8 sequence of 1 bytes from index 6",
            )
        }),
    ];
    for (what, script, is) in cases {
        let server = Server::start(vec![script]).await;
        let error = soon(server.model().chat(ask(), &Watcher::default().call())).await.unwrap_err();
        assert!(is(&error), "{what}: {error:?}");
        assert_eq!(server.received().len(), 1, "{what}");
    }
}

/// Whether the server failed with these words, so that another attempt may help.
fn is_server_saying(error: &ModelError, words: &str) -> bool {
    let ModelError::Server { status: 500, source: Some(source), .. } = error else { return false };
    error.is_transient() && source.to_string() == words
}

/// P16. A stream whose first word is an error is asked for again; one that begins with anything else is none.
#[tokio::test]
async fn a_stream_that_begins_with_an_error_is_tried_again() {
    let failed = stream(&[r#"{"error":"CUDA out of memory"}"#]);
    let server = Server::start(vec![failed, stream(&[&piece("15일"), STOP])]).await;
    let reply = soon(server.model().chat(ask(), &Watcher::default().call())).await.unwrap();
    assert_eq!((reply.message.text().as_ref(), server.received().len()), ("15일", 2));

    let server = Server::start(vec![stream(&["{what?"])]).await;
    let error = soon(server.model().chat(ask(), &Watcher::default().call())).await.unwrap_err();
    assert!(matches!(error, ModelError::Protocol { .. }), "{error:?}");
    assert_eq!(server.received().len(), 1);
}

/// P16
#[tokio::test]
async fn an_answer_without_end_is_bounded() {
    let endless = |head: Step, text| vec![head, Step::SendForever(text)];
    let whole = Step::Send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec());
    let declared = Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n".to_vec());
    let event = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    for (script, watched) in [
        (endless(whole.clone(), "{\"a\":[1,"), false),
        (endless(declared, " "), false),
        (endless(head(), event), true),
        (endless(head(), "data: aaaaaaaaaaaaaaaa"), true),
        (endless(head(), ": keep-alive\n"), true),
    ] {
        let server = Server::start(vec![script]).await;
        let call = if watched { Watcher::default().call() } else { call() };
        let model = server.settings().max_body(100_000).build().unwrap();
        let error = soon(model.chat(ask(), &call)).await.unwrap_err();
        assert!(matches!(error, ModelError::TooLarge { limit: 100_000 }), "{error:?}");
    }
    // A refusal without end, or whose end does not come, is still a refusal.
    let head = Step::Send(b"HTTP/1.1 401 No\r\n\r\n".to_vec());
    for script in [endless(head.clone(), "no key, "), vec![head, Step::Hang]] {
        let server = Server::start(vec![script]).await;
        let error = soon(server.model().chat(ask(), &call())).await.unwrap_err();
        assert!(matches!(error, ModelError::BadKey { .. }), "{error:?}");
    }
}

/// P16
#[tokio::test]
async fn a_silent_server_is_not_waited_for() {
    let begun = format!("data: {}\n\n", piece("연차는"));
    let alive = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: wait\n\n";
    let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"choices\":[";
    for (script, watched, limit, want) in [
        (vec![Step::Hang], true, SHORT, Wait::FirstToken),
        (cut("", Step::Hang), true, SHORT, Wait::FirstToken),
        (vec![Step::Send(alive.into()), Step::Hang], true, SHORT, Wait::FirstToken),
        (cut(&begun, Step::Hang), true, BUSY, Wait::NextToken),
        (vec![Step::Hang], false, SHORT, Wait::FirstToken),
        (vec![Step::Send(half.into()), Step::Hang], false, BUSY, Wait::NextToken),
        (vec![Step::Hang], false, SHORT, Wait::Total),
    ] {
        let server = Server::start(vec![script]).await;
        let settings = server.settings();
        let settings = match want {
            Wait::Total => settings.total_timeout(limit),
            _ => settings.first_token_timeout(limit),
        };
        let call = if watched { Watcher::default().call() } else { call() };
        let error = soon(settings.build().unwrap().chat(ask(), &call)).await.unwrap_err();
        let ModelError::TimedOut { what, after } = error else { panic!("{want:?}: {error:?}") };
        assert_eq!((what, after), (want, limit));
        assert!(server.received().len() <= 1, "a slow server is not asked again");
    }
}

/// P16. Tokens that never end are cut off by the total time, and comments do not count as tokens.
#[tokio::test]
async fn a_stream_without_end_is_cut_off() {
    let trickle = |text: &str| {
        let mut script = vec![head()];
        script.extend(
            (0..1000)
                .flat_map(|_| [Step::Send(text.into()), Step::Wait(Duration::from_millis(10))]),
        );
        script
    };
    let tokens = trickle(&format!("data: {}\n\n", piece("또 ")));
    let server = Server::start(vec![tokens]).await;
    let model = server.settings().total_timeout(SHORT * 3).build().unwrap();
    let error = soon(model.chat(ask(), &Watcher::default().call())).await.unwrap_err();
    assert!(matches!(error, ModelError::TimedOut { what: Wait::Total, .. }), "{error:?}");

    let server = Server::start(vec![trickle(": wait\n\n")]).await;
    let model = server.settings().first_token_timeout(SHORT).build().unwrap();
    let error = soon(model.chat(ask(), &Watcher::default().call())).await.unwrap_err();
    assert!(matches!(error, ModelError::TimedOut { what: Wait::FirstToken, .. }), "{error:?}");
}

#[tokio::test]
async fn the_deadline_and_a_stop_of_the_call_end_it_at_once() {
    let server = Server::start(vec![vec![Step::Hang]]).await;
    let late = call();
    let deadline = late.clock().now().plus(SHORT);
    let error = soon(server.model().chat(ask(), &late.deadline(deadline))).await.unwrap_err();
    assert!(matches!(error, ModelError::TimedOut { what: Wait::Deadline, .. }), "{error:?}");

    let cancellation = Cancellation::default();
    let stopped = call().cancellation(cancellation.clone());
    let model = server.model();
    let stop = async {
        tokio::time::sleep(SHORT).await;
        cancellation.cancel();
    };
    let (answer, ()) = soon(async { tokio::join!(model.chat(ask(), &stopped), stop) }).await;
    assert!(matches!(answer, Err(ModelError::Cancelled)), "{answer:?}");

    let before = server.received().len();
    let answer = soon(model.chat(ask(), &stopped)).await;
    assert!(matches!(answer, Err(ModelError::Cancelled)), "{answer:?}");
    assert_eq!(server.received().len(), before, "a stopped call is not made");
}

/// P16. A wait that the deadline does not allow is not begun.
#[tokio::test]
async fn a_retry_does_not_pass_the_deadline() {
    let later = answer(429, "application/json", "retry-after: 20\r\n", "{}");
    let server = Server::start(vec![later]).await;
    let call = call();
    let deadline = call.clock().now().plus(Duration::from_secs(10));
    let error = soon(server.model().chat(ask(), &call.deadline(deadline))).await.unwrap_err();
    assert!(matches!(error, ModelError::RateLimited { .. }), "{error:?}");
    assert_eq!(server.received().len(), 1);
}
