//! The heartbeat of a run: the sign in the store that its claim is alive.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hanok_checkpoint::{CheckpointError, Checkpointer, Epoch, LEASE, Life, Log};
use hanok_core::{Cancellation, Spawned};

use crate::runtime::Runtime;

/// Beats for the claim of one run until it is dropped.
pub(crate) struct Heartbeat {
    lost: Arc<AtomicBool>,
    _task: Spawned,
}

/// The claim of the heartbeat: the thread's life, and the epoch.
#[derive(Clone, Copy)]
pub(crate) struct HeldClaim {
    pub(crate) life: Life,
    pub(crate) epoch: Epoch,
}

impl Heartbeat {
    /// Starts the heartbeat. It cancels the run when its claim is lost, or when one of `stops` is cancelled.
    pub(crate) fn start(
        runtime: &Runtime,
        log: &Log,
        claim: HeldClaim,
        stops: &[Cancellation],
        run: &Cancellation,
    ) -> Self {
        let lost = Arc::new(AtomicBool::new(false));
        let (clock, log, stops) = (runtime.clock.clone(), log.clone(), stops.to_vec());
        if stops.iter().any(Cancellation::is_cancelled) {
            run.cancel();
        }
        let (run, is_lost) = (run.clone(), lost.clone());
        let beating = async move {
            loop {
                clock.sleep(LEASE / 4).await;
                let HeldClaim { life, epoch } = claim;
                let beat = log.store().beat(log.thread(), life, epoch, clock.now()).await;
                if let Err(CheckpointError::Fenced { .. } | CheckpointError::OtherLife { .. }) =
                    beat
                {
                    is_lost.store(true, Ordering::SeqCst);
                    return;
                }
            }
        };
        let task = runtime.spawner.spawn(Box::pin(async move {
            let stop = futures_util::future::select_all(stops.iter().map(Cancellation::cancelled));
            futures_util::future::select(pin!(beating), stop).await;
            run.cancel();
        }));
        Self { lost, _task: task }
    }

    /// Ends the heartbeat; returns true if it found the claim lost.
    pub(crate) fn stop(self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}
