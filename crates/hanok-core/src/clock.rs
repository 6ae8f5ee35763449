//! Time, as it comes into hanok.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::BoxFuture;

/// A moment, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The moment `later` after this one.
    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(later.as_millis()).unwrap_or(u64::MAX)))
    }

    /// How long after `earlier` this is; zero if it is not.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// A time before 1970 counts as 1970.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Tells the time and waits. The one way by which time reaches hanok's engine, models and tools.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// What time it is.
    fn now(&self) -> Timestamp;

    /// The time since a moment that is always the same: it only goes forward, at its own pace, whatever becomes of
    /// [`now`](Clock::now) when somebody sets the clock. What is measured is measured by this.
    ///
    /// Default: by `now`, which is right where that only goes forward.
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.now().0)
    }

    /// Completes when `duration` has passed.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}
