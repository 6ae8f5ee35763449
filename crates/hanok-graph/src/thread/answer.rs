//! Answers without the graph: a program that cannot run a thread stores what a person answered, and starts nothing.

use hanok_checkpoint::{AppendId, Body, CheckpointError, Log, Tip};
use hanok_core::{Answerer, Position, Timestamp};

use crate::{
    error::RunError,
    outcome::Pending,
    run::answer::{self, NewAnswer},
    runtime::SystemIds,
    thread::{
        late::refusal,
        unclaimed::{AppendPlace, Stamp, append},
    },
};

/// The number of writers that may be first before an answer is given up.
const TRIES: u32 = 16;

/// The open requests of a thread at `now`, without its graph: calls in doubt, then questions, by namespace.
///
/// # Errors
///
/// [`CheckpointError`] when the log cannot be read.
pub async fn open_requests(log: &Log, now: Timestamp) -> Result<Vec<Pending>, CheckpointError> {
    let opened = log.open(None).await?;
    Ok(answer::open(opened.as_ref(), now))
}

/// Checks and stores `answers`, which `by` gives, as [`Thread::answer`](crate::Thread::answer) does, and starts nothing: the next
/// run of the thread, in whatever process, goes on with them ([`Thread::resume`](crate::Thread::resume)). All are accepted, or
/// none. What a node's own type reads of an answer is checked when it runs; until then only the schema says what fits. Returns the
/// position at which the log ends now.
///
/// `id` names the append: [`SystemIds`](crate::SystemIds) draws one.
///
/// ```
/// # use {hanok_checkpoint::{AppendId, InMemoryCheckpointer, Log, SharedCheckpointer}, hanok_core::{Answerer, AskError, Clock, Ids, SystemClock, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, AskError> {
/// #     Ok(Count::update().n(cx.interrupt("how many?").await?))
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
/// let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
/// let thread = graph.checkpointer(store.clone()).thread(ThreadKey::named("t1")?);
/// thread.invoke(Count::update(), ()).await?;
///
/// // Another program on the same store, which knows nothing of the graph.
/// let (log, now) = (Log::new(store, ThreadKey::named("t1")?), SystemClock.now());
/// let asked = open_requests(&log, now).await?.remove(0);
/// let seven = NewAnswer::new(asked.id.clone(), &7)?.key("k1").shown(asked.digest());
/// let ann = Answerer::new("ann", "http");
/// answer(&log, vec![seven.clone()], Some(&ann), AppendId(SystemIds.id()), now).await?;
/// // Once more, for the line broke: it was taken.
/// answer(&log, vec![seven], Some(&ann), AppendId(SystemIds.id()), now).await?;
///
/// assert_eq!(thread.resume(()).await?.done()?.n, 7);
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// [`RunError::NoSuchThread`]; those of an answer that is refused, also while a run owns the thread: [`RunError::NothingAsked`],
/// [`RunError::NoSuchRequest`], [`RunError::AlreadyAnswered`], [`RunError::Stale`], [`RunError::Expired`], [`RunError::Forbidden`],
/// [`RunError::WrongAnswer`]; [`RunError::Conflict`] for one that would be taken, while a run owns the thread, or when other writers are
/// always first. One that came after its deadline is stored as such, for whoever looks into the thread: it decides nothing.
pub async fn answer(
    log: &Log,
    answers: Vec<NewAnswer>,
    by: Option<&Answerer>,
    id: AppendId,
    now: Timestamp,
) -> Result<Position, RunError> {
    let mut tries = 0..TRIES;
    loop {
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        let opened = opened.ok_or_else(|| RunError::NoSuchThread(log.thread().clone()))?;
        let checked = match answer::check(log, Some(&opened), answers.clone(), by, now).await {
            Ok(checked) => checked,
            Err(refused) => return Err(refusal(log, refused, &SystemIds, now).await),
        };
        if checked.is_empty() {
            return Ok(opened.head.position);
        }
        // A refusal says more than that a run owns the thread: what that run was given is not open any more.
        if let Some(claim) = &opened.head.claim {
            return Err(RunError::conflict(log.thread(), &claim.holder));
        }
        let entries = checked.into_iter().map(|it| (it.path, Body::Answer(it.answer))).collect();
        let (stamp, tip) = (Stamp { id, now }, Tip::of(&opened.head));
        match append(log, stamp, None, AppendPlace::end(tip, opened.fold), entries).await {
            // Somebody was first: what they stored says whether there is something to answer still.
            Err(RunError::Conflict { .. }) if tries.next().is_some() => {}
            stored => return stored,
        }
    }
}
