//! The world as one of its processes sees it.

use std::sync::Arc;

use hanok_checkpoint::{SharedCheckpointer, SharedStore};
use hanok_graph::Runtime;
use hanok_testkit::Layered;

use crate::{core::Core, effects::Effects, items::Items, numbers::Process, seams, store::Store};

/// The world of a simulated process: time, ids, randomness, tasks, stores, and a ledger for what its nodes do.
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

    /// The store of logs, as this process reaches it: its calls take a while, and may fail.
    pub fn checkpointer(&self) -> SharedCheckpointer {
        SharedCheckpointer::new(Layered(Store::new(&self.core, self.process)))
    }

    /// The store of items, as this process reaches it: its calls take a while, and may fail. Logs and items are as if in one file:
    /// when the machine dies, what it forgets of both was written last.
    pub fn store(&self) -> SharedStore {
        SharedStore::new(Items::new(&self.core, self.process))
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
