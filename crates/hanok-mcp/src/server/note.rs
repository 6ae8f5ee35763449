//! The note of a call that is under way: how it goes on, in whichever process.

use rmcp::model::{InputRequests, Task};
use serde::{Deserialize, Serialize};

/// The note of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallNote {
    /// The server asks before it goes on.
    Questions(AskedNote),
    /// The server has begun a task.
    Task(TaskNote),
}

/// The questions of a server to one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AskedNote {
    /// The requests by their keys, as JSON text.
    pub(super) requests: String,
    /// The server's own state, as it sent it.
    pub(super) state: Option<String>,
    /// The number of this round of questions, from 1 on.
    pub(super) round: u32,
    /// True from before a call that must not be repeated is made with the answers.
    pub(super) sent: bool,
}

/// The handle of a task that a server has begun for a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskNote {
    pub(super) id: String,
    pub(super) poll_ms: Option<u64>,
}

impl AskedNote {
    pub(super) fn new(
        requests: &InputRequests,
        state: Option<String>,
        round: u32,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self { requests: serde_json::to_string(requests)?, state, round, sent: false })
    }

    pub(super) fn requests(&self) -> Result<InputRequests, serde_json::Error> {
        serde_json::from_str(&self.requests)
    }
}

impl From<Task> for TaskNote {
    fn from(task: Task) -> Self {
        Self { id: task.task_id, poll_ms: task.poll_interval_ms }
    }
}

#[cfg(test)]
mod tests {
    use hanok_core::Stored;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        /// What a server sent is sent back as it was, in whichever process.
        #[test]
        fn a_note_is_read_as_it_was_kept(
            state in any::<Option<String>>(),
            (message, key) in any::<(String, String)>(),
            (round, sent) in any::<(u32, bool)>(),
        ) {
            let form = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
            let params = json!({"mode": "form", "message": message, "requestedSchema": form});
            let requests = json!({key: {"method": "elicitation/create", "params": params}});
            let requests: InputRequests = serde_json::from_value(requests).unwrap();
            let asked = AskedNote { sent, ..AskedNote::new(&requests, state, round).unwrap() };
            let note = CallNote::Questions(asked.clone());
            prop_assert_eq!(Stored::encode(&note).unwrap().decode::<CallNote>().unwrap(), note);
            prop_assert_eq!(asked.requests().unwrap(), requests);
        }
    }
}
