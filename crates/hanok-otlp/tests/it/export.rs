//! What a collector is sent, and what becomes of a program whose collector is gone.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::time::Duration;

use hanok_core::Secret;
use hanok_otlp::{OtlpConfig, OtlpError, OtlpGuard, layer};
use hanok_telemetry::{
    ContentCapture, agent, chat, node, record_error, record_provider, record_usage, tool, workflow,
};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use tracing::subscriber::with_default;
use tracing_subscriber::{Registry, layer::SubscriberExt};

use crate::server::{Answer, Server, texts};

/// Does `work` with its traces sent as `config` says.
fn traced(config: OtlpConfig, work: impl FnOnce()) -> OtlpGuard {
    let (layer, guard) = layer(config).unwrap();
    with_default(Registry::default().with(layer), work);
    guard
}

/// A turn as an agent takes it: a model is asked, a tool is called and fails.
fn turn(capture: ContentCapture) {
    let run = workflow("leave", Some("user-1"));
    let _run = run.enter();
    let task = node("leave", "ask", 0, 1, "4f2a");
    let _task = task.enter();
    let clerk = agent("clerk");
    let _clerk = clerk.enter();
    {
        let call = chat("gpt-4o-mini");
        record_provider(&call, "openai");
        capture.input(&call, || "[{\"role\":\"user\",\"content\":\"canary-prompt\"}]".to_owned());
        capture.output(&call, || "canary-answer".to_owned());
        record_usage(&call, 812, 64);
    }
    let call = tool("search", "call-1");
    capture.arguments(&call, || "canary-arguments".to_owned());
    capture.result(&call, || "canary-result".to_owned());
    record_error(&call, "timeout");
}

fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    spans.iter().find(|span| span.name == name).unwrap()
}

#[tokio::test]
async fn a_turn_arrives_as_one_trace_by_the_names_of_the_conventions() {
    let server = Server::start(Answer::Takes);
    let config = server.config().header("x-key", Secret::new("hunter2".to_owned()));
    traced(config, || turn(ContentCapture::default())).shutdown().await.unwrap();

    let received = server.received();
    assert_eq!(received.len(), 1);
    let head = received[0].head.to_lowercase();
    assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/x-protobuf\r\n"), "{head}");
    assert!(head.contains("x-key: hunter2\r\n"), "{head}");
    let (service, scopes) = server.origin();
    assert_eq!(service["service.name"], "leave-desk");
    assert_eq!(scopes, ["hanok-otlp https://opentelemetry.io/schemas/1.41.0"]);

    let spans = server.spans();
    let mut names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    names.sort_unstable();
    let want = [
        "chat gpt-4o-mini",
        "execute_tool search",
        "invoke_agent clerk",
        "invoke_workflow leave",
        "node ask",
    ];
    assert_eq!(names, want);
    for (child, parent) in [
        ("node ask", "invoke_workflow leave"),
        ("invoke_agent clerk", "node ask"),
        ("chat gpt-4o-mini", "invoke_agent clerk"),
        ("execute_tool search", "invoke_agent clerk"),
    ] {
        let (child, parent) = (named(&spans, child), named(&spans, parent));
        assert_eq!((&child.parent_span_id, &child.trace_id), (&parent.span_id, &parent.trace_id));
    }

    let asked = named(&spans, "chat gpt-4o-mini");
    assert_eq!(asked.kind(), SpanKind::Client);
    let want = [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "gpt-4o-mini"),
        ("gen_ai.usage.input_tokens", "812i"),
        ("gen_ai.usage.output_tokens", "64i"),
    ];
    let want = want.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(texts(&asked.attributes), want);

    let called = named(&spans, "execute_tool search");
    assert_eq!(called.kind(), SpanKind::Internal);
    assert_eq!(called.status.clone().unwrap().code(), StatusCode::Error);
    assert_eq!(texts(&called.attributes)["error.type"], "timeout");
    let task = texts(&named(&spans, "node ask").attributes);
    assert_eq!((task["hanok.step"].as_str(), task["hanok.attempt"].as_str()), ("0i", "1i"));
}

/// P55: what is said is sent to nobody unless the program decides otherwise.
#[tokio::test]
async fn what_is_said_is_sent_where_it_is_wanted_and_nowhere_else() {
    for capture in [ContentCapture::Off, ContentCapture::On] {
        let server = Server::start(Answer::Takes);
        traced(server.config(), || turn(capture)).shutdown().await.unwrap();
        let text = server.text();
        assert!(text.contains("gpt-4o-mini"));
        for canary in ["canary-prompt", "canary-answer", "canary-arguments", "canary-result"] {
            assert_eq!(
                text.contains(canary),
                capture == ContentCapture::On,
                "{canary} {capture:?}"
            );
        }
    }
}

#[tokio::test]
async fn only_the_targets_that_are_named_are_sent() {
    let work = || {
        tracing::info_span!(target: "my_service::route", "mine").in_scope(|| drop(chat("m")));
        tracing::info_span!(target: "my_services", "another").in_scope(|| {});
        tracing::debug_span!(target: "my_service", "fine").in_scope(|| {});
    };
    let server = Server::start(Answer::Takes);
    traced(server.config(), work).shutdown().await.unwrap();
    let names =
        |server: &Server| server.spans().into_iter().map(|span| span.name).collect::<Vec<_>>();
    assert_eq!(names(&server), ["chat m"]);

    let server = Server::start(Answer::Takes);
    traced(server.config().target("my_service"), work).shutdown().await.unwrap();
    assert_eq!(names(&server), ["chat m", "mine"]);
}

#[test]
fn dropping_the_guard_sends_what_was_gathered() {
    let server = Server::start(Answer::Takes);
    drop(traced(server.config(), || drop(chat("m"))));
    assert_eq!(server.spans().len(), 1);
}

#[tokio::test]
async fn a_flush_sends_and_the_export_goes_on() {
    let server = Server::start(Answer::Takes);
    let (layer, guard) = layer(server.config()).unwrap();
    let subscriber = tracing::Dispatch::new(Registry::default().with(layer));
    for sent in 1..=2 {
        tracing::dispatcher::with_default(&subscriber, || drop(chat("m")));
        guard.flush().await.unwrap();
        assert_eq!(server.spans().len(), sent);
    }
    guard.shutdown().await.unwrap();
    assert_eq!(server.spans().len(), 2);
}

#[tokio::test]
async fn a_collector_that_fails_costs_its_spans_and_no_more_time_than_was_allowed() {
    let gone = OtlpConfig::new("http://127.0.0.1:1", "leave-desk");
    let refuses = Server::start(Answer::Refuses);
    let silent = Server::start(Answer::SaysNothing);
    for config in [gone, refuses.config(), silent.config()] {
        let guard = traced(config.timeout(Duration::from_millis(300)), || drop(chat("m")));
        let error = guard.shutdown().await.unwrap_err();
        assert!(matches!(error, OtlpError::NotDelivered(_)), "{error:?}");
    }
    assert_eq!(refuses.received().len(), 1);
}
