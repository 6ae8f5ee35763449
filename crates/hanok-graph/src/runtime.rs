//! The sources of time, ids, randomness and tasks.

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, SystemTime},
};

use hanok_core::{BoxFuture, Clock, Ids, Rng, Spawned, Spawner, SystemClock, Timestamp};

use tokio::time::Instant;

use crate::slots::Slots;

/// The sources of time, ids, randomness and tasks. The default is the system's clock and randomness, and tokio's tasks.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// // At most eight tasks at once, in all graphs that share this runtime.
/// let runtime = Runtime { slots: Some(Slots::new(8)), ..Runtime::default() };
/// let graph = Graph::<Count>::builder("count").runtime(runtime.clone());
/// # graph.node("add", add).edge(START, "add").edge("add", END).build()?; Ok::<(), BuildError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Runtime {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
    /// The source of randomness.
    pub rng: Arc<dyn Rng>,
    /// The spawner of tasks.
    pub spawner: Arc<dyn Spawner>,
    /// The limit of tasks at once for all graphs with this runtime or a clone of it. Default: any number.
    pub slots: Option<Slots>,
}

impl Default for Runtime {
    fn default() -> Self {
        Self {
            clock: Arc::new(TokioClock),
            ids: Arc::new(SystemIds),
            rng: Arc::new(SystemRng),
            spawner: Arc::new(TokioSpawner),
            slots: None,
        }
    }
}

/// The system's clock, which sleeps with tokio where a runtime with a timer is entered, and as [`SystemClock`] elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioClock;

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }

    fn monotonic(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            match tokio_timer(duration) {
                Some(timer) => timer.await,
                None => SystemClock.sleep(duration).await,
            }
        })
    }
}

/// A timer of the tokio runtime that is entered, if that has one. Tokio tells of a runtime without one by a panic.
fn tokio_timer(duration: Duration) -> Option<tokio::time::Sleep> {
    tokio::runtime::Handle::try_current().ok()?;
    std::panic::catch_unwind(|| tokio::time::sleep(duration)).ok()
}

/// A source of random ids.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl Ids for SystemIds {
    fn id(&self) -> u128 {
        (u128::from(SystemRng.bits()) << 64) | u128::from(SystemRng.bits())
    }
}

/// The system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRng;

impl Rng for SystemRng {
    fn bits(&self) -> u64 {
        // Without the system's randomness, the standard library's own seed is the best there is.
        getrandom::u64().unwrap_or_else(|_| {
            use std::hash::{BuildHasher, Hasher};
            std::hash::RandomState::new().build_hasher().finish()
        })
    }
}

/// Starts tasks on the current tokio runtime. Outside of one it drops a task, and the run reports that the task was lost.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioSpawner;

impl Spawner for TokioSpawner {
    fn spawn(&self, task: BoxFuture<'static, ()>) -> Spawned {
        match tokio::runtime::Handle::try_current() {
            Ok(handle) => {
                let handle = handle.spawn(task).abort_handle();
                Spawned::new(move || handle.abort())
            }
            Err(_) => Spawned::new(|| {}),
        }
    }
}
