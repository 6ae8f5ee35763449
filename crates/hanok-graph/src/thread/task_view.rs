//! The view of one task that is due.

use std::collections::BTreeMap;

use hanok_checkpoint::{RunFold, ThreadLife};
use hanok_core::{Changes, Namespace, Stored, StoredError, TaskId, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    ids,
    outcome::{Pending, open_questions},
    run::plan::indices,
};

/// The view of one task that is due: the records that it has left in the log so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskView {
    /// The task.
    pub id: TaskId,
    /// The node.
    pub node: String,
    /// The results of its [steps](crate::Context::step), by name.
    pub steps: BTreeMap<String, Stored>,
    /// True when its writes are stored: it is not run again.
    pub is_done: bool,
    /// What it writes, once it is done.
    pub writes: Option<Changes>,
    /// The requests that it waits for.
    pub requests: Vec<Pending>,
    /// The last failure, where the node's error handler is due.
    pub failure: Option<String>,
}

impl TaskView {
    /// The result of the step `name`, if it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it is no `T`.
    pub fn step<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoredError> {
        self.steps.get(name).map(Stored::decode).transpose()
    }

    /// The views of the tasks of `run`, in the order in which they are due.
    pub(crate) fn all(
        of: &ThreadLife,
        namespace: &Namespace,
        run: &RunFold,
        now: Timestamp,
    ) -> Vec<Self> {
        let due = &run.frontier.due;
        let (done, records) = (run.records.written(), &run.records);
        let is_done = |task| done.contains(&task);
        let open = open_questions(&records.questions, &records.answers, is_done, now);
        let view = |(index, due): (usize, &hanok_checkpoint::Due)| {
            let id = ids::task(of, namespace, run.turn, run.frontier.step, &due.node, index);
            let doubts = records.intents.values().filter(|intent| intent.task == id);
            let doubts = doubts.filter(|intent| intent.asks());
            let doubts = doubts.map(|intent| Pending::of_intent(intent, namespace));
            let asks = open.iter().filter(|question| question.task == id);
            let asks = asks.map(|question| Pending::of_question(question, namespace));
            let write = records.pending.values().find(|write| write.task == id);
            let memos = records.memos.iter().filter(|((task, _), _)| *task == id);
            let steps = memos.map(|((_, name), value)| (name.clone(), value.clone())).collect();
            Self {
                id,
                node: due.node.to_string(),
                steps,
                is_done: write.is_some(),
                writes: write.map(|write| write.changes.clone()),
                requests: doubts.chain(asks).collect(),
                failure: records.failures.get(&id).map(|failed| failed.message.clone()),
            }
        };
        indices(due).into_iter().zip(due).map(view).collect()
    }
}
