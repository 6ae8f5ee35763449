//! The audit of a log.

use std::collections::BTreeMap;

use hanok_checkpoint::{
    Answer, Body, CheckpointError, Checkpointer, Intent, Log, LogEntry, Question, Reopen,
};
use hanok_core::{Position, Timestamp};
use serde_json::Value;

use super::{
    chain::{AuditKey, hash},
    difference::{Difference, differences},
    hidden::without_secrets,
    pass::Passed,
    record::{AuditEvent, AuditRecord},
    shown::{json, schema, schema_of_shown, shown},
};
use crate::digest::{digest, json_digest};

/// The number of entries that are read at a time.
const PAGE: usize = 256;

/// What people were asked on a thread and what they decided, oldest first, over all its branches, without the graph: questions,
/// answers with who gave them and how long they took, edits with what they changed, answers that were taken back, and what passed
/// without them by a rule of theirs or by what they have taught. What a question's
/// form marks as secret (`"writeOnly": true`, `"format": "password"`) is left out. What was pruned or erased is not there; export
/// an audit before.
///
/// Each record holds the hash of the one before, with `key` keyed: [`verify_audit`](crate::verify_audit) finds where records that
/// were written out differ from what was written.
///
/// ```
/// use hanok_agent::{audit_of, verify_audit};
/// # use hanok_checkpoint::{InMemoryCheckpointer, Log, SharedCheckpointer};
/// # use hanok_core::ThreadKey;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
/// let log = Log::new(store, ThreadKey::named("order-7")?);
/// let records = audit_of(&log, None).await?;
/// verify_audit(&records, None)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`CheckpointError`] when the log cannot be read.
pub async fn audit_of(
    log: &Log,
    key: Option<&AuditKey>,
) -> Result<Vec<AuditRecord>, CheckpointError> {
    let Some(head) = log.store().head(log.thread()).await? else { return Ok(Vec::new()) };
    let (mut newest_first, mut before) = (Vec::new(), None);
    loop {
        let page = log.history(before, PAGE).await?;
        before = page.last().map(|last| last.position);
        let ended = page.len() < PAGE || before <= Some(Position::START.next());
        newest_first.extend(page.into_iter().filter(is_of_people));
        if ended {
            break;
        }
    }
    let (mut trail, mut records) = (Trail::default(), Vec::new());
    for LogEntry { position, entry, .. } in newest_first.into_iter().rev() {
        let Some(told) = trail.event(entry.at, entry.body) else { continue };
        let thread = log.thread();
        let mut record = AuditRecord {
            tenant: thread.tenant().as_str().to_owned(),
            thread: thread.thread().to_owned(),
            life: head.life.to_string(),
            position: position.0,
            at: entry.at.0,
            request: told.request,
            path: entry.namespace.segments().map(str::to_owned).collect(),
            node: told.node,
            event: told.event,
            previous: records
                .last()
                .map_or_else(String::new, |last: &AuditRecord| last.hash.clone()),
            hash: String::new(),
        };
        record.hash = hash(&record, &record.previous, key);
        records.push(record);
    }
    Ok(records)
}

fn is_of_people(read: &LogEntry) -> bool {
    match &read.entry.body {
        Body::Question(_) | Body::Answer(_) | Body::Late(_) | Body::Reopen(_) => true,
        Body::Intent(intent) => intent.asks(),
        Body::Memo(memo) => Passed::may_be(memo),
        // What was meant before one of these and has no result is a doubt.
        Body::Begin(_) | Body::End(_) => true,
        _ => false,
    }
}

/// What an entry tells.
struct Event {
    request: String,
    node: String,
    event: AuditEvent,
}

/// The requests so far.
#[derive(Default)]
struct Trail {
    requests: BTreeMap<String, (Timestamp, Question)>,
    /// Calls that the run under way meant to make.
    meant: BTreeMap<String, Intent>,
    /// Those of runs that are over: if they have no result, people say what became of them.
    doubted: BTreeMap<String, Intent>,
}

