//! Pending records as the entries that say so: for a log whose records are gone.

use hanok_core::{Position, Spent, TaskId, Timestamp};

use crate::{
    entry::body::{Body, Entry},
    entry::fold::ThreadFold,
    entry::step_records::StepRecords,
    entry::task::{Answer, Doubt, Failed, Intent, Memo},
};

/// Takes what is pending out of `fold`, as the entries that make it, each with its position. A commit names writes by theirs;
/// what others say counts, and not where. What was spent is in the fold already.
pub(crate) fn pending(fold: &mut ThreadFold, now: Timestamp) -> Vec<(Position, Entry)> {
    let position = fold.position;
    let mut entries = Vec::new();
    for (path, run) in &mut fold.runs {
        let bodies = of_run(std::mem::take(&mut run.records), position);
        let entry = |body| Entry { at: now, namespace: path.clone(), body };
        entries.extend(bodies.into_iter().map(|(position, body)| (position, entry(body))));
    }
    entries.sort_by_key(|(position, _)| *position);
    entries
}

fn of_run(records: StepRecords, at: Position) -> Vec<(Position, Body)> {
    let spent = Spent::default();
    let answer = |(id, value)| Body::Answer(Answer { id, value, by: None, key: None });
    let StepRecords { pending, memos, intents, settled, failures, questions, answers } = records;
    let failures = failures.into_values().map(|failed| Body::Failed(Failed { spent, ..failed }));
    let memos = memos
        .into_iter()
        .map(|((task, name), value)| Body::Memo(Memo { task, name, value, spent }));
    // An answer settles a call if the call was meant before it.
    let settled = settled.into_iter().flat_map(|(id, value)| {
        let (key, none) = (id.clone(), String::new());
        let meant = Intent {
            task: TaskId::from_bytes([0; 16]),
            key,
            tool: none.clone(),
            arguments: none.clone(),
            id: id.clone(),
            node: none,
            doubt: Doubt::Ask,
            noted: false,
        };
        [Body::Intent(meant), answer((id, value))]
    });
    let intents = intents.into_values().map(Body::Intent);
    let questions = questions.into_iter().map(Body::Question);
    let answers = answers.into_iter().map(answer);
    // An answer to a question settles no call that was meant after it.
    let others =
        failures.chain(settled).chain(questions).chain(answers).chain(memos).chain(intents);
    let writes = pending.into_iter().map(|(position, write)| (position, Body::Write(write)));
    writes.chain(others.map(|body| (at, body))).collect()
}
