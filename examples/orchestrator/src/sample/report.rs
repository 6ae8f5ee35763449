//! Reports, which are tasks: the call gets a handle at once, and the report when it is asked for later.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    calendar,
    data::Report,
    desk::{Desk, is_korean},
    notes,
    protocol::{complete, text, with},
};

/// The time between two polls that the server wishes for, in milliseconds.
const POLL_MILLIS: u64 = 100;

/// Begins a report. A call that comes again under its key is told of the same task.
pub(super) fn begin(desk: &mut Desk, topic: &str, key: &str) -> Value {
    let number = desk.store.data.reports.len() + 1;
    let id = if key.is_empty() { format!("report-{number}") } else { format!("report-{key}") };
    let began = desk.now().timestamp().as_millisecond();
    let report = Report { topic: topic.to_owned(), began, cancelled: false };
    let task = with(handle(&id, &report, "working"), "resultType", json!("task"));
    desk.store.data.reports.insert(id, report);
    task
}

/// The state of the task `id`, with its result when it is done; `None` where there is no such task.
pub(super) fn state(desk: &Desk, id: &str) -> Option<Value> {
    let report = desk.store.data.reports.get(id)?;
    let passed = desk.now().timestamp().as_millisecond() - report.began;
    let state = match (report.cancelled, passed >= desk.report_millis) {
        (true, _) => "cancelled",
        (false, true) => "completed",
        (false, false) => "working",
    };
    let task = complete(handle(id, report, state));
    Some(match state {
        "completed" => with(task, "result", written(desk, &report.topic)),
        _ => task,
    })
}

fn handle(id: &str, report: &Report, state: &str) -> Value {
    let began = Timestamp::from_millisecond(report.began).map(|it| it.to_string());
    let began = began.unwrap_or_default();
    json!({
        "taskId": id, "status": state, "createdAt": began, "lastUpdatedAt": began, "ttlMs": null,
        "pollIntervalMs": POLL_MILLIS,
    })
}

/// The report: what notes and events there are.
fn written(desk: &Desk, topic: &str) -> Value {
    let data = &desk.store.data;
    let notes: Vec<_> = data.notes.iter().map(|note| format!("- {}", note.text)).collect();
    let mut events: Vec<_> = data.events.iter().map(calendar::line).collect();
    events.sort();
    let events: Vec<_> = events.iter().map(|event| format!("- {event}")).collect();
    let about = notes::matching(desk, topic).len();
    text(match is_korean(topic) {
        true => format!(
            "보고서를 다 만들었습니다. 메모 {}개(주제에 맞는 것 {about}개), 일정 {}개입니다.\n{}",
            notes.len(),
            events.len(),
            [notes, events].concat().join("\n")
        ),
        false => format!(
            "The report is done: {} notes ({about} about it), {} events.\n{}",
            notes.len(),
            events.len(),
            [notes, events].concat().join("\n")
        ),
    })
}