impl Trail {
    fn event(&mut self, at: Timestamp, body: Body) -> Option<Event> {
        match body {
            Body::Question(question) => self.requested(at, question),
            Body::Intent(intent) => {
                self.meant.insert(intent.id.clone(), intent);
                None
            }
            Body::Begin(_) | Body::End(_) => {
                self.doubted.append(&mut self.meant);
                None
            }
            Body::Answer(answer) => self.answered(at, answer),
            Body::Late(answer) => Some(self.late(at, answer)),
            Body::Memo(memo) => {
                let Passed { gate, about, digest, risk, reasons } = Passed::of(&memo)?;
                let event = AuditEvent::Passed { gate, about, digest, risk, reasons };
                Some(Event { request: memo.name, node: String::new(), event })
            }
            Body::Reopen(Reopen { id, reason }) => {
                let node = self.requests.get(&id).map(|(_, question)| question.node.clone());
                let event = AuditEvent::Reopened { reason };
                Some(Event { request: id, node: node.unwrap_or_default(), event })
            }
            _ => None,
        }
    }

    fn requested(&mut self, at: Timestamp, question: Question) -> Option<Event> {
        // A task that runs again asks the same question again.
        if self.requests.contains_key(&question.id) {
            return None;
        }
        let (payload, form) = (shown(&question.payload), schema(question.schema.as_deref()));
        let rule = payload.get("rule").and_then(Value::as_str).map(str::to_owned);
        let event = AuditEvent::Requested {
            shown: without_secrets(&payload, &schema_of_shown(&form)),
            digest: json_digest(&json(&question.payload)),
            rule,
            audience: question.audience.clone().unwrap_or_default(),
            deadline: question.deadline.map(|deadline| deadline.0),
        };
        let (request, node) = (question.id.clone(), question.node.clone());
        self.requests.insert(question.id.clone(), (at, question));
        Some(Event { request, node, event })
    }

    fn answered(&mut self, at: Timestamp, answer: Answer) -> Option<Event> {
        let Answer { id, value, by, .. } = answer;
        // The run itself says that a call was not made after all.
        if self.meant.remove(&id).is_some() {
            return None;
        }
        let value = json(&value);
        if let Some(Intent { tool, arguments, node, .. }) = self.doubted.remove(&id) {
            let (digest, resolution) = (digest(&arguments), resolution(&value));
            let event = AuditEvent::Settled { tool, digest, resolution, by };
            return Some(Event { request: id, node, event });
        }
        let asked = self.requests.get(&id);
        let form = asked.map(|(_, question)| schema(question.schema.as_deref()));
        let form = form.unwrap_or_default();
        let shown = asked.map(|(_, question)| shown(&question.payload)).unwrap_or_default();
        let answer = without_secrets(&value, &form);
        let decision = answer.get("decision").and_then(Value::as_str).map(str::to_owned);
        let event = AuditEvent::Answered {
            changed: changed(&without_secrets(&shown, &schema_of_shown(&form)), &answer),
            answer,
            digest: json_digest(&value),
            decision,
            by,
            took: asked.map(|(since, _)| at.0.saturating_sub(since.0)),
        };
        let node = asked.map(|(_, question)| question.node.clone()).unwrap_or_default();
        Some(Event { request: id, node, event })
    }
}

impl Trail {
    fn late(&self, at: Timestamp, answer: Answer) -> Event {
        let Answer { id, value, by, .. } = answer;
        let question = self.requests.get(&id).map(|(_, question)| question);
        let value = json(&value);
        let form = question.map(|question| schema(question.schema.as_deref()));
        let answer = without_secrets(&value, &form.unwrap_or_default());
        let decision = answer.get("decision").and_then(Value::as_str).map(str::to_owned);
        let deadline = question.and_then(|question| question.deadline);
        let event = AuditEvent::Late {
            answer,
            digest: json_digest(&value),
            decision,
            by,
            late_by: deadline.map(|deadline| at.0.saturating_sub(deadline.0)),
        };
        let node = question.map(|question| question.node.clone()).unwrap_or_default();
        Event { request: id, node, event }
    }
}

/// What an edit changed of the arguments that were shown.
fn changed(shown: &Value, answer: &Value) -> Vec<Difference> {
    let edits = answer.get("decision").is_some_and(|decision| decision == "edit");
    let before = shown.get("arguments").or_else(|| shown.get("shown"));
    match (before, answer.get("arguments")) {
        (Some(before), Some(after)) if edits => differences(before, after),
        _ => Vec::new(),
    }
}

/// How a doubt was settled: `"not_made"`, `"give_up"`, or `{"made": result}`.
fn resolution(value: &Value) -> String {
    let made = value.as_object().and_then(|made| made.keys().next());
    value.as_str().or(made.map(String::as_str)).unwrap_or_default().to_owned()
}
