//! A clock that moves with tokio's paused time: what it tells and how long it waits agree.

use std::{sync::LazyLock, time::Duration};

use hanok_core::{BoxFuture, Clock, Timestamp};
use hanok_graph::Runtime;
use tokio::time::Instant;

/// Where the clock begins.
pub(crate) const BEGINS: Timestamp = Timestamp(1_800_000_000_000);

/// Moves with tokio's time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paused {
    start: Instant,
}

impl Clock for Paused {
    fn now(&self) -> Timestamp {
        BEGINS.plus(self.start.elapsed())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A runtime on this clock; all of a test process tell the same time.
pub(crate) fn runtime() -> Runtime {
    Runtime { clock: std::sync::Arc::new(Paused { start: *START }), ..Runtime::default() }
}

/// What time it is.
pub(crate) fn now() -> Timestamp {
    Paused { start: *START }.now()
}
