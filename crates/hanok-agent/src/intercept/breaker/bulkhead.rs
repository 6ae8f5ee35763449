//! A limit on the calls that are made at once.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_channel::oneshot;
use futures_util::future::{Either, select};
use hanok_core::Call;

use super::rejection::Rejection;

/// So many calls at once; others wait in the order in which they came.
#[derive(Debug)]
pub(super) struct Bulkhead {
    most: usize,
    state: Mutex<BulkheadState>,
}

#[derive(Debug, Default)]
struct BulkheadState {
    running: usize,
    waiting: VecDeque<oneshot::Sender<CallPermit>>,
}

/// The permit of one call. Dropping it hands it to the next call.
#[derive(Debug)]
pub(super) struct CallPermit(Arc<Bulkhead>);

impl Bulkhead {
    pub(super) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    /// A permit, at once or within `patience`.
    pub(super) async fn enter(
        self: &Arc<Self>,
        call: &Call,
        patience: Duration,
    ) -> Result<CallPermit, Rejection> {
        let permit = {
            let mut state = self.state();
            if state.running < self.most {
                state.running += 1;
                return Ok(CallPermit(self.clone()));
            }
            let (sender, permit) = oneshot::channel();
            state.waiting.retain(|waiting| !waiting.is_canceled());
            state.waiting.push_back(sender);
            permit
        };
        let late = select(call.stop().cancelled(), call.clock().sleep(patience));
        match select(permit, late).await {
            Either::Left((Ok(permit), _)) => Ok(permit),
            Either::Right((Either::Left(_), _)) => Err(Rejection::Stopped),
            _ => Err(Rejection::Unavailable(None)),
        }
    }

    fn state(&self) -> MutexGuard<'_, BulkheadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        // A permit that nobody takes comes back here, so that nothing is sent while the state is held.
        let next = {
            let mut state = self.0.state();
            while state.waiting.pop_front_if(|waiting| waiting.is_canceled()).is_some() {}
            let next = state.waiting.pop_front();
            if next.is_none() {
                state.running = state.running.saturating_sub(1);
            }
            next
        };
        if let Some(next) = next {
            drop(next.send(CallPermit(self.0.clone())));
        }
    }
}
