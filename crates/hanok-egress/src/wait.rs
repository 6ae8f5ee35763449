//! Waiting no longer than allowed, and saying for what.

use std::time::Duration;

use hanok_core::{Call, Waiting};

use crate::{EgressError, Waited};

/// What `work` gives, unless the call is stopped or `total` or the call's own time is over before.
pub(crate) async fn bounded<T>(
    call: &Call,
    total: Duration,
    work: impl Future<Output = Result<T, EgressError>>,
) -> Result<T, EgressError> {
    let (after, waited) = match call.time_left() {
        Some(left) if left < total => (left, Waited::Deadline),
        _ => (total, Waited::Total),
    };
    match call.bounded(after, work).await {
        Waiting::Done(given) => given,
        Waiting::Late => Err(EgressError::TimedOut { waited, after }),
        Waiting::Stopped => Err(EgressError::Cancelled),
    }
}

/// What `work` gives, unless it takes longer than `after`.
pub(crate) async fn within<T>(
    call: &Call,
    after: Duration,
    waited: Waited,
    work: impl Future<Output = Result<T, EgressError>>,
) -> Result<T, EgressError> {
    let late = EgressError::TimedOut { waited, after };
    call.timeout(after, work).await.unwrap_or(Err(late))
}
