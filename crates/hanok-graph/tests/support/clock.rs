//! Time, ids and dice that are the same in every run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hanok_core::{BoxFuture, Clock, Ids, Rng, Timestamp};
use hanok_graph::{Runtime, TokioSpawner};
use tokio::time::Instant;

/// A clock whose time moves as its sleeps do: with tokio's, which may be paused.
#[derive(Debug)]
pub(crate) struct PausedClock(Instant);

impl Default for PausedClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000_000).plus(self.0.elapsed())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Ids and dice that a seed begins and a count goes on.
#[derive(Debug, Default)]
pub(crate) struct Counting(AtomicU64);

impl Counting {
    pub(crate) fn from(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    fn next(&self) -> u64 {
        let step = 0x9E37_79B9_7F4A_7C15;
        let mut z = self.0.fetch_add(step, Ordering::SeqCst).wrapping_add(step);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl Ids for Counting {
    fn id(&self) -> u128 {
        (u128::from(self.next()) << 64) | u128::from(self.next())
    }
}

impl Rng for Counting {
    fn bits(&self) -> u64 {
        self.next()
    }
}

/// The system's runtime, but for a clock that tokio moves.
pub(crate) fn runtime() -> Runtime {
    Runtime { clock: Arc::new(PausedClock::default()), ..Runtime::default() }
}
