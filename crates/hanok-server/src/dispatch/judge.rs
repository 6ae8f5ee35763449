//! Looking at a run that is not driven here.

use std::sync::Arc;

use hanok_checkpoint::{Checkpointer as _, LEASE, RunEnd};
use hanok_core::{Position, RunId, ThreadKey};

use super::{
    dispatcher::{Inner, Seen},
    verdict::{self, Verdict},
};
use crate::{
    error::ServeError,
    rows::{
        book::HeldRun,
        run::{Ended, RunRow, RunStatus},
    },
};

/// How often a run is tried whose log cannot be read.
const FAILURES: u32 = 3;

impl Inner {
    /// Looks at a run that is under way elsewhere, or nowhere: writes its end if the log has it, leaves it to a claim that lives, and
    /// else drives it.
    pub(super) async fn judge(
        self: &Arc<Self>,
        thread: &ThreadKey,
        run: RunId,
    ) -> Result<(), ServeError> {
        if !self.enter(thread) {
            return Ok(());
        }
        let judged = self.judged(thread, run).await;
        if let Ok(Some(run)) = judged {
            self.start_driving(run);
            return Ok(());
        }
        self.leave(thread);
        judged.map(|_| ())
    }

    /// The run, if it is to be driven here.
    async fn judged(&self, thread: &ThreadKey, run: RunId) -> Result<Option<HeldRun>, ServeError> {
        let Some(held) = self.rows.run(thread, run).await? else { return Ok(None) };
        let row = &held.row;
        if row.status != RunStatus::Running || self.apps.get(&row.request.graph).is_err() {
            return Ok(None);
        }
        let handle = self.apps.thread(row)?;
        let found = handle.find_run(run, row.since.unwrap_or(Position::START)).await;
        let found = match found {
            Ok(found) => found,
            Err(error) if verdict::is_passing(&error) || self.failed(row) => return Ok(None),
            Err(error) => {
                let error = ServeError::from(error);
                let ended = Ended::failed(error.code(), error.to_string());
                return self.conclude(row, ended).await.map(|_| None);
            }
        };
        let has_begun = found.is_some();
        if let Verdict::Ended(ended) = verdict::of_log(found, &row.request) {
            self.conclude(row, ended).await?;
            self.note(thread);
            return Ok(None);
        }
        let store = self.apps.get(&row.request.graph)?.store();
        let is_claimed = store.head(thread).await?.is_some_and(|head| head.claim.is_some());
        if is_claimed && !handle.is_lost().await? {
            if row.stop.is_some() {
                self.cancel(row).await?;
            }
            return Ok(None);
        }
        // Whoever has taken it up may be about to begin it.
        if !has_begun && !self.is_old(&held) {
            return Ok(None);
        }
        if row.stop.is_some() {
            // Whoever has taken it up and sleeps does not begin it any more.
            self.cancel(row).await?;
            self.conclude(row, Ended::of(RunEnd::Cancelled)).await?;
            self.note(thread);
            return Ok(None);
        }
        Ok(Some(held))
    }

    /// True if a run was seen as it is for as long as a claim lives without a sign.
    fn is_old(&self, held: &HeldRun) -> bool {
        let now = self.runtime.clock.monotonic();
        let mut known = self.known();
        let new = Seen { version: held.version, since: now, failures: 0 };
        let seen = known.seen.entry(held.row.thread.clone()).or_insert(new);
        if seen.version != held.version {
            *seen = new;
        }
        now.saturating_sub(seen.since) >= LEASE
    }

    /// Notes that a run has failed for a reason that may pass. False if it has too often.
    pub(super) fn failed(&self, row: &RunRow) -> bool {
        let now = self.runtime.clock.monotonic();
        let mut known = self.known();
        let new = Seen { version: hanok_checkpoint::Version(0), since: now, failures: 0 };
        let seen = known.seen.entry(row.thread.clone()).or_insert(new);
        seen.failures += 1;
        seen.failures <= FAILURES
    }
}
