//! How many calls are made at once.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{
    channel::oneshot,
    future::{Either, select},
};
use hanok_core::Call;

use super::Refused;

/// So many calls at once; others wait in the order in which they came.
#[derive(Debug)]
pub(super) struct Bulkhead {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    waiting: VecDeque<oneshot::Sender<Turn>>,
}

/// A call's turn, which the next one has when it is dropped.
#[derive(Debug)]
pub(super) struct Turn(Arc<Bulkhead>);

impl Bulkhead {
    pub(super) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    /// A turn, at once or within `patience`.
    pub(super) async fn enter(
        self: &Arc<Self>,
        call: &Call,
        patience: Duration,
    ) -> Result<Turn, Refused> {
        let turn = {
            let mut state = self.state();
            if state.running < self.most {
                state.running += 1;
                return Ok(Turn(self.clone()));
            }
            let (sender, turn) = oneshot::channel();
            state.waiting.retain(|waiting| !waiting.is_canceled());
            state.waiting.push_back(sender);
            turn
        };
        let late = select(call.stop().cancelled(), call.clock().sleep(patience));
        match select(turn, late).await {
            Either::Left((Ok(turn), _)) => Ok(turn),
            Either::Right((Either::Left(_), _)) => Err(Refused::Stopped),
            _ => Err(Refused::Full),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // A turn that nobody takes comes back here, so that nothing is sent while the state is held.
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
            drop(next.send(Turn(self.0.clone())));
        }
    }
}
