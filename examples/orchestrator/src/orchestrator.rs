//! The graph.
//!
//! ```text
//! start -> routing -> synthesis                                          nothing to do: a chat
//!             |-> task_clarification_analysis -> dynamic_planning        it is clear
//!                   |-> task_clarification_approval <-> process_clarification_feedback -> dynamic_planning
//! dynamic_planning -> plan_approval <-> process_plan_feedback            back to planning by words, to synthesis when rejected
//! -> step_preparation -> step_approval <-> process_step_feedback         to step_completion when it is left out
//! -> tool_execution -> step_completion -> check_continue                 back to step_preparation when a tool is gone, and for the next
//! -> synthesis
//! ```

use std::sync::Arc;

use hanok_agent::{Decision, Gate, Gates, Precedent, StandingApprovals, ToolRequest};
use hanok_core::{BoxError, Call, ThreadKey, Timestamp};
use hanok_graph::{BuildError, Context, END, Graph, START, Snapshot};
use hanok_model::{SharedModel, ToolError};

use crate::{
    asking::Background,
    events::{OrchestratorEvent, Status},
    memory::Memory,
    results::Results,
    servers::Servers,
    state::{Complexity, OrchestratorState, OrchestratorStateUpdate, TurnEnd},
};

/// What the nodes work with. Clones share it.
#[derive(Debug, Clone)]
pub struct Orchestrator {
    /// The model.
    pub model: SharedModel,
    /// The tools.
    pub servers: Servers,
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

type Node = fn(Arc<Orchestrator>, Snapshot<OrchestratorState>, Context) -> Ran;
type Ran = futures::future::BoxFuture<'static, Result<OrchestratorStateUpdate, BoxError>>;

/// A method as a node.
macro_rules! node {
    ($method:ident) => {
        (stringify!($method), |all, state, context| {
            Box::pin(async move { all.$method(state, context).await })
        })
    };
}

/// The nodes, by their names.
const NODES: [(&str, Node); 15] = [
    node!(start),
    node!(routing),
    node!(task_clarification_analysis),
    node!(task_clarification_approval),
    node!(process_clarification_feedback),
    node!(dynamic_planning),
    node!(plan_approval),
    node!(process_plan_feedback),
    node!(step_preparation),
    node!(step_approval),
    node!(process_step_feedback),
    node!(tool_execution),
    node!(step_completion),
    node!(check_continue),
    node!(synthesis),
];

impl Orchestrator {
    /// The graph of a turn.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its nodes and edges are fixed.
    pub fn graph(self) -> Result<Graph<OrchestratorState>, BuildError> {
        let all = Arc::new(self);
        let mut graph = Graph::<OrchestratorState>::builder("orchestrator").recursion_limit(400);
        for (name, node) in NODES {
            let all = all.clone();
            graph =
                graph.node(name, move |state: Snapshot<OrchestratorState>, context: Context| {
                    node(all.clone(), state, context)
                });
        }
        graph
            .edge(START, "start")
            .edge("start", "routing")
            .branch("routing", after_routing, ["synthesis", "task_clarification_analysis"])
            .branch(
                "task_clarification_analysis",
                after_analysis,
                ["task_clarification_approval", "dynamic_planning"],
            )
            .branch(
                "task_clarification_approval",
                |state: &OrchestratorState| match state.decided {
                    Some(_) => "process_clarification_feedback",
                    None => "dynamic_planning",
                },
                ["process_clarification_feedback", "dynamic_planning"],
            )
            .branch(
                "process_clarification_feedback",
                |state: &OrchestratorState| match state.fault {
                    Some(_) => "task_clarification_approval",
                    None => "dynamic_planning",
                },
                ["task_clarification_approval", "dynamic_planning"],
            )
            .edge("dynamic_planning", "plan_approval")
            .branch(
                "plan_approval",
                |state: &OrchestratorState| match (&state.decided, state.end) {
                    (Some(_), _) => "process_plan_feedback",
                    (None, Some(TurnEnd::EmptyPlan)) => "synthesis",
                    _ => "step_preparation",
                },
                ["process_plan_feedback", "synthesis", "step_preparation"],
            )
            .branch(
                "process_plan_feedback",
                after_plan_feedback,
                ["plan_approval", "dynamic_planning", "synthesis", "step_preparation"],
            )
            .edge("step_preparation", "step_approval")
            .branch(
                "step_approval",
                |state: &OrchestratorState| match state.decided {
                    Some(_) => "process_step_feedback",
                    None => "tool_execution",
                },
                ["process_step_feedback", "tool_execution"],
            )
            .branch(
                "process_step_feedback",
                |state: &OrchestratorState| match (&state.fault, &state.preparation) {
                    (Some(_), _) => "step_approval",
                    (None, Some(preparation)) if preparation.skipped => "step_completion",
                    _ => "tool_execution",
                },
                ["step_approval", "step_completion", "tool_execution"],
            )
            .branch(
                "tool_execution",
                |state: &OrchestratorState| match &state.execution {
                    Some(made) if made.gone.is_some() && made.failure.is_none() => {
                        "step_preparation"
                    }
                    _ => "step_completion",
                },
                ["step_preparation", "step_completion"],
            )
            .edge("step_completion", "check_continue")
            .branch(
                "check_continue",
                |state: &OrchestratorState| match state.step() {
                    Some(_) => "step_preparation",
                    None => "synthesis",
                },
                ["step_preparation", "synthesis"],
            )
            .edge("synthesis", END)
            .build()
    }

