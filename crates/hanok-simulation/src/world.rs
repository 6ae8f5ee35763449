//! The world as one of its processes sees it.

use std::sync::Arc;

use hanok_graph::Runtime;

use crate::{core::Core, effects::Effects, numbers::Process, seams};

/// The world of a simulated process: time, ids, randomness, tasks, and a ledger for what its nodes do.
#[derive(Debug, Clone)]
pub struct World {
    core: Arc<Core>,
    process: Process,
}

impl World {
    pub(crate) fn new(core: &Arc<Core>, process: Process) -> Self {
        Self { core: Arc::clone(core), process }
    }

    /// The runtime for the graph. A graph on another one leaves the simulation: its schedule is not the seed's.
    pub fn runtime(&self) -> Runtime {
        seams::runtime(&self.core, self.process)
    }

    /// The ledger of what nodes do.
    pub fn effects(&self) -> Effects {
        Effects::new(&self.core, self.process)
    }

    /// The seed, for graphs that are made of it.
    pub fn seed(&self) -> u64 {
        self.core.seed
    }

    /// Which process it is: 0, and one more for each that took over.
    pub fn process(&self) -> u32 {
        self.process
    }
}
