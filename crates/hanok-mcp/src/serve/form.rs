//! A question of a graph as a form of the protocol, and the answer to it.

use hanok_agent::{ApprovalRequest, Decision, DecisionKind, GateRequest};
use hanok_core::{BoxError, Stored};
use hanok_graph::Pending;
use hanok_state::Json;
use rmcp::model::{ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequest};
use serde_json::{Map, Value, json};

use crate::{
    elicitation::{Elicitation, ElicitationAnswer, ElicitationMode},
    text::shown,
};

/// The most bytes of a question. A person sees all of it, or is asked elsewhere.
const LONGEST: usize = 32 * 1024;

/// The field of a form whose answer is no object of its own.
const ANSWER: &str = "answer";

/// A question as a form.
#[derive(Debug)]
pub(super) struct Form {
    params: ElicitRequestParams,
    kind: FormKind,
}

/// The way from a filled form to the answer.
#[derive(Debug)]
enum FormKind {
    /// The form is the answer.
    Whole,
    /// One field of it is.
    Field,
    /// One field of it is, as JSON or as a text.
    Text,
    /// It is a decision about what has this digest.
    Decision { digest: String, allowed: Vec<DecisionKind> },
    /// A question of a server further on, whose answer is passed on.
    Elicitation { digest: String },
}

/// What a client's response to a form says.
#[derive(Debug, PartialEq)]
pub(super) enum FormAnswer {
    /// The answer to the question.
    Value(Stored),
    /// The person refuses or passes over it, and the question has no such answer: it stays open.
    Declined,
}

impl Form {
    /// The form of `question`; `None` for one that no form shows whole.
    pub(super) fn of(question: &Pending) -> Option<Self> {
        if question.doubt.is_some() {
            return None;
        }
        let (message, schema, kind) = match (Elicitation::of(question), decided(question)) {
            (Some(further), Some(Decided { digest, .. })) => match further.mode {
                ElicitationMode::Form { schema } => {
                    (further.message, schema, FormKind::Elicitation { digest })
                }
                ElicitationMode::Url { url } => {
                    return Self::address(&further.message, url, digest);
                }
            },
            (_, Some(Decided { words, digest, allowed })) => {
                let form = decision_form(&allowed);
                (words, form, FormKind::Decision { digest, allowed })
            }
            (_, None) => {
                let (schema, kind) = free(question.schema.as_deref());
                (words(&question.payload), schema, kind)
            }
        };
        let requested_schema = flat(&schema)?;
        let message = whole(&message)?;
        let params =
            ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
        Some(Self { params, kind })
    }

    fn address(message: &str, url: String, digest: String) -> Option<Self> {
        let (message, elicitation_id) = (whole(message)?, String::new());
        let params =
            ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id };
        Some(Self { params, kind: FormKind::Elicitation { digest } })
    }

    /// True for a form that sends a person to an address.
    pub(super) fn is_address(&self) -> bool {
        matches!(self.params, ElicitRequestParams::UrlElicitationParams { .. })
    }

    /// The request to the client. `faults` say what was wrong with the answer before.
    pub(super) fn request(&self, faults: &[String]) -> InputRequest {
        let mut params = self.params.clone();
        if !faults.is_empty() {
            let (ElicitRequestParams::FormElicitationParams { message, .. }
            | ElicitRequestParams::UrlElicitationParams { message, .. }) = &mut params
            else {
                return InputRequest::Elicitation(ElicitRequest::new(params));
            };
            let faults = shown(&faults.join("; "), 1024);
            *message = format!("The answer did not fit: {faults}\n{message}");
        }
        InputRequest::Elicitation(ElicitRequest::new(params))
    }

    /// The answer that a client's `response` is.
    ///
    /// # Errors
    ///
    /// What the response lacks.
    pub(super) fn answer(&self, response: &Value) -> Result<FormAnswer, BoxError> {
        let answer: ElicitationAnswer = serde_json::from_value(response.clone())?;
        if let FormKind::Elicitation { digest } = &self.kind {
            return decided_as(&answer.into(), digest);
        }
        let content = match answer {
            ElicitationAnswer::Accept { content: Some(Value::Object(content)) } => content,
            ElicitationAnswer::Accept { .. } => return Err("an accepted form has content".into()),
            ElicitationAnswer::Decline => return self.refusal(DecisionKind::Reject),
            ElicitationAnswer::Cancel => return self.refusal(DecisionKind::Skip),
        };
        let field = || content.get(ANSWER).cloned().ok_or("the form lacks `answer`");
        let value = match &self.kind {
            FormKind::Whole | FormKind::Elicitation { .. } => Value::Object(content),
            FormKind::Field => field()?,
            FormKind::Text => match field()? {
                Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
                value => value,
            },
            FormKind::Decision { digest, .. } => return decision(&content, digest),
        };
        Ok(FormAnswer::Value(Stored::encode(&value)?))
    }

    /// What declining or cancelling is, where it is an answer.
    fn refusal(&self, kind: DecisionKind) -> Result<FormAnswer, BoxError> {
        match &self.kind {
            FormKind::Decision { digest, allowed } if allowed.contains(&kind) => {
                let message = None;
                let decision = match kind {
                    DecisionKind::Skip => Decision::Skip { message },
                    _ => Decision::Reject { message },
                };
                decided_as(&decision, digest)
            }
            _ => Ok(FormAnswer::Declined),
        }
    }
}

