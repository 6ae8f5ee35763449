//! Finding a run in the log of its thread by its id.

use hanok_checkpoint::{Body, CheckpointError, Checkpointer, End, Log, RunEnd};
use hanok_core::{Position, RunId};
use hanok_state::State;

use crate::{error::RunError, thread::handle::Thread};

/// The entries that are read at a time.
const PAGE: usize = 64;

/// A run that stands in the log of its thread.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FoundRun {
    /// The position at which it began, or last went on.
    pub began: Position,
    /// Its end. Where another run has finished what it left, the end of that one. `None` while the run is under way, and for one
    /// that was lost or replaced.
    pub end: Option<End>,
    /// True if no later turn has begun, and the thread has not gone back: without an end, the run can go on.
    pub is_newest: bool,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Finds the run `run` among the entries after `since`, on all branches; `None` when it has not begun. One that was
    /// [cancelled](Thread::cancel) before it has begun is found by its end.
    ///
    /// It reads the log from its end, as far back as the run's beginning or `since`: give the position that the thread was at before
    /// the run can have begun. A position beyond the log's end counts for nothing, for the thread was begun anew.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Position, RunId, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let (run, since) = (RunId(7), Position::START);
    /// assert!(thread.find_run(run, since).await?.is_none());
    /// thread.clone().run_id(run, since).invoke(Count::update(), ()).await?;
    /// let found = thread.find_run(run, since).await?.ok_or("lost")?;
    /// assert_eq!(found.end.map(|end| end.outcome.to_string()).as_deref(), Some("done"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read, or when entries after `since` were cut off and the run is not among those
    /// that are left.
    pub async fn find_run(
        &self,
        run: RunId,
        since: Position,
    ) -> Result<Option<FoundRun>, RunError> {
        find_run(&self.log(), run, since).await.map_err(RunError::Checkpoint)
    }
}

/// As [`Thread::find_run`].
pub(crate) async fn find_run(
    log: &Log,
    run: RunId,
    since: Position,
) -> Result<Option<FoundRun>, CheckpointError> {
    let Some(head) = log.store().head(log.thread()).await? else { return Ok(None) };
    let since = if since > head.position { Position::START } else { since };
    // Of what is read, newest first: the oldest end of the turn that is being read, and whether a turn has begun after it.
    let (mut end, mut is_newest, mut before) = (None, true, None);
    // The end of a run that was cancelled before it has begun.
    let mut never: Option<FoundRun> = None;
    loop {
        let page = log.history(before, PAGE).await?;
        for entry in &page {
            if entry.position <= since {
                return Ok(never);
            }
            if !entry.entry.namespace.is_root() {
                continue;
            }
            match &entry.entry.body {
                Body::Begin(begin) if begin.run == run => {
                    return Ok(Some(FoundRun { began: entry.position, end, is_newest }));
                }
                Body::Begin(begin) if begin.frontier.is_some() => (end, is_newest) = (None, false),
                Body::Rewind(_) => (end, is_newest) = (None, false),
                Body::End(ended) => {
                    if ended.run == run && ended.outcome == RunEnd::Cancelled {
                        let (began, end) = (entry.position, Some(ended.clone()));
                        never = Some(FoundRun { began, end, is_newest: false });
                    }
                    end = Some(ended.clone());
                }
                _ => {}
            }
        }
        match page.last() {
            Some(oldest) if oldest.position > Position::START.next() => {
                before = Some(oldest.position);
            }
            // Nothing is left of what was cut off.
            None if since < head.floor && never.is_none() => {
                let (position, floor) = (since.next(), head.floor);
                let thread = log.thread().clone();
                return Err(CheckpointError::Pruned { thread, position, floor });
            }
            _ => return Ok(never),
        }
    }
}
