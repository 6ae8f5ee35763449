//! What people are asked, as LangGraph's clients see it.

use hanok_core::Stored;
use hanok_graph::Pending;
use serde_json::{Value, json};

/// The open requests as interrupts.
pub(crate) fn interrupts<'a>(requests: impl IntoIterator<Item = &'a Pending>) -> Value {
    let shown = |request: &Pending| json!({"id": request.id.to_string(), "value": value(request)});
    requests.into_iter().map(shown).collect()
}

/// The value of an interrupt: the payload as it is. An agent's approval and a gate have the form of agent-chat-ui.
pub(crate) fn value(request: &Pending) -> Value {
    let payload = json_of(&request.payload);
    let part = |name: &str| payload.get(name).cloned().unwrap_or_default();
    match part("kind").as_str() {
        _ if request.doubt.is_some() => payload,
        Some("tool_approval") => {
            let arguments = part("arguments");
            // Arguments that are no JSON are their text.
            let read = arguments.as_str().map(serde_json::from_str).and_then(Result::ok);
            let arguments = read.unwrap_or(arguments);
            review(&payload, &part("tool"), &arguments, &part("description"))
        }
        Some("gate") => review(&payload, &part("gate"), &part("shown"), &part("question")),
        _ => payload,
    }
}

/// One action to be reviewed, as agent-chat-ui shows it.
fn review(payload: &Value, name: &Value, arguments: &Value, description: &Value) -> Value {
    let description = description.as_str().unwrap_or_default();
    let action = json!({
        "name": name, "args": arguments, "description": description, "digest": payload["digest"],
    });
    let config = json!({"action_name": name, "allowed_decisions": payload["allowed"]});
    json!({"action_requests": [action], "review_configs": [config]})
}

/// A stored value as JSON.
pub(crate) fn json_of(stored: &Stored) -> Value {
    serde_json::to_value(stored).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use hanok_core::{Namespace, RequestId};

    use super::*;

    fn asks(payload: &Value) -> Pending {
        Pending {
            id: RequestId("q-1".into()),
            node: "tools".to_owned(),
            payload: Stored::encode(payload).unwrap(),
            schema: None,
            deadline: None,
            audience: Default::default(),
            path: Namespace::root(),
            doubt: None,
        }
    }

    #[test]
    fn an_approval_is_a_review_of_one_action_and_any_other_payload_stays() {
        let approval = json!({
            "kind": "tool_approval", "tool": "mail", "arguments": r#"{"to": "kim"}"#,
            "description": null, "digest": "d", "allowed": ["approve", "reject"], "rule": "r",
        });
        let reviewed = json!({
            "action_requests": [
                {"name": "mail", "args": {"to": "kim"}, "description": "", "digest": "d"},
            ],
            "review_configs": [{"action_name": "mail", "allowed_decisions": ["approve", "reject"]}],
        });
        let gate = json!({
            "kind": "gate", "gate": "plan", "shown": [1], "question": "Go?", "digest": "e",
            "allowed": ["approve"],
        });
        let gated = json!({
            "action_requests": [{"name": "plan", "args": [1], "description": "Go?", "digest": "e"}],
            "review_configs": [{"action_name": "plan", "allowed_decisions": ["approve"]}],
        });
        let plain = json!({"kind": "other", "question": "tea?"});
        for (payload, shown) in [
            (approval, reviewed),
            (gate, gated),
            (plain.clone(), plain),
            (json!("tea?"), json!("tea?")),
        ] {
            assert_eq!(interrupts([&asks(&payload)]), json!([{"id": "q-1", "value": shown}]));
        }
    }
}