/// A question that is decided: an approval, or a gate.
struct Decided {
    words: String,
    digest: String,
    allowed: Vec<DecisionKind>,
}

fn decided(question: &Pending) -> Option<Decided> {
    if let Ok(asked) = question.payload::<ApprovalRequest>() {
        let about = asked.description.map(|about| about + "\n").unwrap_or_default();
        let words = format!(
            "{about}`{}` is about to call `{}` ({}) with {}",
            asked.agent,
            asked.tool,
            json!(asked.risk).as_str().unwrap_or_default(),
            asked.arguments.as_str()
        );
        return Some(Decided { words, digest: asked.digest, allowed: asked.allowed });
    }
    let asked = question.payload::<GateRequest>().ok()?;
    let all = serde_json::to_string_pretty(&asked.shown).unwrap_or_default();
    let words = format!("{}\n{all}", asked.question);
    Some(Decided { words, digest: asked.digest, allowed: asked.allowed })
}

/// The name of a decision, as its JSON has it.
fn name(kind: DecisionKind) -> Value {
    serde_json::to_value(kind).unwrap_or_default()
}

fn decision_form(allowed: &[DecisionKind]) -> Value {
    let names: Vec<_> = allowed.iter().map(|kind| name(*kind)).collect();
    let mut fields = json!({"decision": {"type": "string", "enum": names}});
    let text = |description: &str| json!({"type": "string", "description": description});
    if let Some(fields) = fields.as_object_mut() {
        if allowed.contains(&DecisionKind::Edit) {
            let what = "For `edit`: all the arguments, as JSON";
            fields.insert("arguments".to_owned(), text(what));
        }
        if allowed.iter().any(|kind| !matches!(kind, DecisionKind::Approve | DecisionKind::Edit)) {
            let what = "For any other decision but `approve`: the reason, the result, or what has to be other";
            fields.insert("words".to_owned(), text(what));
        }
    }
    json!({"type": "object", "properties": fields, "required": ["decision"]})
}

fn decision(content: &Map<String, Value>, digest: &str) -> Result<FormAnswer, BoxError> {
    let text = |field: &str| content.get(field).and_then(Value::as_str).unwrap_or_default();
    let words = Some(text("words").to_owned()).filter(|words| !words.trim().is_empty());
    let must = || words.clone().ok_or("this decision takes `words`");
    let decision = match text("decision") {
        "approve" => Decision::Approve,
        "edit" => Decision::Edit { arguments: Json(serde_json::from_str(text("arguments"))?) },
        "reject" => Decision::Reject { message: words },
        "skip" => Decision::Skip { message: words },
        "respond" => Decision::Respond { result: must()? },
        "revise" => Decision::Revise { message: must()? },
        "reuse" => Decision::Reuse { id: must()? },
        _ => return Err("the form lacks its `decision`".into()),
    };
    decided_as(&decision, digest)
}

