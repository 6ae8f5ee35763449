//! The graph, and what its nodes work with.

use std::sync::Arc;

use hanok_agent::{Gates, StandingApprovals};
use hanok_core::BoxError;
use hanok_graph::{BuildError, Command, Context, END, Graph, NodeExt as _, START, Snapshot};
use hanok_mcp::IndexedClient;
use hanok_model::SharedModel;

use crate::{
    asking::Background,
    memory::{Memory, Offer},
    results::Results,
    state::{OrchestratorState, OrchestratorStateUpdate},
};

/// What the nodes work with. Clones share it.
#[derive(Debug, Clone)]
pub struct Orchestrator {
    /// The model.
    pub model: SharedModel,
    /// The tools.
    pub servers: IndexedClient,
    /// The gates at which people are asked.
    pub gates: Gates,
    /// What is known of the user.
    pub memory: Memory,
    /// The calls of which somebody said "always".
    pub always: StandingApprovals,
    /// What stands in every request.
    pub background: Background,
    /// Where results are written, if they are.
    pub results: Option<Results>,
}

/// The state, as a node reads it.
pub(crate) type Turn = Snapshot<OrchestratorState>;

/// What a node with one way returns.
pub(crate) type Update = Result<OrchestratorStateUpdate, BoxError>;

/// What a node with several ways returns.
pub(crate) type Next = Result<Command<OrchestratorState>, BoxError>;

/// The update of a node that goes on to `node`.
pub(crate) fn next(update: OrchestratorStateUpdate, node: &str) -> Next {
    Ok(Command::new().update(update).goto(node))
}

/// Adds methods as nodes: each with the node behind it (`->`), or with those of which it chooses one (`=>`).
macro_rules! nodes {
    ($graph:ident, $all:ident: $($name:ident $(-> $to:expr)? $(=> $($way:literal)|+)?;)+) => {$(
        let all = $all.clone();
        let node = move |state: Turn, context: Context| {
            let all = all.clone();
            async move { all.$name(state, context).await }
        };
        let name = stringify!($name);
        $graph = $graph.node(name, node $(.goto([$($way),+]))?) $(.edge(name, $to))?;
    )+};
}

impl Orchestrator {
    /// The graph of a turn.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its nodes and edges are fixed.
    #[rustfmt::skip]
    pub fn graph(self) -> Result<Graph<OrchestratorState>, BuildError> {
        let all = Arc::new(self);
        let mut graph = Graph::builder("orchestrator").recursion_limit(400).edge(START, "start");
        nodes! { graph, all:
            start -> "routing";
            routing => "synthesis" | "task_clarification_analysis";
            task_clarification_analysis => "task_clarification_approval" | "dynamic_planning";
            task_clarification_approval => "process_clarification_feedback" | "dynamic_planning";
            process_clarification_feedback => "task_clarification_approval" | "dynamic_planning";
            dynamic_planning -> "plan_approval";
            plan_approval => "process_plan_feedback" | "synthesis" | "step_preparation";
            process_plan_feedback => "plan_approval" | "dynamic_planning" | "synthesis" | "step_preparation";
            step_preparation -> "step_approval";
            step_approval => "process_step_feedback" | "tool_execution";
            process_step_feedback => "step_approval" | "step_completion" | "tool_execution";
            tool_execution => "step_preparation" | "step_completion";
            step_completion -> "check_continue";
            check_continue => "step_preparation" | "synthesis";
            synthesis -> END;
        }
        graph.build()
    }

    /// The tools that can be called now.
    pub(crate) fn offer(&self) -> Offer {
        self.servers.client().offer()
    }
}
