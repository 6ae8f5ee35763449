//! Answers to the requests of a thread.

use hanok_checkpoint::{Answer, Body, Log, LogEntry, OpenLog, RunFold};
use hanok_core::{
    Answerer, Audience, Namespace, Position, RequestId, Stored, StoredError, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::{
    error::RunError,
    outcome::{Pending, Resolution, open_questions},
};

/// The number of entries that are read at a time, and of the reads.
const PAGE: usize = 256;
const PAGES: usize = 16;

/// An answer to a request. As JSON, from a client, it is an object of `id`, `value`, and `key` and `shown` where it has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct NewAnswer {
    pub(crate) id: RequestId,
    pub(crate) value: Stored,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<String>,
}

impl NewAnswer {
    /// The answer `value` to the request `id`.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it cannot be stored.
    pub fn new(id: RequestId, value: &(impl Serialize + ?Sized)) -> Result<Self, StoredError> {
        Ok(Self::of(id, Stored::encode(value)?))
    }

    /// The answer `value` to the request `id`, as it is stored.
    pub fn of(id: RequestId, value: Stored) -> Self {
        Self { id, value, key: None, shown: None }
    }

    /// Names the answer, for whoever may have to pass it on twice, such as a client behind a bad line: the same answer under the
    /// same key is taken again and changes nothing. Default: it has none, and a second answer is refused.
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// Names what its giver saw, by its [digest](Pending::digest). An answer to anything else is [`RunError::Stale`]. Default: it is
    /// for whatever the request shows.
    pub fn shown(self, digest: impl Into<String>) -> Self {
        Self { shown: Some(digest.into()), ..self }
    }
}

/// An answer that passed its checks.
#[derive(Debug)]
pub(crate) struct CheckedAnswer {
    /// The graph of the question.
    pub(crate) path: Namespace,
    pub(crate) answer: Answer,
}

/// The refusal of answers, and the one that came too late if that is why: it is stored all the same.
#[derive(Debug)]
pub(crate) struct RefusedAnswer {
    pub(crate) error: RunError,
    pub(crate) late: Option<CheckedAnswer>,
}

impl From<RunError> for RefusedAnswer {
    fn from(error: RunError) -> Self {
        Self { error, late: None }
    }
}

