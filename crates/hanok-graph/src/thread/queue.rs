//! An input that waits until its thread may be free.

use std::time::Duration;

use futures::FutureExt;
use hanok_checkpoint::{CheckpointError, Checkpointer, Head};
use hanok_core::{Position, ThreadKey, Timestamp};
use hanok_state::State;

use crate::{error::RunError, outcome::Unfinished, thread::app::App};

/// How long a queued input waits before it looks again whether another process, or a person, is done with the thread.
const QUEUE_FIRST: Duration = Duration::from_millis(20);
const QUEUE_LONGEST: Duration = Duration::from_secs(1);

/// How long an input waits at first, and at most, before it tries again although it has seen no change.
pub(crate) const AGAIN_FIRST: Duration = Duration::from_secs(1);
pub(crate) const AGAIN_LONGEST: Duration = Duration::from_secs(600);

/// The earliest time after which a thread that waits for people goes on without them.
pub(crate) fn earliest(error: &RunError) -> Option<Timestamp> {
    match error {
        RunError::Unfinished { why: Unfinished::Interrupted(requests), .. } => {
            requests.iter().filter_map(|pending| pending.deadline).min()
        }
        _ => None,
    }
}

/// Waits until a thread that was in use, or waited for somebody, may not be so any more: its log has moved since `before`, it
/// has another owner or none, its owner is dead, or it is `until`. Nothing of the log is read. Says whether that came; if it does
/// not, the wait of a thread that nobody owns is over after `again`, for a store may have answered with what was.
pub(crate) async fn until_changed<S: State, C: Send + Sync + 'static>(
    app: &App<S, C>,
    thread: &ThreadKey,
    before: Option<&Head>,
    (until, again): (Option<Timestamp>, Duration),
) -> Result<bool, CheckpointError> {
    // While somebody owns the thread it moves all the time, and is not free.
    let place = |head: Option<&Head>| {
        head.map(|head| match &head.claim {
            Some(claim) => (head.life, Err(claim.epoch)),
            None => (head.life, Ok(head.position)),
        })
    };
    let clock = &app.runtime().clock;
    let mut position = before.map_or(Position::START, |head| head.position);
    let (mut wait, began) = (QUEUE_FIRST, clock.monotonic());
    loop {
        futures::select_biased! {
            beyond = Box::pin(app.store().beyond(thread, position)).fuse() => {
                beyond?;
                // Whoever moved it may be about to give it back.
                clock.sleep(QUEUE_FIRST).await;
            }
            () = clock.sleep(wait.min(again)).fuse() => {}
        }
        let head = app.store().head(thread).await?;
        let claim = head.as_ref().and_then(|head| head.claim.as_ref());
        let dead = match claim {
            Some(claim) => app.is_dead(thread, claim).await?,
            None => false,
        };
        let late = until.is_some_and(|until| until <= clock.now());
        if dead || late || place(head.as_ref()) != place(before) {
            return Ok(true);
        }
        if claim.is_none() && clock.monotonic().saturating_sub(began) >= again {
            return Ok(false);
        }
        position = head.map_or(position, |head| head.position);
        wait = QUEUE_LONGEST.min(wait * 2);
    }
}
