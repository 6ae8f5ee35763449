//! The queue of inputs that wait until their thread is free.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt;
use hanok_checkpoint::{CheckpointError, Checkpointer, Head};
use hanok_core::{Position, ThreadKey, Timestamp};
use hanok_state::State;

use crate::{
    error::RunError,
    observe::{sink::Sink, trail::Trail},
    outcome::{Outcome, Unfinished},
    thread::{
        app::App,
        input::{Input, NewInput},
        options::RunOptions,
        turn::TurnRunner,
    },
};

/// The first delay before a queued input looks again for a thread that another process, or a person, is done with.
const QUEUE_FIRST: Duration = Duration::from_millis(20);
const QUEUE_LONGEST: Duration = Duration::from_secs(1);

/// The first delay before an input tries again without having seen a change.
const AGAIN_FIRST: Duration = Duration::from_secs(1);
const AGAIN_LONGEST: Duration = Duration::from_secs(600);

/// The earliest time after which a thread that waits for people continues without them.
fn earliest(error: &RunError) -> Option<Timestamp> {
    match error {
        RunError::Unfinished { why: Unfinished::Interrupted(requests), .. } => {
            requests.iter().filter_map(|pending| pending.deadline).min()
        }
        _ => None,
    }
}

/// Waits until a thread that was in use, or waited for a person, may be free: its log has moved since `before`, it has
/// another owner or none, its owner is dead, or it is `until`. It reads nothing of the log.
///
/// Returns true after such a change. Without one, the wait for a thread without an owner is over after `again`, since a
/// store may have answered with an older state.
async fn until_changed<S: State, C: Send + Sync + 'static>(
    app: &App<S, C>,
    thread: &ThreadKey,
    before: Option<&Head>,
    until: Option<Timestamp>,
    again: Duration,
) -> Result<bool, CheckpointError> {
    // While somebody owns the thread it moves all the time, and is not free.
    let place = |head: Option<&Head>| {
        head.map(|head| match &head.claim {
            Some(claim) => (head.life, Err(claim.epoch)),
            None => (head.life, Ok(head.position)),
        })
    };
    let clock = &app.runtime().clock;
    let mut position = before.map_or(Position::START, |head| head.position);
    let (mut wait, began) = (QUEUE_FIRST, clock.monotonic());
    loop {
        futures_util::select_biased! {
            beyond = Box::pin(app.store().beyond(thread, position)).fuse() => {
                beyond?;
                // Whoever moved it may be about to give it back.
                clock.sleep(QUEUE_FIRST).await;
            }
            () = clock.sleep(wait.min(again)).fuse() => {}
        }
        let head = app.store().head(thread).await?;
        let claim = head.as_ref().and_then(|head| head.claim.as_ref());
        let dead = match claim {
            Some(claim) => app.is_dead(thread, claim).await?,
            None => false,
        };
        let late = until.is_some_and(|until| until <= clock.now());
        if dead || late || place(head.as_ref()) != place(before) {
            return Ok(true);
        }
        if claim.is_none() && clock.monotonic().saturating_sub(began) >= again {
            return Ok(false);
        }
        position = head.map_or(position, |head| head.position);
        wait = QUEUE_LONGEST.min(wait * 2);
    }
}

/// Takes the thread in this process, under the policy for new inputs, then runs `input`.
pub(crate) async fn run_input<S: State, C: Send + Sync + 'static>(
    app: App<S, C>,
    thread: ThreadKey,
    input: Input<S>,
    services: Arc<C>,
    mut options: RunOptions,
) -> Result<Outcome<S>, RunError> {
    options.drains.push(app.drain().clone());
    let trail = options.trail.take().unwrap_or_default();
    let _closes = trail.closes();
    let (mut tellers, mut watch): (Vec<_>, _) = (app.observers(&thread).collect(), None);
    if let Some(parent) = options.parent.take() {
        tellers.push(parent.teller());
        watch = parent.begin(app.graph().name());
    }
    let sink = Sink::new(app.runtime().clock.clone(), trail.clone(), tellers);
    options.sink = sink.clone();
    let ended = run_watched(app, thread, input, services, (options, trail)).await;
    sink.finish(&ended);
    if let Some(watch) = &mut watch {
        watch.ended(ended.as_ref());
    }
    ended
}

async fn run_watched<S: State, C: Send + Sync + 'static>(
    app: App<S, C>,
    thread: ThreadKey,
    mut input: Input<S>,
    services: Arc<C>,
    (options, trail): (RunOptions, Arc<Trail>),
) -> Result<Outcome<S>, RunError> {
    let policy = match input {
        Input::New(_) | Input::Goto { .. } => options.new_input,
        _ => NewInput::Reject,
    };
    let mut pause = AGAIN_FIRST;
    loop {
        if app.drain().is_cancelled() {
            return Err(RunError::ShuttingDown);
        }
        let entered = async {
            match policy {
                NewInput::Reject => app.active().enter_free(&thread).await,
                NewInput::Queue => app.active().enter(&thread).await,
                NewInput::Replace => app.active().enter_replacing(&thread).await,
            }
        };
        let active = futures_util::select_biased! {
            active = Box::pin(entered).fuse() => active,
            // Nothing of the input is stored.
            () = options.cancellation.cancelled().fuse() => {
                return Err(RunError::Conflict { thread, holder: None });
            }
        };
        let Some(active) = active else {
            return Err(RunError::conflict(&thread, app.holder()));
        };
        active.show(&trail, options.run.map(|named| named.run));
        // Asked again after the wait for the thread: the run before may have been ended by the shutdown.
        if app.drain().is_cancelled() {
            return Err(RunError::ShuttingDown);
        }
        // What a queued input waits to see changed is known from before it tries.
        let before = match policy {
            NewInput::Queue => app.store().head(&thread).await.map_err(RunError::Checkpoint)?,
            _ => None,
        };
        let began = AtomicBool::new(false);
        let turns = TurnRunner {
            app: &app,
            services: &services,
            options: &options,
            active: &active,
            began: &began,
        };
        let stops = [active.stop.clone(), active.cancel.clone(), app.stop().clone()];
        // An input that may have to wait is given again; no other is copied.
        let again = (policy != NewInput::Reject).then(|| input.clone());
        let result = turns.run(&thread, input, &stops).await;
        drop(active);
        // An input that is in the log is not given again, whatever became of its run.
        if began.load(Ordering::SeqCst) || options.cancellation.is_cancelled() {
            return result;
        }
        match (policy, &result) {
            (
                NewInput::Queue,
                Err(error @ (RunError::Conflict { .. } | RunError::Unfinished { .. })),
            ) => {
                let changed = until_changed(&app, &thread, before.as_ref(), earliest(error), pause);
                futures_util::select_biased! {
                    changed = Box::pin(changed).fuse() => {
                        pause = match changed.map_err(RunError::Checkpoint)? {
                            true => AGAIN_FIRST,
                            false => AGAIN_LONGEST.min(pause * 2),
                        };
                    }
                    () = options.cancellation.cancelled().fuse() => return result,
                }
            }
            // The run that is replaced has stored something meanwhile.
            (NewInput::Replace, Err(RunError::Conflict { .. })) => {}
            _ => return result,
        }
        match again {
            Some(again) => input = again,
            None => return result,
        }
    }
}
