//! A task that a server has begun for a call: it is polled until it ends, by whichever process makes the call again.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, LostCall};
use hanok_model::ToolError;
use rmcp::model::{
    CallToolResult, DetailedTask, InputRequests, InputResponses, JsonObject, Task, TaskPayload,
    TaskStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{call::Target, handle::Server, note::TaskNote};
use crate::{connection::Live, error::ServerError, text::line};

/// The shortest time between two polls, whatever the server says.
const SHORTEST_POLL: Duration = Duration::from_millis(100);

/// The longest time between two polls, whatever the server says.
const LONGEST_POLL: Duration = Duration::from_secs(60);

/// The time between two polls of a server that says none.
const POLL: Duration = Duration::from_secs(1);

/// The polls that may fail in a row. The task is polled again by the next run.
const MOST_FAILURES: u32 = 5;

/// The time for which a server is waited for that is asked to stop a task of a stopped turn.
const CANCELLING: Duration = Duration::from_secs(10);

/// The codes of JSON-RPC by which a server says that it does not know a task.
const FORGOTTEN: [i32; 4] = [-32602, -32601, -32002, -32001];

/// The state of a task, as its server tells it: observers of the run are sent it as
/// [`CallItem::Custom`](hanok_core::CallItem::Custom) when it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskProgress {
    /// The task, as the server names it.
    pub task: String,
    /// The state: `working`, `input_required`, `completed`, `failed`, `cancelled`.
    pub status: String,
    /// The server's words, in one line with hidden characters as escapes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl TaskProgress {
    fn of(task: &Task) -> Self {
        let status = match task.status {
            TaskStatus::InputRequired => "input_required",
            TaskStatus::Completed => "completed",
            TaskStatus::Failed => "failed",
            TaskStatus::Cancelled => "cancelled",
            _ => "working",
        };
        let message = task.status_message.as_deref().map(|message| line(message, 1024));
        Self { task: line(&task.task_id, 256), status: status.to_owned(), message }
    }
}

/// Asks the server to stop a task when the call is dropped because its turn stops.
#[derive(Debug)]
struct CancelOnStop<'a> {
    task: &'a str,
    call: &'a Call,
    live: Option<Arc<Live>>,
}

impl Drop for CancelOnStop<'_> {
    fn drop(&mut self) {
        let Some(live) = self.live.take().filter(|_| self.call.stop().is_cancelled()) else {
            return;
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let task = self.task.to_owned();
        let open = live.clone();
        live.says(runtime.spawn(async move {
            // Nobody is there any more who could be told that it failed.
            let _ = tokio::time::timeout(CANCELLING, open.cancel_task(&task)).await;
        }));
    }
}

/// The answers to the questions of one task. Each is put to the person once, and handed over until the server has it.
#[derive(Debug, Default)]
struct TaskAnswers {
    answered: InputResponses,
    handed_over: Vec<String>,
}

impl Server {
    /// Polls the task `note` until it ends. The time that it may take is the server's to say.
    pub(super) async fn follow(
        &self,
        target: &Target,
        note: &TaskNote,
        call: &Call,
    ) -> Result<CallToolResult, ToolError> {
        let mut stop = CancelOnStop { task: &note.id, call, live: None };
        let followed = self.polled(target, note, call, &mut stop).await;
        // It has an end, or the next run polls it.
        stop.live = None;
        followed
    }

    async fn polled(
        &self,
        target: &Target,
        note: &TaskNote,
        call: &Call,
        stop: &mut CancelOnStop<'_>,
    ) -> Result<CallToolResult, ToolError> {
        let (mut failures, mut last, mut answers) = (0, None, TaskAnswers::default());
        let mut wait = interval(note.poll_ms);
        loop {
            let polled = match self.poll(&note.id, stop).await {
                Ok(now) => {
                    wait = interval(now.task.poll_interval_ms.or(note.poll_ms));
                    let progress = TaskProgress::of(&now.task);
                    if last.as_ref() != Some(&progress) {
                        call.custom(&progress);
                        last = Some(progress);
                    }
                    match self.state(target, now, &mut answers, stop).await? {
                        TaskState::Ended(result) => return Ok(result),
                        TaskState::Open(handed_over) => handed_over,
                    }
                }
                Err(error) => Err(error),
            };
            match polled {
                Ok(()) => failures = 0,
                Err(ServerError::Refused { code, .. }) if FORGOTTEN.contains(&code) => {
                    let error = ServerError::TaskForgotten { task: line(&note.id, 256) };
                    return Err(ToolError::InDoubt(LostCall(self.error(error).into()).into()));
                }
                Err(error) => {
                    failures += 1;
                    if failures >= MOST_FAILURES {
                        // The task may go on all the same.
                        let error = self.error(self.noted(error));
                        return Err(ToolError::InDoubt(error.into()));
                    }
                }
            }
            call.clock().sleep(wait).await;
        }
    }

