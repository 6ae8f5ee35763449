//! Answers that came too late: they decide nothing, and whoever looks into the thread sees them.

use hanok_checkpoint::{AppendId, Body, Log, Tip};
use hanok_core::{Ids, Position, Timestamp};

use crate::{
    error::RunError,
    run::answer::{CheckedAnswer, RefusedAnswer},
    thread::unclaimed::{Stamp, append},
};

/// The number of writers that may be first before storing is given up.
const TRIES: u32 = 16;

/// The most late answers to one question that are stored.
const MOST: usize = 16;

/// The number of entries that are read at a time, and of the reads.
const PAGE: usize = 256;
const PAGES: usize = 16;

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
        match append(log, stamp, None, tip, opened.fold, entries).await {
            Err(RunError::Conflict { .. }) if tries.next().is_some() => {}
            stored => return stored.map(drop),
        }
    }
}

/// True where the same late answer is stored, or as many as are.
async fn is_enough(log: &Log, late: &CheckedAnswer) -> Result<bool, RunError> {
    let (mut before, mut count) = (None, 0);
    for _ in 0..PAGES {
        let page = log.history(before, PAGE).await.map_err(RunError::Checkpoint)?;
        let last = page.last().map(|last| last.position);
        for read in page {
            match read.entry.body {
                Body::Late(stored) if stored == late.answer => return Ok(true),
                Body::Late(stored) if stored.id == late.answer.id => count += 1,
                Body::Question(question) if question.id == late.answer.id => {
                    return Ok(count >= MOST);
                }
                _ => {}
            }
        }
        match last {
            Some(last) if last > Position::START.next() => before = Some(last),
            _ => break,
        }
    }
    Ok(count >= MOST)
}
