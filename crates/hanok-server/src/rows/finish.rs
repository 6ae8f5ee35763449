//! The end of a run.

use hanok_checkpoint::{Expect, Write};
use hanok_core::{Position, RunId, ThreadKey};

use super::{
    book::{ATTEMPTS, Rows},
    keys,
    run::{Ended, RunRow, RunStatus, Stop},
    thread::ThreadStatus,
};
use crate::error::ServeError;

/// What became of a run's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finished {
    /// It is written.
    Written,
    /// The thread has to go back to here first.
    GoesBack(Option<Position>),
}

impl Rows {
    /// Writes how a run has ended, unless that is written. One whose thread has to go back first, and has not, is given back: the
    /// position is its [`since`](super::run::RunRow::since).
    pub(crate) async fn finish(
        &self,
        thread: &ThreadKey,
        run: RunId,
        ended: Ended,
        went_back: bool,
    ) -> Result<Finished, ServeError> {
        self.finish_if(thread, run, ended, |row| match row.stop {
            _ if row.status.is_over() => Some(Finished::Written),
            Some(Stop::Rollback) if !went_back => Some(Finished::GoesBack(row.since)),
            _ => None,
        })
        .await
    }

    /// Removes a run that has ended.
    pub(crate) async fn remove_run(
        &self,
        thread: &ThreadKey,
        run: RunId,
    ) -> Result<(), ServeError> {
        let Some(held) = self.run(thread, run).await? else { return Ok(()) };
        let expect = Expect::Version(held.version);
        self.write(vec![Write::Remove(keys::run(thread, run)?, expect)]).await?;
        Ok(())
    }

    /// Writes how a run has ended, unless `but` says what is to be done instead.
    pub(super) async fn finish_if(
        &self,
        thread: &ThreadKey,
        run: RunId,
        ended: Ended,
        but: impl Fn(&RunRow) -> Option<Finished>,
    ) -> Result<Finished, ServeError> {
        for _ in 0..ATTEMPTS {
            let (mut held, others) = self.held(thread, vec![keys::run(thread, run)?]).await?;
            let Some(item) = others.into_iter().next().flatten() else {
                return Ok(Finished::Written);
            };
            let mut row = self.opened(&item)?;
            if let Some(instead) = but(&row.row) {
                return Ok(instead);
            }
            let over = match ended.status() {
                _ if ended.asks() => ThreadStatus::Interrupted,
                RunStatus::Error | RunStatus::Timeout => ThreadStatus::Error,
                _ => ThreadStatus::Idle,
            };
            self.end(&mut row.row, ended.clone());
            held.queue.queue.remove(run);
            let mut thread_row = self.thread_row(&held, thread);
            (thread_row.status, thread_row.updated) = (held.status(over), self.now());
            let mut writes = vec![self.put_run(&row)?];
            writes.extend(self.put_held(&held, thread_row)?);
            if self.write(writes).await?.is_some() {
                return Ok(Finished::Written);
            }
            self.again().await;
        }
        Err(ServeError::Contended(thread.clone()))
    }
}
