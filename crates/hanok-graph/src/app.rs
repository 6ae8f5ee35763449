//! A graph with a store for its threads.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use hanok_checkpoint::{Holder, SharedCheckpointer};
use hanok_core::ThreadKey;
use hanok_state::State;

use crate::{Graph, RunError, Runtime, Thread};

/// A graph with a store for its threads. A clone costs a pointer.
pub struct App<S: State, C = ()>(Arc<Inner<S, C>>);

struct Inner<S: State, C> {
    graph: Graph<S, C>,
    store: SharedCheckpointer,
    holder: Holder,
    /// The threads that run in this process, through this handle.
    active: Arc<Mutex<BTreeSet<ThreadKey>>>,
}

impl<S: State, C: Send + Sync + 'static> App<S, C> {
    pub(crate) fn new(graph: Graph<S, C>, store: SharedCheckpointer) -> Self {
        let holder = Holder::this_process(graph.0.runtime.ids.id());
        Self(Arc::new(Inner { graph, store, holder, active: Arc::default() }))
    }

    /// The thread that `key` names. It need not exist yet.
    pub fn thread(&self, key: ThreadKey) -> Thread<S, C> {
        Thread::new(self.clone(), key)
    }

    /// The graph.
    pub fn graph(&self) -> &Graph<S, C> {
        &self.0.graph
    }

    /// The store.
    pub fn store(&self) -> &SharedCheckpointer {
        &self.0.store
    }

    pub(crate) fn holder(&self) -> &Holder {
        &self.0.holder
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.0.graph.0.runtime
    }

    /// Notes that `thread` runs here, until the guard is dropped.
    pub(crate) fn enter(&self, thread: &ThreadKey) -> Result<Active, RunError> {
        let mut active = self.0.active.lock().unwrap_or_else(PoisonError::into_inner);
        if !active.insert(thread.clone()) {
            let holder = Some(Box::new(self.0.holder.clone()));
            return Err(RunError::Conflict { thread: thread.clone(), holder });
        }
        Ok(Active { active: self.0.active.clone(), thread: thread.clone() })
    }
}

/// A thread that runs in this process.
pub(crate) struct Active {
    active: Arc<Mutex<BTreeSet<ThreadKey>>>,
    thread: ThreadKey,
}

impl Drop for Active {
    fn drop(&mut self) {
        self.active.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.thread);
    }
}

impl<S: State, C> Clone for App<S, C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: State, C> fmt::Debug for App<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("graph", &self.0.graph)
            .field("store", &self.0.store)
            .finish_non_exhaustive()
    }
}