/// The open requests of a thread at `now`: calls in doubt, then questions, by namespace.
pub(crate) fn open(opened: Option<&OpenLog>, now: Timestamp) -> Vec<Pending> {
    let runs = opened.into_iter().flat_map(|opened| &opened.fold.runs);
    let requests = runs.flat_map(|(path, run)| {
        let doubts = run.records.intents.values().filter(|intent| intent.asks());
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

/// Checks that each of `answers`, which `by` gives, goes to an open request, once, in time, and fits its schema. All are
/// accepted, or none. Those that were taken before, under their keys, are left out.
///
/// # Errors
///
/// The fault of the first that is refused.
pub(crate) async fn check(
    log: &Log,
    opened: Option<&OpenLog>,
    answers: Vec<NewAnswer>,
    by: Option<&Answerer>,
    now: Timestamp,
) -> Result<Vec<CheckedAnswer>, RefusedAnswer> {
    let mut open = open(opened, now);
    if answers.is_empty() {
        return Err(RunError::NothingAsked(log.thread().clone()).into());
    }
    let mut checked: Vec<CheckedAnswer> = Vec::with_capacity(answers.len());
    for answer in answers {
        let is_it = |before: &&CheckedAnswer| before.answer.id == *answer.id.0;
        let Some(at) = open.iter().position(|pending| pending.id == answer.id) else {
            match checked.iter().find(is_it) {
                Some(before) if is_again(&before.answer, &answer) => {}
                Some(_) => return Err(RunError::AlreadyAnswered(answer.id).into()),
                None => taken_before(log, answer, by, now).await?,
            }
            continue;
        };
        if was_taken_back(log, &answer).await? {
            return Err(RunError::AlreadyAnswered(answer.id).into());
        }
        let asked = open.swap_remove(at);
        let NewAnswer { id, value, key, shown } = answer;
        if !asked.audience.admits(by) {
            let (audience, by) = (Box::new(asked.audience), by.cloned().map(Box::new));
            return Err(RunError::Forbidden { id, audience, by }.into());
        }
        if let Some(deadline) = asked.deadline.filter(|deadline| *deadline <= now) {
            let answer = Answer { id: id.0.to_string(), value, by: by.cloned(), key };
            let late = Some(CheckedAnswer { path: asked.path, answer });
            return Err(RefusedAnswer { error: RunError::Expired { id, deadline }, late });
        }
        if shown.is_some_and(|shown| shown != asked.digest()) {
            return Err(RunError::Stale(id).into());
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
            let error = RunError::WrongAnswer { id, question, expected, answer: value, faults };
            return Err(error.into());
        }
        let answer = Answer { id: id.0.to_string(), value, by: by.cloned(), key };
        checked.push(CheckedAnswer { path: asked.path, answer });
    }
    Ok(checked)
}

/// Checks whether an answer under the key of `answer` closed its request before, and the request was opened again since: whoever passes
/// it on once more does not close it again.
async fn was_taken_back(log: &Log, answer: &NewAnswer) -> Result<bool, RunError> {
    if answer.key.is_none() {
        return Ok(false);
    }
    let taken = newest(log, |read| match read.entry.body {
        Body::Answer(taken) if taken.id == *answer.id.0 && taken.key == answer.key => Some(true),
        Body::Question(asked) if asked.id == *answer.id.0 => Some(false),
        _ => None,
    });
    Ok(taken.await?.unwrap_or_default())
}

/// The first that `look` finds among the newest entries, the newest first.
pub(crate) async fn newest<T>(
    log: &Log,
    mut look: impl FnMut(LogEntry) -> Option<T>,
) -> Result<Option<T>, RunError> {
    let mut before = None;
    for _ in 0..PAGES {
        let page = log.history(before, PAGE).await.map_err(RunError::Checkpoint)?;
        let last = page.last().map(|last| last.position);
        if let Some(found) = page.into_iter().find_map(&mut look) {
            return Ok(Some(found));
        }
        match last {
            Some(last) if last > Position::START.next() => before = Some(last),
            _ => break,
        }
    }
    Ok(None)
}

/// True if `answer` is the one that was taken before.
fn is_again(before: &Answer, answer: &NewAnswer) -> bool {
    before.key.is_some() && before.key == answer.key && before.value == answer.value
}

/// Checks that `answer`, whose request is not open, is the very one that closed it.
async fn taken_before(
    log: &Log,
    answer: NewAnswer,
    by: Option<&Answerer>,
    now: Timestamp,
) -> Result<(), RefusedAnswer> {
    match closed(log, answer.id.clone(), now).await? {
        Closed::Answered(before) if is_again(&before, &answer) => Ok(()),
        Closed::Expired { path, deadline, audience } if audience.admits(by) => {
            let NewAnswer { id, value, key, .. } = answer;
            let answer = Answer { id: id.0.to_string(), value, by: by.cloned(), key };
            let late = Some(CheckedAnswer { path, answer });
            Err(RefusedAnswer { error: RunError::Expired { id, deadline }, late })
        }
        closed => Err(closed.into_error(answer.id).into()),
    }
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

/// The reason why a request is not open.
pub(crate) enum Closed {
    /// This answered it.
    Answered(Answer),
    /// It is not asked any more.
    Stale,
    /// Its deadline has passed without an answer.
    Expired { path: Namespace, deadline: Timestamp, audience: Audience },
    /// It never existed, as far as the newest entries show.
    Unknown,
}

impl Closed {
    /// The error of an answer to the request.
    pub(crate) fn into_error(self, id: RequestId) -> RunError {
        match self {
            Self::Answered(_) => RunError::AlreadyAnswered(id),
            Self::Stale => RunError::Stale(id),
            Self::Expired { deadline, .. } => RunError::Expired { id, deadline },
            Self::Unknown => RunError::NoSuchRequest(id),
        }
    }
}

/// The reason why a request is not open. Naming a request that never existed does not cost a read of a long log.
pub(crate) async fn closed(log: &Log, id: RequestId, now: Timestamp) -> Result<Closed, RunError> {
    let mut asked = false;
    let closed = newest(log, |read| match read.entry.body {
        Body::Answer(answer) if answer.id == *id.0 => Some(Closed::Answered(answer)),
        // Since then it was open again, and went without an answer.
        Body::Reopen(reopen) if reopen.id == *id.0 => Some(Closed::Stale),
        Body::Question(question) if question.id == *id.0 => {
            let deadline = question.deadline.filter(|deadline| *deadline <= now && !asked);
            asked = true;
            let (path, audience) = (read.entry.namespace, question.audience.unwrap_or_default());
            deadline.map(|deadline| Closed::Expired { path, deadline, audience })
        }
        Body::Intent(intent) if intent.id == *id.0 => {
            asked = true;
            None
        }
        _ => None,
    });
    let closed = closed.await?;
    Ok(closed.unwrap_or(if asked { Closed::Stale } else { Closed::Unknown }))
}
