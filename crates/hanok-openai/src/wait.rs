//! Waiting no longer than allowed, and saying for what.

use std::time::Duration;

use hanok_core::{Call, Waiting};
use hanok_model::{ModelError, Wait};

/// What `work` gives, unless the call is stopped or `total` or the call's own time is over before.
pub(crate) async fn bounded<T>(
    call: &Call,
    total: Duration,
    work: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    let (after, what) = match call.time_left() {
        Some(left) if left < total => (left, Wait::Deadline),
        _ => (total, Wait::Total),
    };
    let late = ModelError::TimedOut { what, after };
    if after.is_zero() {
        return Err(late);
    }
    match call.bounded(after, work).await {
        Waiting::Done(given) => given,
        Waiting::Late => Err(late),
        Waiting::Stopped => Err(ModelError::Cancelled),
    }
}

/// What `work` gives, or `late` when it takes longer than `after`.
pub(crate) async fn within<T>(
    call: &Call,
    after: Duration,
    late: ModelError,
    work: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    call.timeout(after, work).await.unwrap_or(Err(late))
}
