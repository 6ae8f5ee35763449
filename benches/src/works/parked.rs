//! Threads that wait for a person: what they hold, and what it takes to go on with one of many.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hanok_agent::{Approval, ReactAgent};
use hanok_checkpoint::{Checkpointer, InMemoryCheckpointer};
use hanok_core::{AskError, BoxFuture, Clock, Timestamp};
use hanok_graph::{
    App, Context, Durability, END, Graph, Outcome, Runtime, START, Snapshot, TokioClock,
};
use hanok_model::{FnTool, SharedTool, ToolSpec};
use hanok_sqlite::Sqlite;
use hanok_state::State;
use serde_json::json;
use tempfile::TempDir;

use super::{steps::Steps, thread};
use crate::{
    Result,
    measure::{ensure, medians, resident},
};

const THREADS: usize = if cfg!(test) { 20 } else { 10_000 };
const MANY: usize = if cfg!(test) { 20 } else { 100_000 };

/// Agents whose calls wait for an approval, in memory.
async fn approvals() -> Result<(App<hanok_agent::AgentState>, f64, usize)> {
    let model = Steps(vec!["Action: pay\nAction Input: {\"sum\": 100}".to_owned()]);
    let spec = ToolSpec::new("pay", "Pays", json!({"properties": {"sum": {"type": "integer"}}}))?;
    let pay = FnTool::untyped(spec, |_, _| async { Ok("paid".into()) });
    let agent = ReactAgent::builder("desk", "Pays", model).tools([SharedTool::new(pay)]);
    let agent = agent.intercept(Approval::new().tool("pay")).build()?;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let (before, tasks_before) = (resident()?, tasks());
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    for n in 0..THREADS {
        let thread = app.thread(thread(&format!("thread-{n}"))?);
        let asked = thread.invoke(agent.ask("pay 100"), ()).await?;
        ensure(matches!(asked, Outcome::Interrupted(_)), "nobody is asked")?;
    }
    // What has just ended may not be gone yet.
    tokio::task::yield_now().await;
    let held = tasks().saturating_sub(tasks_before);
    Ok((app, (resident()? - before) / THREADS as f64, held))
}

#[derive(State, Clone, Default)]
struct Order {
    n: u64,
    seats: u32,
}

/// A clock that is set by hand.
#[derive(Debug, Clone, Default)]
struct HandClock(Arc<AtomicU64>);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        TokioClock.sleep(duration)
    }
}

/// The deadline of the `n`th thread: the last one's is the first.
fn deadline(n: u64) -> Timestamp {
    Timestamp(2 * MANY as u64 - n)
}

/// Asks until a time that is the thread's own.
async fn ask(order: Snapshot<Order>, context: Context) -> Result<OrderUpdate> {
    let deadline = deadline(order.n);
    match context.interrupt_until("how many?", deadline).await {
        Err(AskError::Expired(_)) => Ok(Order::update().seats(1_u32)),
        answer => Ok(Order::update().seats(answer?)),
    }
}

/// Threads that wait, on disk.
async fn waiting(store: impl Checkpointer, clock: &HandClock) -> Result<App<Order>> {
    let runtime = Runtime { clock: Arc::new(clock.clone()), ..Runtime::default() };
    let graph = Graph::<Order>::builder("order").runtime(runtime).node("ask", ask);
    let graph = graph.edge(START, "ask").edge("ask", END).build()?;
    let app = graph.checkpointer(store);
    for n in 0..MANY {
        let thread = app.thread(thread(&format!("thread-{n}"))?).durability(Durability::Async);
        let asked = thread.invoke(Order::update().n(n as u64), ()).await?;
        ensure(matches!(asked, Outcome::Interrupted(_)), "nobody is asked")?;
    }
    Ok(app)
}

/// KiB and tasks of a thread that waits, and the milliseconds on the wall until one of many has gone on: by an answer, and by its
/// deadline.
pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    let folder = TempDir::new()?;
    let (mut apps, mut disk) = (Vec::new(), None);
    let (next, clock) = (AtomicU64::new(0), HandClock::default());
    medians(rounds, async || {
        let (app, each, held) = approvals().await?;
        // What a round fills stays to the end, or the next one would use its memory.
        apps.push(app);
        if disk.is_none() {
            let sqlite = Sqlite::open(folder.path().join("threads.db")).await?;
            disk = Some(waiting(sqlite, &clock).await?);
        }
        let app = disk.as_ref().ok_or("no threads")?;
        let n = next.fetch_add(1, Ordering::Relaxed);
        let thread = app.thread(thread(&format!("thread-{n}"))?);
        let started = Instant::now();
        let state = thread.reply(&7_u32, ()).await?.done()?;
        let answered = started.elapsed().as_secs_f64() * 1e3;
        ensure(state.seats == 7, "the answer")?;
        // The last thread has the earliest deadline.
        let late = deadline(MANY as u64 - 1 - n);
        clock.0.store(late.0, Ordering::SeqCst);
        let started = Instant::now();
        let woken = app.wake(late, |_| Some(())).await?;
        let waking = started.elapsed().as_secs_f64() * 1e3;
        ensure(woken.len() == 1, "other threads were woken")?;
        Ok([each, held as f64, answered, waking])
    })
}
