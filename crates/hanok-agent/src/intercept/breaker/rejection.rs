//! The reasons for which a breaker makes no call.

use std::time::Duration;

/// The reason for which a call is not made.
pub(super) enum Rejection {
    /// The circuit is open for so long, or `None` where as many calls are being made as may be.
    Unavailable(Option<Duration>),
    /// The call was asked to stop.
    Stopped,
}