/// `decision` about exactly what has this `digest`.
fn decided_as(decision: &Decision, digest: &str) -> Result<FormAnswer, BoxError> {
    let mut decision = serde_json::to_value(decision)?;
    if let Some(decision) = decision.as_object_mut() {
        decision.insert("digest".to_owned(), digest.into());
    }
    Ok(FormAnswer::Value(Stored::encode(&decision)?))
}

/// The form of an answer of `schema`.
fn free(schema: Option<&str>) -> (Value, FormKind) {
    let field = |field: Value| json!({"type": "object", "properties": {ANSWER: field}, "required": [ANSWER]});
    let text = |description: String| {
        (field(json!({"type": "string", "description": description})), FormKind::Text)
    };
    let Some(schema) = schema else { return text("A text, or JSON".to_owned()) };
    let Ok(read) = serde_json::from_str::<Value>(schema) else {
        return text("A text, or JSON".to_owned());
    };
    if flat(&read).is_some() {
        return (read, FormKind::Whole);
    }
    let single = field(read);
    if flat(&single).is_some() {
        return (single, FormKind::Field);
    }
    text(format!("JSON that fits {}", shown(schema, 4096)))
}

/// `schema`, where it is one of a form: an object of plain fields.
fn flat(schema: &Value) -> Option<ElicitationSchema> {
    let fields = schema.get("properties")?.as_object()?;
    // What is chosen among or referred to is no plain field, and would be lost.
    let is_lost = |field: &Value| {
        ["$ref", "allOf", "not", "if"].iter().any(|keyword| field.get(keyword).is_some())
    };
    if is_lost(schema) || fields.values().any(is_lost) {
        return None;
    }
    let mut schema = schema.clone();
    schema.as_object_mut()?.remove("$schema");
    serde_json::from_value(schema).ok()
}

/// What a question shows, in words.
fn words(payload: &Stored) -> String {
    match payload.decode::<Value>() {
        Ok(Value::String(text)) => text,
        Ok(value) => serde_json::to_string_pretty(&value).unwrap_or_default(),
        Err(_) => payload.to_string(),
    }
}

/// `text` as people see it, if they see all of it.
fn whole(text: &str) -> Option<String> {
    let shown = shown(text, usize::MAX);
    (shown.len() <= LONGEST).then_some(shown)
}

/// What a question asks, in one line for whoever is told that it waits.
pub(super) fn summary(question: &Pending) -> String {
    let text = match (Elicitation::of(question), decided(question)) {
        (Some(further), _) => further.message,
        (None, Some(decided)) => decided.words,
        (None, None) => words(&question.payload),
    };
    crate::text::line(&text, 512)
}

#[cfg(test)]
mod tests {
    use hanok_core::{Audience, Namespace, RequestId};

    use super::*;

    fn question(payload: &Value, schema: Option<Value>) -> Pending {
        Pending {
            id: RequestId("q".into()),
            node: "ask".to_owned(),
            payload: Stored::encode(payload).unwrap(),
            schema: schema.map(|schema| schema.to_string().into()),
            deadline: None,
            audience: Audience::everybody(),
            path: Namespace::root(),
            doubt: None,
        }
    }

    fn asked(form: &Form) -> Value {
        let request = serde_json::to_value(form.request(&[])).unwrap();
        request["params"].clone()
    }

    fn accept(content: Value) -> Value {
        json!({"action": "accept", "content": content})
    }

    fn value(form: &Form, response: &Value) -> Value {
        match form.answer(response).unwrap() {
            FormAnswer::Value(value) => value.decode().unwrap(),
            FormAnswer::Declined => json!("declined"),
        }
    }

