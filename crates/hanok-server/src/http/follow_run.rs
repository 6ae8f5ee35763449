//! The events of one run, wherever it is driven.

use std::{future::pending, time::Duration};

use futures::{
    FutureExt, Stream, StreamExt,
    future::{BoxFuture, Fuse},
    stream,
};
use hanok_checkpoint::Checkpointer as _;
use hanok_core::{Position, RunId, ThreadKey};
use hanok_graph::{AnyThread, Event, EventId, EventKind, EventPlace, Follow, Mode};

use crate::{error::ServeError, rows::run::RunRow, runs::Runs};

/// How long the last events of a run that has ended may take.
const LAST: Duration = Duration::from_secs(1);

/// What a follower of a run is told.
#[derive(Debug)]
pub(crate) enum RunEvent {
    /// Something has happened.
    Event(Box<Event>),
    /// The run is over: this is the last. `None` for one that is not there any more.
    Over(Option<Box<RunRow>>),
}

/// The place before whatever a run that is posted now can tell.
pub(crate) async fn place_now(thread: &dyn AnyThread) -> Result<Option<EventPlace>, ServeError> {
    let head = thread.log().store().head(thread.key()).await?;
    Ok(head.map(|head| EventId::last_of(head.life, head.position).into()))
}

/// The place before the events of a run that was posted; `None` for the beginning of its thread.
pub(crate) async fn place_before(
    thread: &dyn AnyThread,
    row: &RunRow,
) -> Result<Option<EventPlace>, ServeError> {
    let Some(head) = thread.log().store().head(thread.key()).await? else { return Ok(None) };
    let since = row.since.unwrap_or(head.position);
    Ok((since > Position::START).then(|| EventId::last_of(head.life, since).into()))
}

/// The events of `row` after a place, as far as they are of `modes`.
pub(crate) fn follow_run(
    runs: Runs,
    thread: &dyn AnyThread,
    row: &RunRow,
    after: Option<EventPlace>,
    modes: Option<&[Mode]>,
) -> impl Stream<Item = RunEvent> + Send + use<> {
    let follow = thread.follow(after, modes);
    let (thread, run) = (row.thread.clone(), row.run);
    let ended = over(runs.clone(), thread, run).boxed().fuse();
    let (row, saw_end, is_told) = (None, false, false);
    let follower = Follower { runs, run, follow, ended, row, saw_end, is_told };
    stream::unfold(Some(follower), |follower| async {
        let mut follower = follower?;
        match follower.next().await {
            RunEvent::Event(event) => Some((RunEvent::Event(event), Some(follower))),
            over => Some((over, None)),
        }
    })
}

/// The run, once it is over; `None` for one that is not there any more.
async fn over(runs: Runs, thread: ThreadKey, run: RunId) -> Option<Box<RunRow>> {
    loop {
        match runs.ended(&thread, run).await {
            Ok(row) => return Some(Box::new(row)),
            Err(error) if error.is_passing() => runs.clock().sleep(LAST).await,
            Err(error) => {
                tracing::warn!(%error, "a run cannot be followed");
                return None;
            }
        }
    }
}

struct Follower {
    runs: Runs,
    run: RunId,
    follow: Follow,
    ended: Fuse<BoxFuture<'static, Option<Box<RunRow>>>>,
    /// The run, once it is over.
    row: Option<Box<RunRow>>,
    /// True after an end of it, behind which it may have gone on.
    saw_end: bool,
    /// True when all its events were told.
    is_told: bool,
}

impl Follower {
    async fn next(&mut self) -> RunEvent {
        loop {
            if self.is_told || self.saw_end && self.row.is_some() {
                let row = match self.row.take() {
                    Some(row) => Some(row),
                    None => (&mut self.ended).await,
                };
                return RunEvent::Over(row);
            }
            let (clock, row) = (self.runs.clock(), &self.row);
            let patience = async {
                match row {
                    None => pending().await,
                    // Of one that has not begun nothing is told.
                    Some(row) if row.since.is_none() => {}
                    Some(_) => clock.sleep(LAST).await,
                }
            };
            futures::select_biased! {
                event = self.follow.next().fuse() => match event {
                    Some(event) if event.run == Some(self.run) => {
                        self.saw_end = event.path.is_root()
                            && matches!(event.kind, EventKind::Ended { .. });
                        return RunEvent::Event(Box::new(event));
                    }
                    Some(event) if matches!(event.kind, EventKind::Cut { .. }) => {
                        self.is_told = true;
                        return RunEvent::Event(Box::new(event));
                    }
                    Some(_) => {}
                    None => self.is_told = true,
                },
                row = &mut self.ended => {
                    self.is_told = row.is_none();
                    self.row = row;
                }
                () = patience.boxed().fuse() => self.is_told = true,
            }
        }
    }
}
