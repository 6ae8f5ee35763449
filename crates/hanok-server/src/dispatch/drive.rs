//! Driving a run to its end.

use std::{sync::Arc, time::Duration};

use hanok_checkpoint::{Checkpointer as _, RunEnd};
use hanok_core::{Cancellation, Chain, Position, RunId, ThreadKey};
use hanok_graph::{AnyState, Outcome, RunError};

use super::{
    dispatcher::Inner,
    verdict::{self, Verdict},
};
use crate::{
    error::ServeError,
    rows::{
        book::HeldRun,
        finish::Finished,
        run::{Ended, RunRow},
    },
};

/// How often a run's end is written again when the store fails, before that is left to whoever looks next.
const TRIES: u32 = 3;

/// How long the thread of a run is kept that nobody comes back to.
const REMEMBERED: Duration = Duration::from_secs(600);

/// The pause between two of them.
const PAUSE: Duration = Duration::from_millis(200);

impl Inner {
    /// Drives a run that was taken up, and then those that wait behind it.
    pub(super) fn start_driving(self: &Arc<Self>, run: HeldRun) {
        let inner = Arc::clone(self);
        let drive = async move {
            let thread = run.row.thread.clone();
            let mut next = Some(run);
            loop {
                while let Some(run) = next {
                    next = match inner.drive(&run.row).await {
                        true => inner.next(&thread).await,
                        false => None,
                    };
                }
                if inner.try_leave(&thread) {
                    return;
                }
                next = inner.next(&thread).await;
            }
        };
        self.runtime.spawner.spawn(Box::pin(drive)).detach();
    }

    /// The next run of `thread`, taken up.
    async fn next(&self, thread: &ThreadKey) -> Option<HeldRun> {
        let taken = match self.rows.queue(thread).await {
            Ok(held) => self.take(held).await,
            Err(error) => Err(error),
        };
        taken.unwrap_or_else(|error| {
            tracing::warn!(error = %Chain(&error), "the next run could not be taken up");
            None
        })
    }

    /// Drives a run. True if it is over, and the next one may begin.
    async fn drive(&self, row: &RunRow) -> bool {
        let stop = self.register(row);
        if row.stop.is_some() {
            stop.cancel();
        }
        let over = match self.run(row, &stop).await {
            Verdict::Ended(ended) => self.conclude(row, ended).await,
            Verdict::Goes => self.rows.give_back(&row.thread, row.run).await.map(|()| false),
            Verdict::Left => Ok(false),
        };
        self.unregister(&row.thread);
        over.unwrap_or_else(|error| {
            tracing::warn!(error = %Chain(&error), "the end of a run could not be written");
            false
        })
    }

    /// Begins a run, or goes on with it, and says what became of it.
    async fn run(&self, row: &RunRow, stop: &Cancellation) -> Verdict {
        let stopped = Verdict::Ended(Ended::of(RunEnd::Cancelled));
        if stop.is_cancelled() {
            return self.cancel(row).await.map_or(Verdict::Left, |()| stopped);
        }
        let error = match self.begin(row, stop.clone()).await {
            Ok(outcome) => {
                let goes = self.stopping.is_cancelled() && !stop.is_cancelled();
                return match verdict::of_outcome(&outcome) {
                    Verdict::Goes if !goes => stopped,
                    verdict => verdict,
                };
            }
            Err(error) => error,
        };
        self.after_error(row, &error).await
    }

    async fn begin(
        &self,
        row: &RunRow,
        stop: Cancellation,
    ) -> Result<Outcome<AnyState>, ServeError> {
        let input = self.apps.input(&row.request.graph, &row.request.input)?;
        let mut settings = row.request.options.settings();
        settings.run = Some((row.run, row.since.unwrap_or(Position::START)));
        settings.cancellation = stop;
        let thread = self.apps.thread(row)?;
        Ok(thread.run(input, settings).await?)
    }

