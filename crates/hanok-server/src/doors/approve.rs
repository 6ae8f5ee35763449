//! Approvals: what a person decides about the open question of a session.

use axum::{
    Json, Router,
    extract::{Path, State},
    http::HeaderMap,
    routing::post,
};
use hanok_core::RequestId;
use hanok_graph::{NewAnswer, Pending};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::langgraph::runs::shown;
use crate::http::{
    auth::{Role, Signed},
    problem::Problem,
    service::{Body, Service},
};

/// Where the schema of an answer says which decision it is.
const DECISION: &str = "/properties/decision/const";

pub(crate) fn routes() -> Router<Service> {
    Router::new().route("/approve/{chat_id}", post(approve))
}

/// What a person decides.
#[derive(Debug, Deserialize, Serialize)]
struct Approval {
    /// The request; `None` for the only one.
    request_id: Option<RequestId>,
    user_action: String,
    #[serde(default)]
    edited_content: Value,
    feedback: Option<String>,
    /// The digest of the request as the person saw it.
    digest: Option<String>,
}

async fn approve(
    State(server): State<Service>,
    signed: Signed,
    Path(chat): Path<String>,
    headers: HeaderMap,
    Body(approval): Body<Approval>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Answer)?;
    let session = server.known_session(&signed, &chat).await?;
    let once = server.idempotency_key(&headers)?;
    let id = approval.request_id.as_ref();
    let asked = match (session.asked(id).await?, id) {
        // A request that is made again means what it meant then.
        (None, Some(id)) if once.is_some() => session.was_asked(id).await?,
        (asked, _) => asked,
    };
    let answer = match (asked, id) {
        (Some(asked), _) => {
            new_answer(asked.id.clone(), &approval.answers(&asked), approval.digest)?
        }
        // What is not open is refused, and the refusal says why.
        (None, Some(id)) => new_answer(id.clone(), &json!(approval), Some(String::new()))?,
        (None, None) => return Err(Problem::no_thread()),
    };
    let row = session.answer(&server, &signed, answer, once).await?;
    Ok(Json(json!({"run": shown(&row), "metadata": {"thread_id": session.key.thread()}})))
}

/// The answer `value` to `id`, which counts for what has this digest.
pub(crate) fn new_answer(
    id: RequestId,
    value: &Value,
    digest: Option<String>,
) -> Result<NewAnswer, Problem> {
    let answer = NewAnswer::new(id, value);
    let answer = answer.map_err(|error| Problem::unprocessable(error.to_string()))?;
    Ok(match digest {
        Some(digest) => answer.shown(digest),
        None => answer,
    })
}

/// The actions of products, and the decisions that they are.
const DECISIONS: [(&str, &str); 7] = [
    ("accept", "approve"),
    ("approved", "approve"),
    ("proceed_anyway", "approve"),
    ("rejected", "reject"),
    ("answer", "respond"),
    ("clarify", "respond"),
    ("reuse_past", "reuse"),
];

impl Approval {
    /// The decision that the action is.
    fn decision(&self) -> &str {
        let known = DECISIONS.iter().find(|(action, _)| *action == self.user_action);
        known.map_or(&self.user_action, |(_, decision)| decision)
    }

    /// The answer to `asked`, in the shape that it asks for. Whether the parts fit is for its schema to say.
    fn answers(&self, asked: &Pending) -> Value {
        if asked.doubt.is_some() {
            return self.settles();
        }
        let schema = asked.schema.as_deref().and_then(|schema| serde_json::from_str(schema).ok());
        let schema: Value = schema.unwrap_or_default();
        match schema
            .get("oneOf")
            .and_then(Value::as_array)
            .filter(|forms| forms.iter().all(is_decision))
        {
            Some(forms) => self.decides(forms, &schema),
            None => self.plain(&schema),
        }
    }

    /// The decision among `forms`, with what its form has room for.
    fn decides(&self, forms: &[Value], schema: &Value) -> Value {
        let decision = self.decision();
        let mut answer = Map::from_iter([("decision".to_owned(), Value::from(decision))]);
        if let Some(digest) = schema.pointer("/properties/digest/const") {
            answer.insert("digest".into(), digest.clone());
        }
        let form =
            forms.iter().find(|form| form.pointer(DECISION).is_some_and(|it| it == decision));
        let parts = form.and_then(|form| form["properties"].as_object()).into_iter().flatten();
        for part in parts.map(|(name, _)| name) {
            let value = match part.as_str() {
                "decision" | "digest" => continue,
                "arguments" => self.edited(),
                "message" => self.feedback().or_else(|| self.content()),
                _ => self.content().or_else(|| self.feedback()),
            };
            answer.extend(value.map(|value| (part.clone(), value)));
        }
        Value::Object(answer)
    }

    /// The answer to a question of a node: yes or no, or what was written.
    fn plain(&self, schema: &Value) -> Value {
        if schema["type"] == "boolean" && self.edited_content.is_null() {
            match self.decision() {
                "approve" => return true.into(),
                "reject" => return false.into(),
                _ => {}
            }
        }
        let written = self.content().or_else(|| self.feedback());
        written.unwrap_or_else(|| Value::from(self.user_action.as_str()))
    }

    /// The resolution of a call in doubt.
    fn settles(&self) -> Value {
        match self.decision() {
            "made" => json!({"made": self.edited_content}),
            "reject" => "give_up".into(),
            other => other.into(),
        }
    }

    fn content(&self) -> Option<Value> {
        Some(self.edited_content.clone()).filter(|content| !content.is_null())
    }

    /// What was edited, which may be JSON in a text.
    fn edited(&self) -> Option<Value> {
        let read = self.edited_content.as_str().and_then(|text| serde_json::from_str(text).ok());
        read.or_else(|| self.content())
    }

    fn feedback(&self) -> Option<Value> {
        self.feedback.as_deref().map(Value::from)
    }
}

fn is_decision(form: &Value) -> bool {
    form.pointer(DECISION).is_some_and(Value::is_string)
}
