//! Answers to the requests of a thread.

use hanok_checkpoint::{Body, Doubt, Log, OpenLog, RunFold};
use hanok_core::{Namespace, Position, RequestId, Stored, Timestamp};

use crate::{
    error::RunError,
    outcome::{Pending, Resolution, open_questions},
};

/// The number of entries that are read at a time, and of the reads.
const PAGE: usize = 256;
const PAGES: usize = 16;

/// An answer that passed its checks.
pub(crate) struct CheckedAnswer {
    /// The graph of the question.
    pub(crate) path: Namespace,
    pub(crate) id: RequestId,
    pub(crate) value: Stored,
}

/// The open requests of a thread at `now`: calls in doubt, then questions, by namespace.
pub(crate) fn open(opened: Option<&OpenLog>, now: Timestamp) -> Vec<Pending> {
    let runs = opened.into_iter().flat_map(|opened| &opened.fold.runs);
    let requests = runs.flat_map(|(path, run)| {
        let doubts = run.records.intents.values().filter(|intent| intent.doubt == Doubt::Ask);
        let doubts = doubts.map(|intent| Pending::of_intent(intent, path));
        doubts.chain(questions(run, path, now))
    });
    requests.collect()
}

/// The questions of one graph that wait for an answer at `now`.
pub(crate) fn questions(run: &RunFold, path: &Namespace, now: Timestamp) -> Vec<Pending> {
    let done = run.records.written();
    let open = open_questions(
        &run.records.questions,
        &run.records.answers,
        |task| done.contains(&task),
        now,
    );
    open.into_iter().map(|question| Pending::of_question(question, path)).collect()
}

/// Checks that each of `answers` goes to an open request, once, in time, and fits its schema. All are accepted, or none.
///
/// # Errors
///
/// The fault of the first that is refused.
pub(crate) async fn check(
    log: &Log,
    opened: Option<&OpenLog>,
    answers: Vec<(RequestId, Stored)>,
    now: Timestamp,
) -> Result<Vec<CheckedAnswer>, RunError> {
    let mut open = open(opened, now);
    if answers.is_empty() {
        return Err(RunError::NothingAsked(log.thread().clone()));
    }
    let mut checked: Vec<CheckedAnswer> = Vec::with_capacity(answers.len());
    for (id, value) in answers {
        let Some(at) = open.iter().position(|pending| pending.id == id) else {
            return Err(match checked.iter().any(|before| before.id == id) {
                true => RunError::AlreadyAnswered(id),
                false => why_not(log, id).await?,
            });
        };
        let asked = open.swap_remove(at);
        if let Some(deadline) = asked.deadline.filter(|deadline| *deadline <= now) {
            return Err(RunError::Expired { id, deadline });
        }
        let faults = match &asked.doubt {
            Some(_) if Resolution::read(&value).is_some() => Vec::new(),
            Some(_) => vec!["a doubt is settled with a `Resolution`".to_owned()],
            None => faults(asked.schema.as_deref(), &value),
        };
        if !faults.is_empty() {
            let expected = match (&asked.doubt, asked.schema.as_deref()) {
                (Some(_), _) => "a `Resolution`",
                (None, schema) => schema.unwrap_or_default(),
            };
            let (expected, question) = (expected.to_owned(), Box::new(asked));
            return Err(RunError::WrongAnswer { id, question, expected, answer: value, faults });
        }
        checked.push(CheckedAnswer { path: asked.path, id, value });
    }
    Ok(checked)
}

#[cfg(feature = "schema")]
fn faults(schema: Option<&str>, value: &Stored) -> Vec<String> {
    schema.map_or_else(Vec::new, |schema| crate::schema::faults(schema, value))
}

#[cfg(not(feature = "schema"))]
fn faults(schema: Option<&str>, _: &Stored) -> Vec<String> {
    let unchecked = "this build cannot check answers: it lacks the feature `schema`";
    schema.map(|_| unchecked.to_owned()).into_iter().collect()
}

/// The reason why a request is not open: it was answered, it is not asked any more, or it never existed as far as the
/// newest entries show. Naming a request that never existed does not cost a read of a long log.
pub(crate) async fn why_not(log: &Log, id: RequestId) -> Result<RunError, RunError> {
    let mut before = None;
    let mut asked = false;
    for _ in 0..PAGES {
        let page = log.history(before, PAGE).await.map_err(RunError::Checkpoint)?;
        for read in &page {
            match &read.entry.body {
                Body::Answer(answer) if answer.id == *id.0 => {
                    return Ok(RunError::AlreadyAnswered(id));
                }
                // Since then it was open again, and went without an answer.
                Body::Reopen(reopen) if reopen.id == *id.0 => return Ok(RunError::Stale(id)),
                Body::Question(question) if question.id == *id.0 => asked = true,
                Body::Intent(intent) if intent.id == *id.0 => asked = true,
                _ => {}
            }
        }
        match page.last() {
            Some(last) if last.position > Position::START.next() => before = Some(last.position),
            _ => break,
        }
    }
    Ok(if asked { RunError::Stale(id) } else { RunError::NoSuchRequest(id) })
}