    /// What is to be done with a run that ended with an error: what the log says.
    async fn after_error(&self, row: &RunRow, error: &ServeError) -> Verdict {
        let found = match self.apps.thread(row) {
            Ok(thread) => {
                let since = row.since.unwrap_or(Position::START);
                match thread.find_run(row.run, since).await {
                    Ok(found) => found,
                    Err(failed) if self.is_left(row, &failed) => return Verdict::Left,
                    Err(failed) => return Verdict::Ended(failure(&failed.into())),
                }
            }
            Err(_) => None,
        };
        if found.is_some() {
            return match verdict::of_log(found, &row.request) {
                Verdict::Goes => Verdict::Left,
                verdict => verdict,
            };
        }
        match error {
            ServeError::Run(error) if self.is_left(row, error) => Verdict::Left,
            error => Verdict::Ended(failure(error)),
        }
    }

    /// True if a run is tried again after this error. One for which that does not pass is tried a few times.
    fn is_left(&self, row: &RunRow, error: &RunError) -> bool {
        if verdict::is_passing(error) {
            return true;
        }
        let is_of_store = matches!(error, RunError::Checkpoint(_)) && error.status() == 500;
        is_of_store && self.failed(row)
    }

    /// Writes the end of a run. True if it is over.
    pub(super) async fn conclude(&self, row: &RunRow, ended: Ended) -> Result<bool, ServeError> {
        let (mut went_back, mut tries, mut ended) = (false, 0, ended);
        loop {
            match self.until(row).await {
                Ok(until) => ended.until = until,
                Err(error) if error.is_passing() && tries < TRIES => {
                    tries += 1;
                    self.runtime.clock.sleep(PAUSE).await;
                    continue;
                }
                Err(error) => return Err(error),
            }
            match self.rows.finish(&row.thread, row.run, ended.clone(), went_back).await {
                Ok(Finished::Written) => {
                    self.told_ended(row.run);
                    if row.request.options.forgotten {
                        self.forget(row);
                    }
                    return Ok(true);
                }
                Ok(Finished::GoesBack(to)) => {
                    self.go_back(row, to).await?;
                    went_back = true;
                }
                Err(error) if error.is_passing() && tries < TRIES => {
                    tries += 1;
                    self.runtime.clock.sleep(PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The position that the thread of a run is at.
    async fn until(&self, row: &RunRow) -> Result<Option<Position>, ServeError> {
        let store = self.apps.get(&row.request.graph)?.store();
        Ok(store.head(&row.thread).await?.map(|head| head.position))
    }

    /// Removes the thread of a run that nobody comes back to, when whoever has asked for it has had the time to read it.
    fn forget(&self, row: &RunRow) {
        let Ok(thread) = self.apps.thread(row) else { return };
        let clock = Arc::clone(&self.runtime.clock);
        let forget = async move {
            clock.sleep(REMEMBERED).await;
            if let Err(error) = thread.delete().await {
                tracing::warn!(error = %Chain(&error), "a thread could not be removed");
            }
        };
        self.runtime.spawner.spawn(Box::pin(forget)).detach();
    }

    /// The thread goes back to where it was before the run. One that cannot be taken back stays where it is.
    async fn go_back(&self, row: &RunRow, since: Option<Position>) -> Result<(), ServeError> {
        let Some(since) = since else { return Ok(()) };
        match self.apps.thread(row)?.roll_back(row.run, since).await {
            // A thread that began with it is gone, and with it that it was there: whoever sleeps does not begin it again.
            Ok(_) => self.cancel(row).await,
            Err(error) if verdict::is_passing(&error) => Err(error.into()),
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "a run could not be taken back");
                Ok(())
            }
        }
    }

    /// Stops a run that is under way, wherever that is.
    pub(super) async fn stop_driving(&self, thread: &ThreadKey, run: RunId) {
        let here = self.known().driven.get(thread).and_then(|driven| driven.run.clone());
        if let Some((driven, stop)) = here
            && driven == run
        {
            return stop.cancel();
        }
        let stopped = match self.rows.run(thread, run).await {
            Ok(Some(row)) => self.cancel(&row.row).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        // Whoever looks at the run next does it.
        if let Err(error) = stopped {
            tracing::warn!(error = %Chain(&error), "a run could not be stopped yet");
        }
    }

    pub(super) async fn cancel(&self, row: &RunRow) -> Result<(), ServeError> {
        let named = (row.run, row.since.unwrap_or(Position::START));
        self.apps.thread(row)?.cancel(Some(named)).await?;
        Ok(())
    }
}

fn failure(error: &ServeError) -> Ended {
    Ended::failed(error.code(), Chain(error).to_string())
}
