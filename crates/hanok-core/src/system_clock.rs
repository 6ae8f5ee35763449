//! The system's clock.

use std::{
    sync::LazyLock,
    time::{Duration, Instant, SystemTime},
};

use crate::{
    boxed::BoxFuture,
    clock::{Clock, Timestamp},
};

/// The longest sleep, about thirty years: a timer cannot count to the end of time.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 86_400);

/// The system's clock. It sleeps on a thread of its own, and needs no runtime.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }

    fn monotonic(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(futures_timer::Delay::new(duration.min(LONGEST)))
    }
}
