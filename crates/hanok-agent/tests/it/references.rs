//! Approvals of tools whose schemas refer to themselves.

use hanok_agent::{
    AgentState, Approval, ApprovalRule, DecisionKind, ReactAgent, shown_without_secrets,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::ThreadKey;
use hanok_graph::{Outcome, Pending, RunError, Thread};
use hanok_model::{Exchange, FnTool, ScriptedModel, ToolSpec};
use serde_json::{Value, json};

use crate::support::call;

/// An agent that calls `send`, a tool with this schema, once; and what it asks.
async fn open_approval(schema: &Value, rule: ApprovalRule) -> (Thread<AgentState>, Pending) {
    let spec = ToolSpec::new("send", "Sends", schema.clone()).unwrap();
    let send = FnTool::untyped(spec, |_, _| async { Ok("sent".into()) });
    let calls = Exchange::says(call("send", r#"{"to":"ann","pin":"4711"}"#));
    let agent = ReactAgent::builder(
        "t",
        "",
        ScriptedModel::new([calls, Exchange::says("Final Answer: done")]),
    )
    .tool(send)
    .intercept(Approval::new().tool_with("send", rule))
    .build()
    .unwrap();
    let key = ThreadKey::named("t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    match thread.invoke(agent.ask("?"), ()).await.unwrap() {
        Outcome::Interrupted(mut waiting) => (thread, waiting.requests.remove(0)),
        other => panic!("{other:?}"),
    }
}

/// B116: whatever its schema refers to, a call is approved, edited and rejected, and an edit has to fit what is referred to.
#[tokio::test]
async fn a_call_is_decided_whatever_its_schema_refers_to() {
    let wrong_to = json!({"to": 7});
    for (schema, wrong) in [
        (
            json!({
                "type": "object",
                "properties": {"to": {"$ref": "#/definitions/person"}},
                "definitions": {"person": {"type": "string"}},
            }),
            wrong_to.clone(),
        ),
        (
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$id": "https://example.com/send",
                "type": "object",
                "properties": {"to": {"$ref": "https://example.com/send#/definitions/person"}},
                "definitions": {"person": {"type": "string"}},
            }),
            wrong_to.clone(),
        ),
        (
            json!({
                "$id": "https://example.com/send",
                "type": "object",
                "properties": {"to": {"$ref": "#/$defs/person"}},
                "$defs": {"person": {"$ref": "#/definitions/name"}},
                "definitions": {"name": {"type": "string"}},
            }),
            wrong_to,
        ),
        (
            json!({
                "type": "object",
                "properties": {"to": {"type": "string"}, "cc": {"$ref": "#/properties/to"}},
                "additionalProperties": true,
            }),
            json!({"to": "bob", "cc": 7}),
        ),
        (
            json!({
                "type": "object",
                "properties": {"to": {"type": "string"}, "next": {"$ref": "#"}},
                "additionalProperties": true,
            }),
            json!({"to": "bob", "next": {"to": 7}}),
        ),
    ] {
        for right in [
            json!({"decision": "approve"}),
            json!({"decision": "edit", "arguments": {"to": "bob"}}),
            json!({"decision": "reject", "message": "no"}),
        ] {
            let (thread, open) = open_approval(&schema, ApprovalRule::new()).await;
            let edit = json!({"decision": "edit", "arguments": wrong});
            let refused = thread.answer(open.id.clone(), &edit, ()).await.unwrap_err();
            let RunError::WrongAnswer { faults, .. } = refused else { panic!("{refused}") };
            assert!(!faults.concat().contains("cannot be used"), "{schema}: {faults:?}");
            thread.answer(open.id, &right, ()).await.unwrap().done().unwrap();
        }
    }
}

/// P46: a secret that a schema marks where it refers to is one too, whether or not a person may edit it.
#[tokio::test]
async fn what_a_reference_marks_as_secret_is_not_shown() {
    for (to, place) in [("#/definitions/pin", "definitions"), ("#/$defs/pin", "$defs")] {
        let mut schema = json!({
            "type": "object",
            "properties": {"to": {"type": "string"}, "pin": {"$ref": to}},
        });
        let marked = json!({"pin": {"type": "string", "writeOnly": true}});
        schema.as_object_mut().unwrap().insert(place.to_owned(), marked);
        for allowed in [
            &[DecisionKind::Approve, DecisionKind::Edit][..],
            &[DecisionKind::Approve, DecisionKind::Reject],
        ] {
            let rule = ApprovalRule::new().allow(allowed.iter().copied());
            let (_, open) = open_approval(&schema, rule).await;
            let shown = shown_without_secrets(&open).to_string();
            assert!(shown.contains("ann") && !shown.contains("4711"), "{to} {allowed:?}: {shown}");
        }
    }
}
