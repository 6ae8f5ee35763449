//! The time limit of a turn.

use std::{panic::AssertUnwindSafe, pin::pin, time::Duration};

use crate::{
    error::RunError,
    outcome::Outcome,
    run::{graph_run::GraphRun, run_state::RunState},
};
use futures_util::FutureExt;
use hanok_core::{Budget, Limit, Panicked};
use hanok_state::State;

/// Drives a run, and stops it when the turn's time is over. Code of a user that panics somewhere in it ends it with an error, so that
/// its claim is given back.
pub(crate) async fn within_time<S: State, C: Send + Sync + 'static>(
    run: &GraphRun<S, C>,
    state: &mut RunState<S>,
    budget: Budget,
) -> Result<Outcome<S>, RunError> {
    let driven = AssertUnwindSafe(async {
        let Some(time) = budget.time else { return run.drive(state).await };
        // Apart, so that the others carry no room for it.
        Box::pin(at_most(run, state, time)).await
    });
    let driven = driven.catch_unwind().await;
    driven.unwrap_or_else(|panic| Err(RunError::Panicked { source: Panicked::of(&*panic) }))
}

async fn at_most<S: State, C: Send + Sync + 'static>(
    run: &GraphRun<S, C>,
    state: &mut RunState<S>,
    time: Duration,
) -> Result<Outcome<S>, RunError> {
    let left = time.saturating_sub(Duration::from_millis(state.spent.millis));
    if left.is_zero() {
        run.env.stop(Limit::Time(time));
        return run.drive(state).await;
    }
    let mut drive = pin!(run.drive(state).fuse());
    futures_util::select_biased! {
        outcome = drive => outcome,
        () = run.env.runtime.clock.sleep(left).fuse() => {
            run.env.stop(Limit::Time(time));
            drive.await
        }
    }
}
