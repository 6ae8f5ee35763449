//! The effects of nodes outside of their world, in a ledger that no crash touches.

use std::{fmt, sync::Arc};

use hanok_core::Stored;
use hanok_graph::Context;
use serde::Serialize;

use crate::{core::Core, numbers::Process};

/// The ledger of what nodes did outside of their world. Crashes do not touch it.
///
/// A simulation holds what is written here against the log: a task is not [started](Effects::started) whose write is
/// stored, a step whose result is stored is not [worked](Effects::worked) again, and a call is [made](Effects::made) once,
/// unless the run before it said that it was in doubt.
#[derive(Clone)]
pub struct Effects {
    core: Arc<Core>,
    process: Process,
}

impl Effects {
    pub(crate) fn new(core: &Arc<Core>, process: Process) -> Self {
        Self { core: Arc::clone(core), process }
    }

    /// Notes that a node starts.
    pub fn started<C>(&self, context: &Context<C>) {
        let (task, thread, path) = (context.task(), context.thread(), context.namespace().clone());
        let mut inner = self.core.inner();
        inner.note("start", [u64::from(self.process), 0, 0], || {
            format!("{} in {path}", context.node())
        });
        // A process whose claim is lost cannot know what is stored since.
        let again =
            inner.disk.held_by(self.process, thread).is_some_and(|book| book.has_written(task));
        if again {
            let node = context.node();
            inner.disk.wrong.push(format!("P2: `{node}` was run again after its write was stored"));
        }
        let graph = (self.process, thread.clone(), path);
        inner.disk.current.insert(graph, (context.node().to_owned(), task));
    }

    /// Notes that the work of the step `name` is done, and goes well.
    pub fn worked<C>(&self, context: &Context<C>, name: &str) {
        let mut inner = self.core.inner();
        let (task, thread) = (context.task(), context.thread());
        let again =
            inner.disk.held_by(self.process, thread).is_some_and(|book| book.has_memo(task, name));
        if again {
            inner.disk.wrong.push(format!("P2: step `{name}` was done again after it was stored"));
        }
        inner.disk.worked.entry((thread.clone(), task)).or_default().insert(name.to_owned());
        *inner.ledger.counts.entry(name.to_owned()).or_default() += 1;
    }

    /// Notes that the call with this idempotency key is made, and what it gives.
    pub fn made(&self, key: &str, gives: &(impl Serialize + ?Sized)) {
        let gives = Stored::encode(gives).unwrap_or_else(|_| Stored::nil());
        let mut inner = self.core.inner();
        inner.note("made", [u64::from(self.process), 0, 0], || key.to_owned());
        inner.ledger.made.entry(key.to_owned()).or_default().push(gives);
    }

    /// Notes anything else; how often it was noted so far.
    pub fn note(&self, what: &str) -> usize {
        let mut inner = self.core.inner();
        let count = inner.ledger.counts.entry(what.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// The number of times that `what` was noted, or worked.
    pub fn count(&self, what: &str) -> usize {
        self.core.inner().ledger.counts.get(what).copied().unwrap_or_default()
    }

    /// The result of the call with this key, if it was made.
    pub fn gave(&self, key: &str) -> Option<Stored> {
        self.core.inner().ledger.made.get(key)?.first().cloned()
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effects").field("process", &self.process).finish_non_exhaustive()
    }
}
