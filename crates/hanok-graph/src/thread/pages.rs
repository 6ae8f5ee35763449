//! Recorded events, page by page, of a log that may not answer at once.

use std::{sync::Arc, time::Duration};

use futures_util::stream;
use hanok_checkpoint::CheckpointError;
use hanok_core::{BoxFuture, Clock, Position};

use crate::{
    error::RunError,
    observe::{
        event::{Event, EventId},
        events::{CatchUp, Missed},
    },
    thread::replay::Replay,
};

/// The first and the longest pause before a log is read again that could not be.
const AGAIN_FIRST: Duration = Duration::from_millis(20);
const AGAIN_LONGEST: Duration = Duration::from_secs(5);

/// The recorded events of a thread, in the modes of its reader.
#[derive(Clone)]
pub(crate) struct Recorded {
    pub(crate) open: OpenReplay,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Reads the recorded events after the first id, up to the second.
type OpenReplay =
    Arc<dyn Fn(Option<EventId>, Option<EventId>) -> BoxFuture<'static, Opened> + Send + Sync>;

type Opened = Result<Option<Replay>, RunError>;

impl Recorded {
    /// The events after `after`, up to `to` (`None`: the log's end).
    pub(crate) fn pages(&self, after: Option<EventId>, to: Option<EventId>) -> Pages {
        Pages { of: self.clone(), after, to, replay: None, end: Position::START }
    }

    /// Reads what a reader missed.
    pub(crate) fn catch_up(&self) -> CatchUp {
        let of = self.clone();
        Arc::new(move |after, to| of.pages(after, Some(to)).into_stream())
    }
}

/// The recorded events from some id on.
pub(crate) struct Pages {
    of: Recorded,
    after: Option<EventId>,
    to: Option<EventId>,
    replay: Option<Replay>,
    /// The position up to which the log was read.
    end: Position,
}

impl Pages {
    /// The position up to which the log was read, when the pages are over.
    pub(crate) fn end(&self) -> Position {
        self.end
    }

    /// The next events; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Vec<Event>, RunError> {
        let mut pause = AGAIN_FIRST;
        loop {
            match self.read().await {
                // A store that does not answer may do so again.
                Err(RunError::Checkpoint(CheckpointError::Unavailable { .. }))
                    if pause <= AGAIN_LONGEST =>
                {
                    self.replay = None;
                    self.of.clock.sleep(pause).await;
                    pause *= 2;
                }
                Ok(page) => {
                    self.after = self.after.max(page.last().and_then(|event| event.id));
                    return Ok(page);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn read(&mut self) -> Result<Vec<Event>, RunError> {
        if self.replay.is_none() {
            self.replay = (self.of.open)(self.after, self.to).await?;
        }
        let Some(replay) = &mut self.replay else { return Ok(Vec::new()) };
        self.end = replay.end();
        replay.next().await
    }

    /// The pages as a stream, which ends with them or with the error of the log.
    fn into_stream(self) -> Missed {
        Box::pin(stream::unfold(Some(self), |pages| async {
            let mut pages = pages?;
            match pages.next().await {
                Ok(page) if page.is_empty() => None,
                Ok(page) => Some((Ok(page), Some(pages))),
                Err(error) => Some((Err(error), None)),
            }
        }))
    }
}
