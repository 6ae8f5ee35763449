//! Answers that came too late: they decide nothing, and whoever looks into the thread sees them.

use hanok_checkpoint::{AppendId, Body, Log, Tip};
use hanok_core::{Ids, Timestamp};

use crate::{
    error::RunError,
    run::answer::{CheckedAnswer, RefusedAnswer, newest},
    thread::unclaimed::{AppendPlace, Stamp, append},
};

/// The number of writers that may be first before storing is given up.
const TRIES: u32 = 16;

/// The most late answers to one question that are stored.
const MOST: usize = 16;

/// The error of answers that are refused, with the late one among them stored.
pub(super) async fn refusal(
    log: &Log,
    refused: RefusedAnswer,
    ids: &dyn Ids,
    now: Timestamp,
) -> RunError {
    match refused.late {
        None => refused.error,
        Some(late) => match store(log, late, ids, now).await {
            Ok(()) => refused.error,
            Err(error) => error,
        },
    }
}

async fn store(
    log: &Log,
    late: CheckedAnswer,
    ids: &dyn Ids,
    now: Timestamp,
) -> Result<(), RunError> {
    let mut tries = 0..TRIES;
    loop {
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        let Some(opened) = opened else { return Ok(()) };
        if let Some(claim) = &opened.head.claim {
            return Err(RunError::conflict(log.thread(), &claim.holder));
        }
        if is_enough(log, &late).await? {
            return Ok(());
        }
        let (stamp, tip) = (Stamp { id: AppendId(ids.id()), now }, Tip::of(&opened.head));
        let entries = vec![(late.path.clone(), Body::Late(late.answer.clone()))];
        match append(log, stamp, None, AppendPlace::end(tip, opened.fold), entries).await {
            Err(RunError::Conflict { .. }) if tries.next().is_some() => {}
            stored => return stored.map(drop),
        }
    }
}

/// True where the same late answer is stored, or as many as are.
async fn is_enough(log: &Log, late: &CheckedAnswer) -> Result<bool, RunError> {
    let mut count = 0;
    let is_stored = newest(log, |read| match read.entry.body {
        Body::Late(stored) if stored == late.answer => Some(true),
        Body::Late(stored) if stored.id == late.answer.id => {
            count += 1;
            None
        }
        Body::Question(question) if question.id == late.answer.id => Some(false),
        _ => None,
    });
    let is_stored = is_stored.await?.unwrap_or_default();
    Ok(is_stored || count >= MOST)
}
