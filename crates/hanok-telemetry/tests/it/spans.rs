//! What a subscriber hears of each span.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};

use hanok_telemetry::{
    ContentCapture, agent, chat, node, record_conversation, record_error, record_provider,
    record_response, record_usage, tool, workflow,
};

use crate::heard::Heard;

/// Counts how often it is shown.
struct Shown<'a>(&'a AtomicUsize);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fetch_add(1, Ordering::Relaxed);
        f.write_str("task-1")
    }
}

#[test]
fn each_span_has_the_name_and_the_attributes_of_the_conventions() {
    let shown = AtomicUsize::new(0);
    let spans = Heard::of(|| {
        drop(workflow("leave", Some("user-1")));
        drop(workflow("leave", None));
        drop(agent("clerk"));
        drop(node("leave", "ask", 3, 2, Shown(&shown)));
        drop(chat("gpt-4o-mini"));
        drop(tool("search", "call-1"));
    });
    assert_eq!(
        spans,
        [
            "hanok INFO invoke_workflow: gen_ai.conversation.id=user-1 gen_ai.operation.name=invoke_workflow gen_ai.workflow.name=leave otel.kind=internal otel.name=invoke_workflow leave",
            "hanok INFO invoke_workflow: gen_ai.operation.name=invoke_workflow gen_ai.workflow.name=leave otel.kind=internal otel.name=invoke_workflow leave",
            "hanok INFO invoke_agent: gen_ai.agent.name=clerk gen_ai.operation.name=invoke_agent otel.kind=internal otel.name=invoke_agent clerk",
            "hanok INFO node: hanok.attempt=2i hanok.graph.name=leave hanok.node.name=ask hanok.step=3i hanok.task.id=task-1 otel.kind=internal otel.name=node ask",
            "hanok INFO chat: gen_ai.operation.name=chat gen_ai.request.model=gpt-4o-mini otel.kind=client otel.name=chat gpt-4o-mini",
            "hanok INFO execute_tool: gen_ai.operation.name=execute_tool gen_ai.tool.call.id=call-1 gen_ai.tool.name=search gen_ai.tool.type=function otel.kind=internal otel.name=execute_tool search",
        ]
    );
}

#[test]
fn fields_that_are_known_later_are_added_to_their_span() {
    let spans = Heard::of(|| {
        let span = chat("small");
        record_provider(&span, "openai");
        record_conversation(&span, "user-1");
        record_response(&span, "small-2026", Some("resp-1"));
        record_usage(&span, 812, u64::MAX);
        let span = tool("search", "call-1");
        record_error(&span, "timeout");
    });
    assert_eq!(
        spans,
        [
            format!(
                "hanok INFO chat: gen_ai.conversation.id=user-1 gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small gen_ai.response.id=resp-1 gen_ai.response.model=small-2026 gen_ai.usage.input_tokens=812i gen_ai.usage.output_tokens={}i otel.kind=client otel.name=chat small",
                i64::MAX
            ),
            "hanok INFO execute_tool: error.type=timeout gen_ai.operation.name=execute_tool gen_ai.tool.call.id=call-1 gen_ai.tool.name=search gen_ai.tool.type=function otel.kind=internal otel.name=execute_tool search otel.status_code=ERROR".to_owned(),
        ]
    );
}

/// P55: what is said is in no span unless somebody decides otherwise, and is not even made.
#[test]
fn content_is_recorded_where_it_is_switched_on_and_nowhere_else() {
    let made = AtomicUsize::new(0);
    let say = |text: &str| {
        made.fetch_add(1, Ordering::Relaxed);
        text.to_owned()
    };
    let record = |capture: ContentCapture| {
        Heard::of(|| {
            let span = chat("m");
            capture.input(&span, || say("my salary"));
            capture.output(&span, || say("is secret"));
            let span = tool("t", "c");
            capture.arguments(&span, || say("of whom"));
            capture.result(&span, || say("of everyone"));
        })
        .join("\n")
    };

    let off = record(ContentCapture::default());
    assert_eq!(made.load(Ordering::Relaxed), 0);
    assert!(!off.contains("messages") && !off.contains("arguments") && !off.contains("result"));

    let on = record(ContentCapture::On);
    for said in [
        "gen_ai.input.messages=my salary",
        "gen_ai.output.messages=is secret",
        "gen_ai.tool.call.arguments=of whom",
        "gen_ai.tool.call.result=of everyone",
    ] {
        assert!(on.contains(said), "{on}");
    }
}

#[test]
fn nothing_is_formatted_or_made_for_a_span_without_a_subscriber() {
    let shown = AtomicUsize::new(0);
    let span = node("g", "n", 0, 1, Shown(&shown));
    ContentCapture::On.result(&span, || unreachable!("nobody hears it"));
    assert!(span.is_disabled());
    assert_eq!(shown.load(Ordering::Relaxed), 0);
}
