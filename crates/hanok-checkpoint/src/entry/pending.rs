//! Pending records as the entries that say so: for a log whose records are gone.

use hanok_core::{Namespace, Position, Spent, TaskId, Timestamp};

use crate::{
    entry::body::{Body, Entry},
    entry::fold::{RunFold, ThreadFold},
    entry::step_records::StepRecords,
    entry::task::{Answer, Doubt, Failed, Intent, Memo},
};

/// The entries that make what is pending in `fold` of what is not, each with its position. A commit names writes by theirs;
/// what others say counts, and not where. What was spent is in the fold already.
pub(crate) fn pending(fold: &ThreadFold, now: Timestamp) -> Vec<(Position, Entry)> {
    let mut entries: Vec<_> =
        fold.runs.iter().flat_map(|(path, run)| of_run(path, run, fold.position, now)).collect();
    entries.sort_by_key(|(position, _)| *position);
    entries
}

fn of_run(path: &Namespace, run: &RunFold, at: Position, now: Timestamp) -> Vec<(Position, Entry)> {
    let spent = Spent::default();
    let StepRecords { pending, memos, intents, settled, failures, questions, answers } =
        &run.records;
    let writes = pending.iter().map(|(position, write)| (*position, Body::Write(write.clone())));
    let failures = failures.values().map(|failed| Body::Failed(Failed { spent, ..failed.clone() }));
    let memos = memos.iter().map(|((task, name), value)| {
        Body::Memo(Memo { task: *task, name: name.clone(), value: value.clone(), spent })
    });
    // An answer settles a call if the call was meant before it.
    let settled = settled.iter().flat_map(|(id, value)| {
        let task = TaskId::from_bytes([0; 16]);
        let (key, id, none) = (id.clone(), id.clone(), String::new());
        let meant = Intent {
            task,
            key,
            tool: none.clone(),
            arguments: none.clone(),
            id: id.clone(),
            node: none,
            doubt: Doubt::Ask,
        };
        [Body::Intent(meant), Body::Answer(Answer { id, value: value.clone() })]
    });
    let intents = intents.values().map(|intent| Body::Intent(intent.clone()));
    let questions = questions.iter().map(|question| Body::Question(question.clone()));
    let answers = answers
        .iter()
        .map(|(id, value)| Body::Answer(Answer { id: id.clone(), value: value.clone() }));
    // An answer to a question settles no call that was meant after it.
    let others = failures.chain(settled).chain(questions).chain(answers);
    let others = others.chain(memos).chain(intents).map(|body| (at, body));
    let entry = |(position, body)| (position, Entry { at: now, namespace: path.clone(), body });
    writes.chain(others).map(entry).collect()
}