    /// The task `id` as it is now. A connection that was lost is made again.
    async fn poll(
        &self,
        id: &str,
        stop: &mut CancelOnStop<'_>,
    ) -> Result<DetailedTask, ServerError> {
        let (live, _) = self.live().await?;
        stop.live = Some(live.clone());
        let polled = self.within(self.config.tool_timeout(), live.task(id)).await;
        if let Err(error) = &polled
            && !matches!(error, ServerError::Refused { .. })
        {
            self.drop_connection(&live).await;
        }
        polled
    }

    /// What becomes of the call by the state of its task.
    async fn state(
        &self,
        target: &Target,
        now: DetailedTask,
        answers: &mut TaskAnswers,
        stop: &CancelOnStop<'_>,
    ) -> Result<TaskState, ToolError> {
        match now.payload {
            TaskPayload::Completed { result } => {
                let result = serde_json::from_value(Value::Object(result)).map_err(|error| {
                    ToolError::failed(self.error(ServerError::Protocol(error.into())))
                })?;
                Ok(TaskState::Ended(result))
            }
            TaskPayload::Failed { error } => {
                Err(ToolError::failed(self.error(failed_task(&error))))
            }
            TaskPayload::Cancelled => {
                let message = now.task.status_message.map(|message| line(&message, 1024));
                Err(ToolError::failed(self.error(ServerError::TaskCancelled { message })))
            }
            TaskPayload::InputRequired { input_requests } => {
                let Some(live) = &stop.live else { return Ok(TaskState::Open(Ok(()))) };
                let new = |key: &String| !answers.answered.contains_key(key);
                let open: InputRequests =
                    input_requests.into_iter().filter(|(key, _)| new(key)).collect();
                match self.answers(target, &open, stop.task, stop.call).await {
                    Ok(more) => answers.answered.extend(more),
                    Err(error @ ToolError::Waiting(_)) => return Err(error),
                    Err(error) => {
                        // It waits for what it is never told.
                        let cancelling = live.cancel_task(stop.task);
                        let _ = self.within(self.config.tool_timeout(), cancelling).await;
                        return Err(error);
                    }
                }
                let left = |key: &String| !answers.handed_over.contains(key);
                let left: InputResponses = answers
                    .answered
                    .iter()
                    .filter(|(key, _)| left(key))
                    .map(|(key, answer)| (key.clone(), answer.clone()))
                    .collect();
                if left.is_empty() {
                    return Ok(TaskState::Open(Ok(())));
                }
                let keys: Vec<_> = left.keys().cloned().collect();
                let updating = live.update_task(stop.task, left);
                let updated = self.within(self.config.tool_timeout(), updating).await;
                if updated.is_ok() {
                    answers.handed_over.extend(keys);
                }
                Ok(TaskState::Open(updated))
            }
            _ => Ok(TaskState::Open(Ok(()))),
        }
    }
}

/// What is known of a task after a poll.
enum TaskState {
    /// It has ended with this.
    Ended(CallToolResult),
    /// It goes on; its server was reached or not.
    Open(Result<(), ServerError>),
}

fn interval(millis: Option<u64>) -> Duration {
    millis.map_or(POLL, Duration::from_millis).clamp(SHORTEST_POLL, LONGEST_POLL)
}

fn failed_task(error: &JsonObject) -> ServerError {
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    ServerError::Refused { code: code.unwrap_or_default(), message: line(message, 1024) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_server_is_bounded() {
        for (millis, want) in [
            (None, POLL),
            (Some(0), SHORTEST_POLL),
            (Some(5_000), Duration::from_secs(5)),
            (Some(u64::MAX), LONGEST_POLL),
        ] {
            assert_eq!(interval(millis), want, "{millis:?}");
        }
    }
}
