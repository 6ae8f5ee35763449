//! The settings of the runs of a thread.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU32},
};

use crate::{
    graph::definition::Definition,
    journal::{durability::Durability, journal::Journal},
    node::{
        activity::Activity,
        run_context::{Account, RunContext, RunParts},
    },
    node_set::Breakpoints,
    observe::{graph_watch::ParentWatch, sink::Sink, trail::Trail},
    run::graph_run::GraphRun,
    slots::{HeldSlots, Slots},
    thread::{admission::Admission, input::NewInput},
};
use hanok_checkpoint::SharedStore;
use hanok_core::{Answerer, Budget, Cancellation, Meter, Namespace, Position, RunId, Spent};
use hanok_state::State;

/// The settings of the runs that a handle begins.
#[derive(Clone)]
pub(crate) struct RunOptions {
    pub(crate) limit: Option<u32>,
    pub(crate) cancellation: Cancellation,
    pub(crate) drains: Vec<Cancellation>,
    pub(crate) sink: Sink,
    pub(crate) new_input: NewInput,
    pub(crate) budget: Option<Budget>,
    pub(crate) slots: Option<Slots>,
    pub(crate) takeovers: u32,
    /// True if records of calls in doubt may be discarded.
    pub(crate) discards: bool,
    pub(crate) durability: Option<Durability>,
    pub(crate) tags: BTreeMap<String, String>,
    /// The person who answers.
    pub(crate) answerer: Option<Answerer>,
    /// The memory across threads.
    pub(crate) memory: Option<Arc<SharedStore>>,
    pub(crate) breakpoints: Breakpoints,
    /// The node of another thread that the events of the runs are reported to.
    pub(crate) parent: Option<ParentWatch>,
    /// The trail of the run's events, if somebody has read it from before the run.
    pub(crate) trail: Option<Arc<Trail>>,
    /// Told when the input is in the log.
    pub(crate) admission: Option<Admission>,
    /// The name of the run.
    pub(crate) run: Option<NamedRun>,
    /// The earlier position from which the thread goes on.
    pub(crate) at: Option<Position>,
}

/// A run whose id comes from outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedRun {
    pub(crate) run: RunId,
    /// The position behind which it stands, if it has begun.
    pub(crate) since: Position,
}

/// The default limit of runs in a row that are lost with the same tasks.
const TAKEOVERS: u32 = 5;

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            limit: None,
            cancellation: Cancellation::default(),
            drains: Vec::new(),
            sink: Sink::default(),
            new_input: NewInput::default(),
            budget: None,
            slots: None,
            takeovers: TAKEOVERS,
            discards: false,
            durability: None,
            tags: BTreeMap::new(),
            answerer: None,
            memory: None,
            breakpoints: Breakpoints::default(),
            parent: None,
            trail: None,
            admission: None,
            run: None,
            at: None,
        }
    }
}

impl RunOptions {
    /// A run of a thread's own graph, whose turn has `spent` something before.
    pub(crate) fn graph_run<S: State, C: Send + Sync + 'static>(
        &self,
        graph: &Arc<Definition<S, C>>,
        run: RunId,
        services: Arc<C>,
        journal: Arc<Journal>,
        spent: Spent,
    ) -> GraphRun<S, C> {
        let runtime = graph.runtime.clone();
        let budget = self.budget.unwrap_or(graph.budget);
        let account = Account::from(runtime.clock.monotonic());
        let cancellation = self.cancellation.child();
        let parts = RunParts {
            limited: cancellation.child(),
            cancellation,
            drains: self.drains.clone(),
            sink: self.sink.clone(),
            total: Meter::budgeted(budget, spent),
            slots: runtime.slots.iter().chain(&self.slots).cloned().collect(),
            limit: self.limit,
            before: spent,
            memory: self.memory.clone(),
            run,
            tags: self.tags.clone(),
            breakpoints: self.breakpoints.clone(),
            doubts: Default::default(),
            voided: Default::default(),
            runtime,
        };
        let env = RunContext {
            journal,
            parts: Arc::new(parts),
            retries: AtomicU32::new(graph.retry_budget),
            unsaved: false,
            account: account.into(),
            readable: Default::default(),
            wrong: Default::default(),
        };
        GraphRun {
            graph: graph.clone(),
            services,
            env: Arc::new(env),
            namespace: Namespace::root(),
            within: None,
            run,
            limit: self.limit.unwrap_or(graph.recursion_limit),
            activity: Activity::default(),
            spoken: Default::default(),
            held: HeldSlots::default(),
        }
    }
}
