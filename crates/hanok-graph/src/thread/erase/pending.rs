//! Pending records that an erasure drops, because they hold erased words.

use hanok_checkpoint::{
    Body, CheckpointError, Doubt, Goto, Intent, Log, RunFold, StepRecords, ThreadFold,
};
use hanok_core::{Stored, TaskId};

use crate::{node::note, outcome::Resolution};

use super::words::Words;

/// The number of entries that are read at a time.
const PAGE: usize = 256;

/// The intents of the calls in `fold` whose results hold a word that is `gone`. The log is read only if there are any.
pub(super) async fn meant(
    log: &Log,
    fold: &ThreadFold,
    gone: &Words,
) -> Result<Vec<Intent>, CheckpointError> {
    let runs = || fold.runs.values();
    let memos = runs().flat_map(|run| &run.records.memos);
    let called = memos.filter(|((_, name), value)| is_call(name) && gone.are_in(value));
    let mut called: Vec<_> = called.map(|(key, _)| key.clone()).collect();
    let settled = runs().flat_map(|run| &run.records.settled);
    let settled = settled.filter(|(_, value)| result_holds(gone, value));
    let mut settled: Vec<_> = settled.map(|(id, _)| id.clone()).collect();
    let (mut meant, mut before) = (Vec::new(), None);
    while !(called.is_empty() && settled.is_empty()) {
        let page = log.history(before, PAGE).await?;
        for read in &page {
            let Body::Intent(intent) = &read.entry.body else { continue };
            let is_of = |(task, key): &(TaskId, String)| *task == intent.task && *key == intent.key;
            if called.iter().any(is_of) || settled.contains(&intent.id) {
                called.retain(|key| !is_of(key));
                settled.retain(|id| *id != intent.id);
                // Its note goes with its result.
                meant.push(Intent { noted: false, ..intent.clone() });
            }
        }
        match page.last() {
            Some(last) => before = Some(last.position),
            None => break,
        }
    }
    // What is not in the log an earlier erasure took out of it.
    for (task, key) in called {
        let (tool, arguments, node) = (String::new(), String::new(), String::new());
        let (id, doubt, noted) = (format!("{key}#0"), Doubt::Ask, false);
        meant.push(Intent { task, key, tool, arguments, id, node, doubt, noted });
    }
    Ok(meant)
}

/// True if a memo is the result of a call, whose name is its key: a digest and a count.
fn is_call(name: &str) -> bool {
    let Some((digest, count)) = name.rsplit_once('-') else { return false };
    let hex = digest.len() >= 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex && count.parse::<u32>().is_ok()
}

/// True if a person's resolution of a call has a result with a word that is `gone`.
fn result_holds(gone: &Words, result: &Stored) -> bool {
    matches!(Resolution::read(result), Some(Resolution::Made(result)) if gone.are_in(&result))
}

/// Drops the pending records of `run` that hold a word that is `gone`. A call whose result, or whose note, is dropped is in doubt.
pub(super) fn forget(run: &mut RunFold, gone: &Words, meant: &[Intent]) {
    if gone.is_empty() {
        return;
    }
    let StepRecords { pending, memos, intents, settled, failures, questions, answers, earlier } =
        &mut run.records;
    // They may hold such a word, too. A write that was made on one of them cannot be translated then, which is said.
    earlier.clear();
    pending.retain(|_, write| {
        let sends = write.goto.iter().any(|goto| match goto {
            Goto::Send(due) => due.input.as_ref().is_some_and(|i| gone.are_in(i)),
            _ => false,
        });
        let hands = write.outbox.iter().any(|item| gone.are_in(&item.payload));
        !sends && !hands && !gone.are_in_changes(&write.changes)
    });
    let mut doubtful = Vec::new();
    memos.retain(|(task, name), value| {
        let stays = !gone.are_in(value);
        // Without its note nobody knows where the call stands.
        if let (false, Some(key)) = (stays, note::key_of(name))
            && let Some(intent) = intents.get_mut(&(*task, key.to_owned()))
        {
            intent.noted = false;
        }
        let is_of = |intent: &&Intent| intent.task == *task && intent.key == *name;
        doubtful.extend(meant.iter().find(is_of).filter(|_| !stays));
        stays
    });
    settled.retain(|id, value| {
        let stays = !result_holds(gone, value);
        doubtful.extend(meant.iter().find(|intent| intent.id == *id).filter(|_| !stays));
        stays
    });
    let doubtful = doubtful.into_iter().cloned();
    intents.extend(doubtful.map(|intent| ((intent.task, intent.key.clone()), intent)));
    for intent in intents.values_mut().filter(|intent| gone.are_in_text(&intent.arguments)) {
        intent.arguments.clear();
    }
    questions.retain(|question| !gone.are_in(&question.payload));
    answers.retain(|id, value| {
        !gone.are_in(value) && questions.iter().any(|question| question.id == *id)
    });
    for failed in failures.values_mut().filter(|failed| gone.are_in_text(&failed.message)) {
        failed.message.clear();
    }
}