    /// Whether a gate is on: in this process, or when the turn began. Who goes on with fewer gates takes none away.
    pub(crate) fn is_on(&self, gate: &Gate, state: &OrchestratorState) -> bool {
        self.gates.asks(gate) || state.gates.contains(gate)
    }

    /// Whether a gate asks, once and for all of the task's runs: who goes on with other gates asks what was asked, and heeds the answer.
    /// Where the last decision was none, it asks again in any case.
    pub(crate) async fn asks(
        &self,
        gate: &Gate,
        state: &OrchestratorState,
        context: &Context,
    ) -> Result<bool, BoxError> {
        let is_asking = self.is_on(gate, state) || state.fault.is_some();
        let asks = || async { Ok::<_, BoxError>(is_asking) };
        Ok(context.step("asks", asks).await?)
    }

    /// Tells that a gate is passed without a person.
    pub(crate) fn pass(&self, gate: Gate, reason: &str, context: &Context) {
        let reason = reason.to_owned();
        context.custom(&OrchestratorEvent::Status(Status::Passed { gate, reason }));
    }

    /// The thread whose results are written.
    pub(crate) fn thread_of(&self, context: &Context) -> ThreadKey {
        context.thread().clone()
    }

    /// The words of a person by which the calls of a tool pass, if there are some.
    pub(crate) async fn standing(
        &self,
        tool: &str,
        definition: &str,
        now: Timestamp,
    ) -> Result<Option<String>, BoxError> {
        Ok(self.always.stands(tool, definition, now).await?.map(|approval| approval.to_string()))
    }

    /// What lets an agent's own calls pass without a person.
    pub(crate) fn precedents(&self) -> Precedents {
        Precedents(self.clone())
    }
}

/// What lets calls pass without a person: that person's own word, or what their decisions have taught.
#[derive(Debug, Clone)]
pub(crate) struct Precedents(Orchestrator);

impl Precedent for Precedents {
    async fn passes(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
    ) -> Result<Option<String>, ToolError> {
        let (all, tool, now) = (&self.0, request.call.name.as_str(), call.clock().now());
        let Some(offered) = all.servers.offer().get(tool).cloned() else { return Ok(None) };
        let standing = all.standing(tool, &offered.definition, now).await;
        if let Some(reason) = standing.map_err(ToolError::Failed)? {
            return Ok(Some(reason));
        }
        let passes = all.memory.passes(tool, offered.risk, call.key().as_str(), now).await;
        passes.map_err(ToolError::Failed)
    }
}

fn after_routing(state: &OrchestratorState) -> &'static str {
    match state.complexity {
        Some(Complexity::SimpleChat) => "synthesis",
        _ => "task_clarification_analysis",
    }
}

fn after_analysis(state: &OrchestratorState) -> &'static str {
    match state.clarity.as_ref().is_some_and(|clarity| clarity.is_unclear) {
        true => "task_clarification_approval",
        false => "dynamic_planning",
    }
}

fn after_plan_feedback(state: &OrchestratorState) -> &'static str {
    match (&state.fault, &state.feedback, state.end) {
        (Some(_), ..) => "plan_approval",
        (_, Some(_), _) => "dynamic_planning",
        (.., Some(TurnEnd::Rejected)) => "synthesis",
        _ => "step_preparation",
    }
}

/// The kind of a decision, for those who print it.
#[must_use]
pub fn words_of(decision: &Decision) -> &'static str {
    match decision {
        Decision::Approve => "승인",
        Decision::Edit { .. } => "고침",
        Decision::Respond { .. } => "답함",
        Decision::Skip { .. } => "건너뜀",
        Decision::Revise { .. } => "다시",
        Decision::Reuse { .. } => "지난 답",
        _ => "거절",
    }
}
