//! Calls of a store by one process, and what goes wrong with them whatever is stored.

use std::{future::pending, sync::Arc, time::Duration};

use hanok_checkpoint::CheckpointError;

use crate::{
    core::{Core, WorldState},
    faults::Fault,
    numbers::Process,
    seams::{Yield, sleep},
};

/// The time that a call of the store may take, in milliseconds.
const SLOW: usize = 15_000;

/// The time that a snapshot may take: others write, and delete, meanwhile.
const LATE: usize = 120_000;

/// The calls that one process makes of a store.
pub(crate) struct StoreCalls {
    pub(crate) core: Arc<Core>,
    pub(crate) process: Process,
}

impl StoreCalls {
    pub(crate) fn new(core: &Arc<Core>, process: Process) -> Self {
        Self { core: Arc::clone(core), process }
    }

    /// A call takes a while; whether it fails, and the fault that its answer has to show.
    pub(crate) async fn call(
        &self,
        what: &'static str,
        kinds: &[Fault],
    ) -> Result<Option<Fault>, CheckpointError> {
        let (fault, wait) = {
            let mut inner = self.core.inner();
            let fault = inner.fate.call(what, kinds);
            if let Some(fault) = fault {
                inner.befell(self.process, fault);
            }
            let process = u64::from(self.process);
            inner.note(what, [process, 0, 0], String::new);
            let slow = if what == "snapshot" { LATE } else { SLOW };
            (fault, wait(&mut inner, fault, slow))
        };
        self.wait(wait).await;
        match fault {
            Some(Fault::Refused) => Err(unavailable()),
            fault => Ok(fault),
        }
    }

    /// A write takes a while. The process may die of it, before it is stored or after it.
    pub(crate) async fn write<T: Send, E: From<CheckpointError> + Send>(
        &self,
        store: impl FnOnce(&mut WorldState) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        let (fault, wait) = {
            let mut inner = self.core.inner();
            let fault = inner.fate.append();
            if let Some((fault, _)) = fault {
                inner.befell(self.process, fault);
            }
            (fault, wait(&mut inner, fault.map(|(fault, _)| fault), SLOW))
        };
        self.wait(wait).await;
        let store = || store(&mut self.core.inner());
        let answer = match fault {
            Some((Fault::Crash, stored)) => {
                if stored {
                    // Nobody is left to be told.
                    drop(store());
                }
                self.core.inner().dying.insert(self.process);
                return pending().await;
            }
            Some((Fault::Refused, _)) => Err(unavailable().into()),
            Some((Fault::Full, _)) => {
                Err(CheckpointError::Full("the simulation says so".into()).into())
            }
            Some((Fault::LostAnswer, _)) => store().and(Err(unavailable().into())),
            _ => store(),
        };
        let wait = Wait::Turns(self.core.inner().schedule.below(2));
        self.wait(wait).await;
        answer
    }

    async fn wait(&self, wait: Wait) {
        match wait {
            Wait::Turns(turns) => {
                for _ in 0..turns {
                    Yield::default().await;
                }
            }
            Wait::Time(time) => sleep(&self.core, time).await,
        }
    }
}

enum Wait {
    Turns(usize),
    Time(Duration),
}

fn wait(inner: &mut WorldState, fault: Option<Fault>, slow: usize) -> Wait {
    match fault {
        Some(Fault::Slow) => Wait::Time(Duration::from_millis(inner.schedule.below(slow) as u64)),
        _ => Wait::Turns(inner.schedule.below(3)),
    }
}

pub(crate) fn unavailable() -> CheckpointError {
    CheckpointError::Unavailable { reason: "the simulation says so", source: "a fault".into() }
}
