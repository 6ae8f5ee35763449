//! Cancelling the run of a thread, from any process.

use hanok_checkpoint::{AppendId, Body, Checkpointer, End, OpenLog, RunEnd, ThreadFold, Tip};
use hanok_core::{Namespace, Position, RunId, Spent};
use hanok_state::State;

use crate::{
    error::RunError,
    thread::{find_run::find_run, handle::Thread, options::NamedRun},
};

/// The number of times that a thread which moves meanwhile is tried.
const ATTEMPTS: usize = 100;

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Cancels the run that the thread has, in whatever process, in the name of [whoever acts](Thread::answering_as). Committed
    /// super-steps stay, and the thread can be resumed. Returns false when no run is under way.
    ///
    /// On a handle with a [`run_id`](Thread::run_id) it is the run of this name, and no other. One that has not begun does not begin any
    /// more: whoever begins it, however late, is told [`RunError::PastRun`].
    ///
    /// A run of this process ends with [`Outcome::Cancelled`](crate::Outcome) after the append under way, which this call does not
    /// wait for. A run of another process, or one that was lost, has ended when this returns: it is taken its claim, and what its
    /// process still does ends with [`RunError::Superseded`].
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn hang(_: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { std::future::pending().await }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("hang", hang).edge(START, "hang").edge("hang", END).build()?;
    /// let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let events = thread.try_stream(Input::New(Count::update()), ()).await?;
    /// assert!(thread.cancel().await?);
    /// assert!(matches!(events.outcome().await?, Outcome::Cancelled(_)));
    /// assert!(!thread.cancel().await?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read or written; [`RunError::Conflict`] when the thread moves faster than
    /// it can be taken.
    pub async fn cancel(&self) -> Result<bool, RunError> {
        let (active, by) = (self.app.active(), self.options.answerer.as_ref());
        let run = self.options.run.map(|named| named.run);
        if active.cancel(self.key(), run, by) {
            return Ok(true);
        }
        // No run of this process begins meanwhile, and what a dropped one has sent is stored.
        let Some(_active) = active.enter_free(self.key()).await else {
            return Ok(active.cancel(self.key(), run, by));
        };
        for _ in 0..ATTEMPTS {
            match self.end_elsewhere().await {
                Err(RunError::Conflict { .. }) => {}
                ended => return Ok(ended?.is_some()),
            }
        }
        Err(RunError::Conflict { thread: self.key().clone(), holder: None })
    }

    /// Ends the run that the thread has in another process, or that was lost; `None` when it has none.
    async fn end_elsewhere(&self) -> Result<Option<Position>, RunError> {
        let (log, runtime) = (self.log(), self.app.runtime());
        let head = match self.options.run {
            Some(named) => match log.open(None).await? {
                Some(opened) if is_open(&opened, named.run) => Some(opened.head),
                opened => return self.end_unbegun(opened, named).await,
            },
            None => log.store().head(self.key()).await?,
        };
        let Some(head) = head else { return Ok(None) };
        if head.claim.is_some() {
            // Before anything is read: a run under way writes all the time.
            let id = AppendId(runtime.ids.id());
            log.release(&head, id, runtime.clock.now()).await?;
        }
        let opened = log.open(None).await?;
        let root = opened.as_ref().and_then(|opened| opened.fold.run(&Namespace::root()));
        let run = root.filter(|root| root.open).and_then(|root| root.run);
        let run = run.filter(|run| self.options.run.is_none_or(|named| named.run == *run));
        let (Some(opened), Some(run)) = (opened, run) else { return Ok(None) };
        self.append(Tip::of(&opened.head), opened.fold, self.end(run)).await.map(Some)
    }

    /// Ends a run that has not begun; `None` when it has, or while the thread has another.
    async fn end_unbegun(
        &self,
        opened: Option<OpenLog>,
        named: NamedRun,
    ) -> Result<Option<Position>, RunError> {
        let root = opened.as_ref().and_then(|opened| opened.fold.run(&Namespace::root()));
        let is_claimed = opened.as_ref().is_some_and(|opened| opened.head.claim.is_some());
        if is_claimed || root.is_some_and(|root| root.open) {
            return Ok(None);
        }
        if find_run(&self.log(), named.run, named.since).await?.is_some() {
            return Ok(None);
        }
        let (tip, fold) = match opened {
            Some(opened) => (Tip::of(&opened.head), opened.fold),
            None => (self.app.new_tip(), ThreadFold::default()),
        };
        self.append(tip, fold, self.end(named.run)).await.map(Some)
    }

    fn end(&self, run: RunId) -> Vec<(Namespace, Body)> {
        let end = End {
            run,
            outcome: RunEnd::Cancelled,
            detail: String::new(),
            spent: Spent::default(),
            code: None,
            by: self.options.answerer.clone(),
        };
        vec![(Namespace::root(), Body::End(end))]
    }
}

/// True while `run` is under way, or was lost.
fn is_open(opened: &OpenLog, run: RunId) -> bool {
    let root = opened.fold.run(&Namespace::root());
    root.is_some_and(|root| root.open && root.run == Some(run))
}
