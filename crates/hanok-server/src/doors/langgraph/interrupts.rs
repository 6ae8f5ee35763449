//! What people are asked, as LangGraph's clients see it: the approvals and gates of agents as agent-chat-ui shows them, in one interrupt,
//! and any other request as it is.

use std::collections::BTreeMap;

use hanok_agent::{from_agent_chat, to_agent_chat};
use hanok_graph::Pending;
use serde_json::{Map, Value, json};

use crate::http::{
    problem::Problem,
    result::{json_of, put},
};

/// The member of an answer of agent-chat-ui.
const DECISIONS: &str = "decisions";

/// The open requests as interrupts; `with_schemas`, as streams show them.
pub(crate) fn interrupts(requests: &[Pending], with_schemas: bool) -> Value {
    let (mut decided, mut others): (Vec<_>, Vec<_>) =
        requests.iter().cloned().partition(is_decided);
    let together = to_agent_chat(&decided);
    if together.is_err() {
        others.append(&mut decided);
    }
    let mut shown = Vec::new();
    if let (Some(first), Ok(value)) = (decided.first(), together) {
        shown.push((first, value));
    }
    shown.extend(others.iter().map(|request| (request, json_of(&request.payload))));
    let one = |(request, value): (&Pending, Value)| {
        let mut interrupt = json!({"id": request.id.to_string(), "value": value});
        if with_schemas {
            let schema = request.schema.as_deref().filter(|_| !is_decided(request));
            let schema = schema.and_then(|text| serde_json::from_str::<Value>(text).ok());
            put(&mut interrupt, "response_schema", schema);
        }
        interrupt
    };
    shown.into_iter().map(one).collect()
}

/// True for an approval or a gate of an agent.
fn is_decided(request: &Pending) -> bool {
    let kind = request.payload::<Value>().ok().filter(|_| request.doubt.is_none());
    let kind = kind.and_then(|payload| Some(payload.get("kind")?.as_str()?.to_owned()));
    matches!(kind.as_deref(), Some("tool_approval" | "gate"))
}

/// The decisions in what resumes a thread: agent-chat-ui's, alone or under the id of their interrupt.
pub(crate) fn decisions(resume: &Value) -> Option<&Value> {
    let is_own = |value: &Value| value.get(DECISIONS).is_some();
    let by_id = || resume.as_object()?.values().find(|value| is_own(value));
    if is_own(resume) { Some(resume) } else { by_id() }
}

/// The answers that decisions are, beside those that `resume` gives by id.
pub(crate) fn decided(
    requests: &[Pending],
    resume: &Value,
    decisions: &Value,
) -> Result<Map<String, Value>, Problem> {
    let decided = from_agent_chat(requests, decisions);
    let decided = decided.map_err(|error| Problem::unprocessable(error.to_string()))?;
    let decided: BTreeMap<_, _> =
        decided.into_iter().map(|(id, it)| (id.to_string(), it)).collect();
    let by_id = resume.as_object().filter(|_| resume.get(DECISIONS).is_none());
    let others = by_id.into_iter().flatten().filter(|(_, value)| *value != decisions);
    let others = others.map(|(id, value)| (id.clone(), value.clone()));
    Ok(others.chain(decided).collect())
}

#[cfg(test)]
mod tests {
    use hanok_core::{Namespace, RequestId, Stored};

    use super::*;

    fn asks(id: &str, payload: &Value) -> Pending {
        Pending {
            id: RequestId(id.into()),
            node: "tools".to_owned(),
            payload: Stored::encode(payload).unwrap(),
            schema: None,
            deadline: None,
            audience: Default::default(),
            path: Namespace::root(),
            doubt: None,
        }
    }

    fn approval(tool: &str) -> Value {
        json!({
            "kind": "tool_approval", "tool": tool, "arguments": r#"{"to": "kim"}"#,
            "description": null, "digest": tool, "allowed": ["approve", "reject"], "rule": "r",
            "agent": "a", "call_id": "c", "bytes": 13,
        })
    }

    #[test]
    fn approvals_are_one_interrupt_and_any_other_payload_stays() {
        let requests = [
            asks("q1", &approval("mail")),
            asks("q2", &json!("tea?")),
            asks("q3", &approval("pay")),
        ];
        let shown = interrupts(&requests, false);
        let actions = shown[0]["value"]["action_requests"].as_array().unwrap();
        let names: Vec<_> = actions.iter().map(|action| action["name"].as_str().unwrap()).collect();
        assert_eq!((names, &shown[0]["id"]), (vec!["mail", "pay"], &json!("q1")));
        assert_eq!(shown[1], json!({"id": "q2", "value": "tea?"}));
    }

    #[test]
    fn decisions_are_answers_each_of_its_request() {
        let requests = [asks("q1", &approval("mail")), asks("q3", &approval("pay"))];
        let both = json!({"decisions": [{"type": "approve"}, {"type": "reject", "message": "no"}]});
        for resume in [both.clone(), json!({"q1": both})] {
            let answers = decided(&requests, &resume, decisions(&resume).unwrap()).unwrap();
            assert_eq!(answers.keys().collect::<Vec<_>>(), ["q1", "q3"]);
        }
        let one = json!({"decisions": [{"type": "approve"}]});
        assert_eq!(decided(&requests, &one, &one).unwrap_err().status, 422);
        assert!(decisions(&json!("yes")).is_none() && decisions(&json!({"q": 1})).is_none());
    }
}
