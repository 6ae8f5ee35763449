//! Pending records as the entries that say so: for a log whose records are gone.

use hanok_core::{Position, Spent, StoredSchema, StoredState, TaskId, Timestamp};

use crate::{
    entry::body::{Body, Entry},
    entry::fold::{RunFold, ThreadFold},
    entry::state::Rebase,
    entry::step_records::StepRecords,
    entry::task::{Answer, Doubt, Failed, Intent, Memo},
};

/// Takes what is pending out of `fold`, as the entries that make it, each with its position. A commit names writes by theirs;
/// what others say counts, and not where. What was spent is in the fold already.
pub(crate) fn pending(fold: &mut ThreadFold, now: Timestamp) -> Vec<(Position, Entry)> {
    let position = fold.position;
    let mut entries = Vec::new();
    for (path, run) in &mut fold.runs {
        let mut records = std::mem::take(&mut run.records);
        let rebases = rebases(std::mem::take(&mut records.earlier), run);
        let mut bodies = of_run(records, position);
        bodies.extend(rebases.into_iter().map(|rebase| (position, Body::Rebase(rebase))));
        let entry = |body| Entry { at: now, namespace: path.clone(), body };
        entries.extend(bodies.into_iter().map(|(position, body)| (position, entry(body))));
    }
    entries.sort_by_key(|(position, _)| *position);
    entries
}

/// Puts the first of the `earlier` states into `run`, and gives the records that lead from it to the state that `run` had.
fn rebases(earlier: Vec<StoredState>, run: &mut RunFold) -> Vec<Rebase> {
    let mut earlier = earlier.into_iter();
    let Some(first) = earlier.next() else { return Vec::new() };
    let schema = std::mem::replace(&mut run.schema, first.schema);
    let fields = std::mem::replace(&mut run.fields, first.fields);
    let rebase = |state: StoredState| Rebase {
        schema: StoredSchema::clone(&state.schema),
        fields: state.fields.to_stored(),
        writes: Vec::new(),
        added: None,
    };
    earlier.chain([StoredState { schema, fields }]).map(rebase).collect()
}

fn of_run(records: StepRecords, at: Position) -> Vec<(Position, Body)> {
    let spent = Spent::default();
    let answer = |(id, value)| Body::Answer(Answer { id, value, by: None, key: None });
    let StepRecords { pending, memos, intents, settled, failures, questions, answers, .. } =
        records;
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
