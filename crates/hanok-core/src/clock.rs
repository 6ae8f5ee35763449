//! Time, as it comes into hanok.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::boxed::BoxFuture;

/// A moment, in milliseconds since 1970-01-01T00:00:00Z. As JSON it is that number.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_core::Timestamp;
///
/// let later = Timestamp(1_000).plus(Duration::from_secs(2));
/// assert_eq!(later, Timestamp(3_000));
/// assert_eq!(Timestamp(1_000).since(later), Duration::ZERO);
/// ```
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

    /// The time from `earlier` to this; zero if this is not later.
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

/// A moment that another type of time cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{} ms after 1970 is past the last moment of `{of}`", .moment.0)]
pub struct PastTheEnd {
    /// The moment.
    pub moment: Timestamp,
    /// The type.
    pub of: &'static str,
}

/// Fails with [`PastTheEnd`] after the last moment that the system knows: in the year 30828 on Windows, never on Linux.
///
/// ```
/// use std::time::{Duration, SystemTime, UNIX_EPOCH};
///
/// use hanok_core::Timestamp;
///
/// assert_eq!(SystemTime::try_from(Timestamp(1_500))?, UNIX_EPOCH + Duration::from_millis(1_500));
/// # Ok::<(), hanok_core::PastTheEnd>(())
/// ```
impl TryFrom<Timestamp> for SystemTime {
    type Error = PastTheEnd;

    fn try_from(moment: Timestamp) -> Result<Self, PastTheEnd> {
        UNIX_EPOCH
            .checked_add(Duration::from_millis(moment.0))
            .ok_or(PastTheEnd { moment, of: "SystemTime" })
    }
}

/// A time before 1970 counts as 1970.
#[cfg(feature = "jiff")]
impl From<jiff::Timestamp> for Timestamp {
    fn from(time: jiff::Timestamp) -> Self {
        Self(u64::try_from(time.as_millisecond()).unwrap_or_default())
    }
}

/// Fails with [`PastTheEnd`] after 9999-12-30T22:00:00Z.
#[cfg(feature = "jiff")]
impl TryFrom<Timestamp> for jiff::Timestamp {
    type Error = PastTheEnd;

    fn try_from(moment: Timestamp) -> Result<Self, PastTheEnd> {
        let millis = i64::try_from(moment.0).ok();
        let time = millis.and_then(|millis| Self::from_millisecond(millis).ok());
        time.ok_or(PastTheEnd { moment, of: "jiff::Timestamp" })
    }
}

/// Tells the time and waits. The one way by which time reaches hanok's engine, models and tools.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_core::{BoxFuture, Clock, Timestamp};
///
/// /// A clock for tests, which stands still and never waits.
/// #[derive(Debug)]
/// struct Fixed(Timestamp);
///
/// impl Clock for Fixed {
///     fn now(&self) -> Timestamp {
///         self.0
///     }
///
///     fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
///         Box::pin(std::future::ready(()))
///     }
/// }
///
/// assert_eq!(Fixed(Timestamp(7)).monotonic(), Duration::from_millis(7));
/// ```
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The time now.
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
