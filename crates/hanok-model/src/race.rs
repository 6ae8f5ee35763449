//! Work that ends with its call.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use hanok_core::Call;

use crate::{ModelError, Wait};

/// What `work` gives, unless the call is stopped or its time is over before. `work` is asked first, so that it can say in its
/// own way why it ends.
pub(crate) async fn until_the_end_of<T>(
    call: &Call,
    work: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    if call.stop().is_cancelled() {
        return Err(ModelError::Cancelled);
    }
    let mut work = pin!(work);
    let mut stopped = call.stop().cancelled();
    let late = |after| ModelError::TimedOut { what: Wait::Deadline, after };
    let mut sleep = match call.time_left() {
        Some(Duration::ZERO) => return Err(late(Duration::ZERO)),
        left => left.map(|after| (after, call.clock().sleep(after))),
    };
    poll_fn(|cx| {
        if let Poll::Ready(result) = work.as_mut().poll(cx) {
            return Poll::Ready(result);
        }
        if Pin::new(&mut stopped).poll(cx).is_ready() {
            return Poll::Ready(Err(ModelError::Cancelled));
        }
        match &mut sleep {
            Some((after, sleep)) => sleep.as_mut().poll(cx).map(|()| Err(late(*after))),
            None => Poll::Pending,
        }
    })
    .await
}
