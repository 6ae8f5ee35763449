//! Records of the tasks of one super-step.

use std::collections::{BTreeMap, BTreeSet};

use hanok_core::{Position, Stored, StoredState, TaskId};

use crate::entry::task::{Failed, Intent, Memo, Question, TaskWrite};

/// Records of the tasks that are due: all that the log says of them before the commit of their super-step.
///
/// ```
/// use hanok_checkpoint::StepRecords;
/// use hanok_core::Stored;
///
/// let mut records = StepRecords::default();
/// records.answer("some-question", &Stored::encode("yes")?);
/// assert!(!records.is_empty());
/// records.clear();
/// assert!(records.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepRecords {
    /// Writes of tasks that are done, by their positions.
    pub pending: BTreeMap<Position, TaskWrite>,
    /// Results of memoised steps, by task and name.
    pub memos: BTreeMap<(TaskId, String), Stored>,
    /// Calls that must not be made twice and whose outcome is not stored, by task and idempotency key.
    pub intents: BTreeMap<(TaskId, String), Intent>,
    /// Answers of people to doubts about such calls, by the id of the doubt.
    pub settled: BTreeMap<String, Stored>,
    /// Tasks that have failed for the last time, whose error handler is due.
    pub failures: BTreeMap<TaskId, Failed>,
    /// Questions of the tasks, in the order in which they were asked.
    pub questions: Vec<Question>,
    /// Answers to the questions, by id.
    pub answers: BTreeMap<String, Stored>,
    /// The state before each [`Rebase`](crate::Rebase) behind the first memo, oldest first: a memo may hold a write in its schema.
    pub earlier: Vec<StoredState>,
}

impl StepRecords {
    /// Checks whether the tasks begin afresh: the log says nothing of them.
    pub fn is_empty(&self) -> bool {
        let Self { pending, memos, intents, settled, failures, questions, answers, earlier } = self;
        pending.is_empty()
            && earlier.is_empty()
            && memos.is_empty()
            && intents.is_empty()
            && settled.is_empty()
            && failures.is_empty()
            && questions.is_empty()
            && answers.is_empty()
    }

    /// Removes all records: other tasks are due.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Notes an answer: to the call in doubt of this id, whose intent it settles, or else to a question.
    ///
    /// ```
    /// # use hanok_checkpoint::{Doubt, Intent, StepRecords};
    /// # use hanok_core::{Stored, TaskId};
    /// # let task = TaskId::from_bytes([0; 16]);
    /// # let (tool, arguments, node) = ("pay".into(), "{}".into(), "call".into());
    /// # let intent = Intent { task, key: "k".into(), tool, arguments, id: "k#0".into(), node, doubt: Doubt::Ask, noted: false };
    /// let mut records = StepRecords::default();
    /// records.intents.insert((task, "k".to_owned()), intent);
    /// records.answer("k#0", &Stored::encode("not_made")?);
    /// assert!(records.intents.is_empty() && records.settled.contains_key("k#0"));
    ///
    /// records.answer("a-question", &Stored::encode("yes")?);
    /// assert!(records.answers.contains_key("a-question"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answer(&mut self, id: &str, value: &Stored) {
        let settles = self.intents.extract_if(.., |_, intent| intent.id == id).next().is_some();
        let answers = if settles { &mut self.settled } else { &mut self.answers };
        answers.insert(id.to_owned(), value.clone());
    }

    /// Notes a question, as the last one. A question of the same id gives way to it.
    pub fn ask(&mut self, question: Question) {
        self.questions.retain(|other| other.id != question.id);
        self.questions.push(question);
    }

    /// Removes pending writes.
    pub(crate) fn void(&mut self, writes: &[Position]) {
        writes.iter().for_each(|position| {
            self.pending.remove(position);
        });
    }

    /// Notes a call that is about to be made.
    pub(crate) fn intend(&mut self, intent: Intent) {
        self.intents.insert((intent.task, intent.key.clone()), intent);
    }

    /// Removes the answer to a question.
    pub(crate) fn reopen(&mut self, question: &str) {
        self.answers.remove(question);
    }

    /// Notes the result of a memoised step, or of a call, whose intent is settled.
    pub(crate) fn memoise(&mut self, memo: &Memo) {
        let key = (memo.task, memo.name.clone());
        self.intents.remove(&key);
        self.memos.insert(key, memo.value.clone());
    }

    /// Notes that the state, which is `before` so far, is written anew in another schema.
    pub fn rebase(&mut self, before: impl FnOnce() -> StoredState) {
        if !self.memos.is_empty() {
            self.earlier.push(before());
        }
    }

    /// The questions that have no answer, in the order in which they were asked.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| !self.answers.contains_key(&question.id))
    }

    /// The tasks whose writes are pending.
    pub fn written(&self) -> BTreeSet<TaskId> {
        self.pending.values().map(|write| write.task).collect()
    }

    /// The records of `task`. Settled doubts do not name a task: all of them are among its records.
    #[must_use]
    pub fn of_task(&self, task: TaskId) -> Self {
        fn chosen<K: Ord + Clone, V: Clone>(
            all: &BTreeMap<K, V>,
            is_of: impl Fn(&K, &V) -> bool,
        ) -> BTreeMap<K, V> {
            let chosen = all.iter().filter(|(key, value)| is_of(key, value));
            chosen.map(|(key, value)| (key.clone(), value.clone())).collect()
        }
        let Self { pending, memos, intents, settled, failures, questions, answers, earlier } = self;
        let questions: Vec<_> =
            questions.iter().filter(|question| question.task == task).cloned().collect();
        Self {
            pending: chosen(pending, |_, write| write.task == task),
            memos: chosen(memos, |key, _| key.0 == task),
            intents: chosen(intents, |key, _| key.0 == task),
            settled: settled.clone(),
            failures: chosen(failures, |failed, _| *failed == task),
            answers: chosen(answers, |id, _| questions.iter().any(|question| question.id == *id)),
            questions,
            earlier: earlier.clone(),
        }
    }
}