    /// An answer to any question has a form, and comes back as the graph reads it.
    #[test]
    fn an_answer_of_any_schema_has_a_form() {
        let flat = json!({"type": "object", "properties": {"seats": {"type": "integer"}}, "required": ["seats"]});
        let nested = json!({"type": "object", "properties": {"at": {"type": "object"}}});
        for (schema, content, want) in [
            (None, json!({"answer": "two days"}), json!("two days")),
            (None, json!({"answer": "7"}), json!(7)),
            (Some(flat), json!({"seats": 2}), json!({"seats": 2})),
            (Some(json!({"type": "boolean"})), json!({"answer": true}), json!(true)),
            (
                Some(json!({"type": "string", "enum": ["a", "b"]})),
                json!({"answer": "b"}),
                json!("b"),
            ),
            (Some(nested), json!({"answer": r#"{"at": {}}"#}), json!({"at": {}})),
            (Some(json!({"type": "array"})), json!({"answer": "[1]"}), json!([1])),
        ] {
            let form = Form::of(&question(&json!("how many?"), schema.clone())).unwrap();
            assert_eq!(asked(&form)["message"], "how many?");
            assert_eq!(value(&form, &accept(content)), want, "{schema:?}");
            assert_eq!(value(&form, &json!({"action": "decline"})), "declined");
            assert!(form.answer(&json!({"action": "accept"})).is_err());
            assert!(form.answer(&json!("yes")).is_err());
        }
    }

    /// P44: a person sees all that is approved, or is not asked by a form.
    #[test]
    fn a_decision_is_shown_whole_and_names_what_it_is_about() {
        let approval = |arguments: &str| {
            question(
                &json!({
                    "kind": "tool_approval", "rule": "r", "agent": "desk", "call_id": "c", "tool": "pay", "arguments": arguments,
                    "bytes": arguments.len(), "digest": "d-1", "description": null, "risk": "write",
                    "allowed": ["approve", "edit", "reject"],
                }),
                Some(json!({"oneOf": []})),
            )
        };
        let form = Form::of(&approval("{\"sum\":\"\u{202e}9\"}")).unwrap();
        let shown = asked(&form);
        assert_eq!(
            shown["message"],
            "`desk` is about to call `pay` (write) with {\"sum\":\"\\u{202e}9\"}"
        );
        let (decision, arguments) = ("edit", r#"{"sum": 1}"#);
        for (response, want) in [
            (
                accept(json!({"decision": "approve"})),
                json!({"decision": "approve", "digest": "d-1"}),
            ),
            (
                accept(json!({"decision": decision, "arguments": arguments})),
                json!({"decision": "edit", "arguments": {"sum": 1}, "digest": "d-1"}),
            ),
            (
                accept(json!({"decision": "reject", "words": "too much"})),
                json!({"decision": "reject", "message": "too much", "digest": "d-1"}),
            ),
            (json!({"action": "decline"}), json!({"decision": "reject", "digest": "d-1"})),
            // Skipping is not allowed here.
            (json!({"action": "cancel"}), json!("declined")),
        ] {
            assert_eq!(value(&form, &response), want, "{response}");
        }
        assert!(form.answer(&accept(json!({}))).is_err());
        assert!(Form::of(&approval(&format!("\"{}\"", "x".repeat(LONGEST)))).is_none());
    }

    /// A question of a server further on goes through as it is.
    #[test]
    fn a_question_of_a_server_further_on_goes_through() {
        let further = |mode: Value| {
            let shown = json!({"server": "shop", "message": "Seats?", "mode": mode}).to_string();
            question(
                &json!({
                    "kind": "gate", "gate": "elicitation", "question": "`shop` asks: Seats?", "shown": shown,
                    "bytes": shown.len(), "digest": "d-1", "risk": "external", "rule": "elicitation",
                    "allowed": ["edit", "reject", "skip"],
                }),
                None,
            )
        };
        let schema = json!({"type": "object", "properties": {"seats": {"type": "integer"}}});
        let form = Form::of(&further(json!({"form": {"schema": schema}}))).unwrap();
        assert_eq!(asked(&form)["message"], "Seats?");
        for (response, want) in [
            (
                accept(json!({"seats": 2})),
                json!({"decision": "edit", "arguments": {"seats": 2}, "digest": "d-1"}),
            ),
            (json!({"action": "decline"}), json!({"decision": "reject", "digest": "d-1"})),
            (json!({"action": "cancel"}), json!({"decision": "skip", "digest": "d-1"})),
        ] {
            assert_eq!(value(&form, &response), want);
        }
        let form = Form::of(&further(json!({"url": {"url": "https://pay.example/1"}}))).unwrap();
        assert!(form.is_address());
        assert_eq!(asked(&form)["url"], "https://pay.example/1");
        let accepted = value(&form, &json!({"action": "accept"}));
        assert_eq!(accepted, json!({"decision": "approve", "digest": "d-1"}));
    }
}
