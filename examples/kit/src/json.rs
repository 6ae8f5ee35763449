//! Events as JSON, one a line.

use hanok_core::{Stored, Token};
use hanok_graph::{Event, EventKind, Pending};
use serde_json::{Value, json};

use crate::Talk;

/// What of an event is told to a program: `None` for what only this process can read.
pub(crate) fn line(event: &Event, answers: bool, talk: &impl Talk) -> Option<String> {
    let mut told = match &event.kind {
        EventKind::TaskStarted { .. } => json!({"event": "task_started"}),
        EventKind::TaskFinished { cached } => json!({"event": "task_finished", "cached": cached}),
        EventKind::TaskRetried { error, .. } => json!({"event": "task_retried", "error": error}),
        EventKind::TaskFailed { error, .. } => json!({"event": "task_failed", "error": error}),
        EventKind::Token(Token::Text(text)) => {
            json!({"event": "token", "text": text, "answer": answers})
        }
        EventKind::Token(Token::Reasoning(text)) => json!({"event": "reasoning", "text": text}),
        EventKind::Token(Token::Retracted) => json!({"event": "retracted"}),
        EventKind::Custom(item) => match talk.told(item) {
            Some(told) => told,
            None => json!({"event": "progress", "item": value(item)}),
        },
        EventKind::Ended { outcome, error, spent, .. } => {
            json!({"event": "ended", "outcome": outcome.as_str(), "error": error, "spent": spent})
        }
        EventKind::AnswerVoided { request, reason } => {
            json!({"event": "answer_voided", "request": request.id.0, "reason": reason})
        }
        EventKind::Tool(_) => talk.told_call(event)?,
        EventKind::Lagged(count) => json!({"event": "lagged", "count": count}),
        EventKind::Cut { error } => json!({"event": "cut", "error": error}),
        _ => return None,
    };
    if let Some(told) = told.as_object_mut() {
        if let Some(node) = &event.node {
            told.insert("node".into(), node.to_string().into());
        }
        if !event.path.is_root() {
            told.insert("path".into(), event.path.to_string().into());
        }
    }
    Some(told.to_string())
}

/// How the turn ended.
pub(crate) fn ended(answer: Option<&str>, exit: u8) -> String {
    json!({"event": "answer", "text": answer, "exit": exit}).to_string()
}

/// A question that waits for a person, as the event `event`.
pub(crate) fn question(question: &Pending, event: &str) -> String {
    let schema = question.schema.as_deref().and_then(|schema| serde_json::from_str(schema).ok());
    let schema: Value = schema.unwrap_or(Value::Null);
    let doubt = question
        .doubt
        .as_ref()
        .map(|doubt| json!({"tool": doubt.tool, "arguments": doubt.arguments}));
    json!({
        "event": event,
        "id": question.id.0,
        "node": question.node,
        "question": value(&question.payload),
        "schema": schema,
        "doubt": doubt,
    })
    .to_string()
}

fn value(item: &Stored) -> Value {
    item.decode().unwrap_or(Value::Null)
}
