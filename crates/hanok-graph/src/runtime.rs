//! Where time, ids, randomness and tasks come from.

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, SystemTime},
};

use hanok_core::{BoxFuture, Clock, Ids, Rng, Spawned, Spawner, Timestamp};

use tokio::time::Instant;

use crate::slots::Slots;

/// Where time, ids, randomness and tasks come from. The default is the system's clock and randomness, and tokio's tasks.
#[derive(Debug, Clone)]
pub struct Runtime {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Arc<dyn Ids>,
    /// Rolls dice.
    pub rng: Arc<dyn Rng>,
    /// Starts tasks.
    pub spawner: Arc<dyn Spawner>,
    /// How many tasks run at once in all that is given this runtime or a clone of it. Default: any number.
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

/// The system's time; waits with tokio.
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
        Box::pin(async move { tokio::time::sleep(duration).await })
    }
}

/// Ids from the system's randomness.
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

/// Starts tasks on the tokio runtime it is called in. Outside of one a task is dropped, which its run reports.
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
