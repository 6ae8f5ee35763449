//! Taking up a run, and giving it back.

use hanok_checkpoint::RunEnd;
use hanok_core::{Position, RunId, ThreadKey};

use super::{
    book::{ATTEMPTS, HeldQueue, HeldRun, Rows},
    finish::Finished,
    run::{Ended, RunRow, RunStatus, Stop},
};
use crate::error::ServeError;

impl Rows {
    /// Takes up `run`, the oldest of a queue in which none is under way. `head` is the position that its thread is at. `None` if
    /// somebody else was first.
    pub(crate) async fn take(
        &self,
        held: &HeldQueue,
        mut run: HeldRun,
        head: Position,
    ) -> Result<Option<HeldRun>, ServeError> {
        let mut held = held.clone();
        // Of one that was given back it is known where it can have begun.
        run.row.since = run.row.since.or(Some(head));
        (run.row.status, run.row.updated) = (RunStatus::Running, self.now());
        held.queue.remove(run.row.run);
        held.queue.running = Some(run.row.run);
        let writes = vec![self.put_run(&run)?, self.put_queue(&held)?];
        let Some(versions) = self.write(writes).await? else { return Ok(None) };
        Ok(versions.first().map(|version| HeldRun { row: run.row, version: *version }))
    }

    /// Gives a run back that did not end: whoever is next takes it up. Nothing if it has ended, or others have changed it.
    pub(crate) async fn give_back(&self, thread: &ThreadKey, run: RunId) -> Result<(), ServeError> {
        for _ in 0..ATTEMPTS {
            let mut held = self.queue(thread).await?;
            if held.queue.running != Some(run) {
                return Ok(());
            }
            let Some(mut row) = self.run(thread, run).await? else { return Ok(()) };
            row.row.status = RunStatus::Pending;
            held.queue.running = None;
            held.queue.pending.insert(0, run);
            if self.write(vec![self.put_run(&row)?, self.put_queue(&held)?]).await?.is_some() {
                return Ok(());
            }
            self.again().await;
        }
        Err(ServeError::Contended(thread.clone()))
    }

    /// Asks for the end of a run. One that waits has ended then; one that is under way is told by whoever drives it. The run as it
    /// is now; `None` if there is none.
    pub(crate) async fn stop(
        &self,
        thread: &ThreadKey,
        run: RunId,
        stop: Stop,
    ) -> Result<Option<HeldRun>, ServeError> {
        for _ in 0..ATTEMPTS {
            let Some(mut row) = self.run(thread, run).await? else { return Ok(None) };
            match row.row.status {
                RunStatus::Pending => {
                    let (ended, pending) = (Ended::of(RunEnd::Cancelled), RunStatus::Pending);
                    let but = |row: &RunRow| (row.status != pending).then_some(Finished::Written);
                    self.finish_if(thread, run, ended, but).await?;
                    continue;
                }
                RunStatus::Running if row.row.stop.is_none() => {
                    row.row.stop = Some(stop);
                    if self.write_for_good(vec![self.put_run(&row)?]).await?.is_some() {
                        return Ok(Some(row));
                    }
                }
                _ => return Ok(Some(row)),
            }
            self.again().await;
        }
        Err(ServeError::Contended(thread.clone()))
    }
}
