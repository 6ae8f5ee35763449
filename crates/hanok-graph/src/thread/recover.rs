//! What an app does for many threads: finishing what dead processes left, and removing what nobody used.

use hanok_checkpoint::{CheckpointError, Checkpointer, Keep, Log, ThreadInfo, Which};
use hanok_core::{Position, Tenant, ThreadKey};
use hanok_state::State;

use crate::{error::RunError, outcome::Outcome, thread::app::App};

/// Which threads were cut, and up to where, or why they were not.
pub type Pruned = Vec<(ThreadKey, Result<Position, CheckpointError>)>;

/// How runs ended that were begun for threads that had been left.
pub type Recovered<S> = Vec<(ThreadKey, Result<Outcome<S>, RunError>)>;

impl<S: State, C: std::marker::Send + Sync + 'static> App<S, C> {
    /// The threads of the store, of every tenant, whose run was lost: their claim is dead. Their turns are finished by
    /// [`recover`](App::recover), or by whoever runs them next. Of a holder that cannot be looked at, on another host, there
    /// has to be no sign of life for [`LEASE`](hanok_checkpoint::LEASE): a store with a clock that all share (PostgreSQL) says
    /// so at once, with any other this process has to watch it for so long, so ask again after that. A thread whose row is
    /// damaged, so that nobody can say whose it is, is one of them.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn abandoned(&self) -> Result<Vec<ThreadKey>, CheckpointError> {
        let mut abandoned = Vec::new();
        for info in self.store().all_threads(&Which::Claimed).await? {
            if info.damage.is_some() || self.is_lost(&info).await? {
                abandoned.push(info.thread);
            }
        }
        Ok(abandoned)
    }

    /// Whether the run that owns a thread is lost.
    async fn is_lost(&self, info: &ThreadInfo) -> Result<bool, CheckpointError> {
        match &info.head.claim {
            Some(claim) if !self.active().is_running(&info.thread) => {
                self.is_dead(&info.thread, claim).await
            }
            _ => Ok(false),
        }
    }

    /// Finishes the turns of the threads that are [abandoned](App::abandoned), one after the other, each with the services
    /// that `services` gives for it; a thread for which it gives none is left alone. Any number of processes may do so at
    /// once: a thread that another took first is not among what is returned.
    ///
    /// # Errors
    ///
    /// What the store says when it is asked for the threads. How each run ended is part of the answer.
    pub async fn recover(
        &self,
        services: impl Fn(&ThreadKey) -> Option<C>,
    ) -> Result<Recovered<S>, CheckpointError> {
        let mut recovered = Vec::new();
        for thread in self.abandoned().await? {
            let Some(services) = services(&thread) else { continue };
            match self.thread(thread.clone()).resume(services).await {
                Err(RunError::Conflict { .. }) => {}
                outcome => recovered.push((thread, outcome)),
            }
        }
        Ok(recovered)
    }

    /// Removes the threads whose time is over (see [`keep_for`](App::keep_for)) and that no run owns; says which.
    ///
    /// # Errors
    ///
    /// What the store says. A thread that was used meanwhile stays.
    pub async fn sweep(&self) -> Result<Vec<ThreadKey>, CheckpointError> {
        let mut swept = Vec::new();
        let expired = self.store().all_threads(&Which::Expired(self.runtime().clock.now())).await?;
        // What cannot be read says nothing about when it was used.
        for info in expired.into_iter().filter(|info| info.damage.is_none()) {
            match self.store().delete(&info.thread, Some(&info.head)).await {
                Ok(true) => swept.push(info.thread),
                Ok(false)
                | Err(CheckpointError::Conflict { .. } | CheckpointError::OtherLife { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(swept)
    }

    /// Cuts off what precedes the checkpoints that `keep` names in every thread of `tenant` (see
    /// [`Log::prune`](hanok_checkpoint::Log::prune)); says which threads were cut, and up to where.
    ///
    /// # Errors
    ///
    /// What the store says when it is asked for the threads. A thread that cannot be cut is passed over and is part of the
    /// answer.
    pub async fn prune(&self, tenant: &Tenant, keep: Keep) -> Result<Pruned, CheckpointError> {
        let mut pruned = Vec::new();
        for info in self.store().all_threads(&Which::Of(tenant.clone())).await? {
            let log = Log::new(self.store().clone(), info.thread.clone());
            if let Some(cut) = log.prune(keep).await.transpose() {
                pruned.push((info.thread, cut));
            }
        }
        Ok(pruned)
    }
}
