//! The limits of a task: a request to stop, its time, its silence.

use std::{future::poll_fn, ops::DerefMut, pin::Pin, task::Poll, time::Duration};

use futures_util::FutureExt;

use crate::{
    error::NodeError,
    node::{
        activity::Signs,
        attempt::{Stop, TaskAttempt},
    },
    run::task_outcome::{AttemptOutcome, TaskOutcome},
};
use hanok_core::Cancelled;
use hanok_state::{State, StateUpdate};

/// The outcome of `work`, unless the run is asked to stop, or the time of the turn is over and ends the task.
pub(crate) async fn until_stopped<U: StateUpdate>(
    scope: &TaskAttempt,
    mut work: Pin<impl DerefMut<Target: Future<Output = TaskOutcome<U>>>>,
) -> TaskOutcome<U> {
    let env = &scope.env;
    let stop = if scope.past_limits { &env.cancellation } else { &env.limited };
    let why = || match env.total.exhausted().filter(|_| !env.cancellation.is_cancelled()) {
        Some(limit) => Stop::Limit(limit),
        None => Stop::Cancelled,
    };
    if stop.is_cancelled() {
        return TaskOutcome::Stopped(why());
    }
    // A request to stop comes before what the node makes of it. A node that never waits does not look for one.
    let mut stopped: Option<Cancelled> = None;
    poll_fn(|cx| {
        if let Some(stopped) = &mut stopped
            && Pin::new(stopped).poll(cx).is_ready()
        {
            return Poll::Ready(TaskOutcome::Stopped(why()));
        }
        let ended = work.as_mut().poll(cx);
        if ended.is_pending() && stopped.is_none() {
            let stopped = stopped.insert(stop.cancelled());
            return Pin::new(stopped).poll(cx).map(|()| TaskOutcome::Stopped(why()));
        }
        ended
    })
    .await
}

/// The limits of the time of an attempt.
pub(crate) struct TimeLimits {
    /// All of it.
    pub(crate) timeout: Option<Duration>,
    /// Between two signs of life.
    pub(crate) idle: Option<Duration>,
    /// Between two heartbeats of the node itself.
    pub(crate) heartbeat: Option<Duration>,
}

/// The outcome of `node` within its time and without too long a silence.
pub(crate) async fn in_time<S: State>(
    node: impl Future<Output = AttemptOutcome<S>>,
    scope: &TaskAttempt,
    limits: TimeLimits,
) -> AttemptOutcome<S> {
    let TimeLimits { timeout, idle, heartbeat } = limits;
    let clock = &scope.env.runtime.clock;
    let late = async {
        match timeout {
            Some(after) => scope.activity.own_time(after, clock.clone()).await,
            None => std::future::pending().await,
        }
    };
    let silent = async {
        match idle {
            Some(idle) => scope.activity.silence(idle, clock.clone(), Signs::All).await,
            None => std::future::pending().await,
        }
    };
    let still = async {
        match heartbeat {
            Some(idle) => scope.activity.silence(idle, clock.clone(), Signs::Heartbeats).await,
            None => std::future::pending().await,
        }
    };
    futures_util::select_biased! {
        ended = Box::pin(node).fuse() => ended,
        () = Box::pin(late).fuse() => AttemptOutcome::Failed(NodeError::TimedOut {
            after: timeout.unwrap_or_default(),
        }),
        () = Box::pin(silent).fuse() => AttemptOutcome::Failed(NodeError::Idle {
            after: idle.unwrap_or_default(),
        }),
        () = Box::pin(still).fuse() => AttemptOutcome::Failed(NodeError::Idle {
            after: heartbeat.unwrap_or_default(),
        }),
    }
}
