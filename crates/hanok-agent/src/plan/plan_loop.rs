//! The nodes and edges of a plan–act–evaluate loop.

use std::sync::Arc;

use hanok_core::Call;
use hanok_graph::{Context, GraphBuilder, Snapshot, StepError};
use hanok_state::{Messages, State, StateUpdate, ToolCall};

use super::{
    planning::{PlanMode, Planned, Planning},
    task::{MadePlan, PlanTask, UpdateOf},
};
use crate::{
    error::ToolCallError,
    observation::Observation,
    runner::{ToolRound, ToolRunner, ToolTurn, writes::ToolWrites},
    usage::TurnUsage,
};

/// The most calls of one plan. A model's text has bounds.
const CALLS: usize = 64;

/// The most missing things that an evaluation names.
const MISSING: usize = 4;

/// The most rounds, unless something else is said.
const ROUNDS: u32 = 4;

/// A loop of planning, acting and evaluating, as four nodes of a graph. Clones are the same loop.
///
/// - `planner` has the [`PlanTask`] propose calls, and leaves out those that were made before.
/// - `executor` makes the calls in turn, `parallel_executor` makes them at once: when there are several that only read and none
///   needs what another gives. Both make them by a [`ToolRunner`]. Their tools see the state, and what they write
///   ([`ToolOutput::update`](hanok_model::ToolOutput::update)) is merged with the step; of calls in turn the later sees what the
///   earlier wrote. Where the run goes on is for the plan to say, and a tool that does is told so.
/// - `evaluator` judges whether it is enough. If not, it is planned again, until the rounds are over or neither a call nor a
///   judgement is new: then the loop ends all the same, and [`Planning::forced`] says so.
///
/// ```
/// use hanok_agent::{
///     Evaluation, Observation, PlanLoop, PlanTask, Planned, Planning, ToolCallError, ToolRegistry, ToolRunner,
/// };
/// use hanok_core::Effect;
/// use hanok_graph::{Context, END, Graph, START};
/// use hanok_model::{FnTool, SharedTool, ToolSpec};
/// use hanok_state::{State, ToolCall};
/// use serde_json::json;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Report {
///     facts: Vec<String>,
///     planning: Planning,
/// }
///
/// impl Planned for Report {
///     fn planning(&self) -> &Planning {
///         &self.planning
///     }
///
///     fn set_planning(update: ReportUpdate, planning: Planning) -> ReportUpdate {
///         update.planning(planning)
///     }
/// }
///
/// /// Looks up one page after the other, until two facts are there.
/// struct Research;
///
/// impl PlanTask for Research {
///     type State = Report;
///     type Services = ();
///     type Error = ToolCallError;
///
///     async fn propose(&self, _: &Report, round: u32, _: &Context) -> Result<Vec<ToolCall>, ToolCallError> {
///         Ok(vec![ToolCall::new(round.to_string(), "page", json!({ "number": round }).to_string())])
///     }
///
///     fn observe(&self, state: &mut Report, _: &ToolCall, observation: Observation, _: &Context) {
///         state.facts.push(observation.text);
///     }
///
///     fn observed(&self, state: Report) -> ReportUpdate {
///         Report::update().facts(state.facts)
///     }
///
///     async fn evaluate(&self, state: &Report, _: &Context) -> Result<Evaluation, ToolCallError> {
///         Ok(match state.facts.len() {
///             0 | 1 => Evaluation::lacks(["a second fact"], "one is no proof"),
///             _ => Evaluation::enough("two facts"),
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let page = FnTool::untyped(ToolSpec::new("page", "Reads a page", json!({}))?, |with, _| async move {
///     Ok(format!("read {with}").into())
/// });
/// let tools = ToolRegistry::new([SharedTool::new(page.effect(Effect::Pure))])?;
/// let research = PlanLoop::new(Research, ToolRunner::new(tools));
/// let graph = research.add_to(Graph::<Report>::builder("report"), END).edge(START, "planner").build()?;
/// let report = graph.invoke(Report::update(), ()).await?.done()?;
/// assert_eq!((report.facts.len(), report.planning.round, report.planning.forced), (2, 2, false));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use]
pub struct PlanLoop<T> {
    parts: Arc<Parts<T>>,
}

#[derive(Debug)]
struct Parts<T> {
    task: T,
    runner: ToolRunner,
    rounds: u32,
}

impl<T> Clone for PlanLoop<T> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone() }
    }
}

impl<T: PlanTask> PlanLoop<T> {
    /// A loop about `task` of at most 4 rounds, whose calls `runner` makes.
    pub fn new(task: T, runner: ToolRunner) -> Self {
        Self::of_rounds(task, runner, ROUNDS)
    }

    /// The same with at most `rounds` plans, at least 1.
    pub fn of_rounds(task: T, runner: ToolRunner, rounds: u32) -> Self {
        Self { parts: Arc::new(Parts { task, runner, rounds: rounds.max(1) }) }
    }

    /// The task.
    pub fn task(&self) -> &T {
        &self.parts.task
    }

    /// Adds the nodes `planner`, `executor`, `parallel_executor` and `evaluator` to `graph`, and their edges: the loop begins at
    /// `planner` and goes on to `then`.
    pub fn add_to(
        &self,
        graph: GraphBuilder<T::State, T::Services>,
        then: &'static str,
    ) -> GraphBuilder<T::State, T::Services> {
        let node = |run| {
            let parts = self.parts.clone();
            move |state: Snapshot<T::State>, context: Context<T::Services>| {
                let parts = parts.clone();
                async move { parts.node(run, &state, &context).await }
            }
        };
        let after_plan = move |state: &T::State| match state.planning().mode {
            Some(PlanMode::ExecuteParallel) => "parallel_executor",
            Some(PlanMode::ExecuteSequential) => "executor",
            Some(PlanMode::SkipToEvaluator) => "evaluator",
            Some(PlanMode::NoTools) | None => then,
        };
        let after_evaluation = move |state: &T::State| {
            let planning = state.planning();
            let enough = planning.evaluations.last().is_none_or(|it| it.sufficient);
            if planning.forced || enough { then } else { "planner" }
        };
        graph
            .node("planner", node(Role::Planner))
            .node("executor", node(Role::Executor))
            .node("parallel_executor", node(Role::ParallelExecutor))
            .node("evaluator", node(Role::Evaluator))
            .branch("planner", after_plan, [then, "evaluator", "parallel_executor", "executor"])
            .edge("executor", "evaluator")
            .edge("parallel_executor", "evaluator")
            .branch("evaluator", after_evaluation, ["planner", then])
    }
}

/// The role of a node in the loop.
#[derive(Debug, Clone, Copy)]
enum Role {
    Planner,
    Executor,
    ParallelExecutor,
    Evaluator,
}

impl<T: PlanTask> Parts<T> {
    async fn node(
        &self,
        role: Role,
        state: &T::State,
        context: &Context<T::Services>,
    ) -> Result<UpdateOf<T>, T::Error> {
        match role {
            Role::Planner => self.plan(state, context).await,
            Role::Executor => self.execute(state, context).await,
            Role::ParallelExecutor => self.execute_at_once(state, context).await,
            Role::Evaluator => self.evaluate(state, context).await,
        }
    }

    async fn plan(
        &self,
        state: &T::State,
        context: &Context<T::Services>,
    ) -> Result<UpdateOf<T>, T::Error> {
        let planning = state.planning();
        let round = planning.round.saturating_add(1);
        let mut proposed = self.task.propose(state, round, context).await?;
        proposed.truncate(CALLS);
        let none = proposed.is_empty();
        let proposed = proposed.into_iter().map(|call| self.task.complete(call, state));
        let (calls, skipped) = planning.history.sort(proposed);
        let mode = if none {
            PlanMode::NoTools
        } else if calls.is_empty() {
            PlanMode::SkipToEvaluator
        } else if self.at_once(&calls) {
            PlanMode::ExecuteParallel
        } else {
            PlanMode::ExecuteSequential
        };
        let plan = MadePlan { round, mode, calls, skipped };
        let update = self.task.planned(state, &plan, context);
        let planning = Planning { round, mode: Some(mode), calls: plan.calls, ..planning.clone() };
        Ok(T::State::set_planning(update, planning))
    }

    /// True for several calls that only read, of which none needs what another gives.
    fn at_once(&self, calls: &[ToolCall]) -> bool {
        calls.len() > 1
            && self.runner.tools().only_read(calls)
            && !calls.iter().any(|call| self.task.depends(call))
    }

    /// Makes the calls in turn: each may take what those before it gave.
    async fn execute(
        &self,
        state: &T::State,
        context: &Context<T::Services>,
    ) -> Result<UpdateOf<T>, T::Error> {
        let (mut read, mut planning) = (state.clone(), state.planning().clone());
        let mut written = T::State::update();
        for call in std::mem::take(&mut planning.calls) {
            let call = self.task.complete(call, &read);
            if planning.history.has(&call) {
                continue;
            }
            let (observed, write) =
                self.make(&Arc::new(read.clone()), std::slice::from_ref(&call), context).await?;
            let node = context.node().into();
            // The calls after it see what it wrote.
            read.merge_writes(&mut [(&node, &mut write.clone())], false)
                .map_err(|error| StepError::Failed(error.into()))
                .map_err(ToolCallError::Step)?;
            written = written.and(write);
            self.note(observed, &mut read, &mut planning, context);
        }
        Ok(T::State::set_planning(self.task.observed(read).and(written), planning))
    }

    /// Makes `calls`, whose tools see `state`. Returns their observations, and what the tools write.
    async fn make(
        &self,
        state: &Arc<T::State>,
        calls: &[ToolCall],
        context: &Context<T::Services>,
    ) -> Result<(Vec<(ToolCall, Observation)>, UpdateOf<T>), T::Error> {
        let (messages, usage) = (Messages::default(), TurnUsage::default());
        let turn = ToolTurn { messages: &messages, usage: &usage };
        let provide = |call: Call| call.provide(state.clone());
        let round = ToolRound { turn, calls, provide: &provide };
        let judged = self.runner.judge_all(context, round, |_| None).await;
        let results = self.runner.make_all(context, round, judged, &|_, _| {}).await?;
        let results = calls.iter().zip(results).collect();
        let writes = ToolWrites::of_plan(&**state, context, self.runner.words());
        let made = writes.join(results, |_| T::State::update());
        let observed = made.results.into_iter().map(|(call, it)| (call.clone(), it)).collect();
        Ok((observed, made.update))
    }

    /// Notes what was made: calls without a fault in the history, observations in the state.
    fn note(
        &self,
        observed: Vec<(ToolCall, Observation)>,
        read: &mut T::State,
        planning: &mut Planning,
        context: &Context<T::Services>,
    ) {
        for (call, observation) in observed {
            if observation.fault.is_none() {
                planning.history.note(&call);
            }
            self.task.observe(read, &call, observation, context);
        }
    }

    async fn execute_at_once(
        &self,
        state: &T::State,
        context: &Context<T::Services>,
    ) -> Result<UpdateOf<T>, T::Error> {
        let (mut read, mut planning) = (state.clone(), state.planning().clone());
        let calls = std::mem::take(&mut planning.calls);
        let (observed, written) = self.make(&Arc::new(read.clone()), &calls, context).await?;
        self.note(observed, &mut read, &mut planning, context);
        Ok(T::State::set_planning(self.task.observed(read).and(written), planning))
    }

    async fn evaluate(
        &self,
        state: &T::State,
        context: &Context<T::Services>,
    ) -> Result<UpdateOf<T>, T::Error> {
        let mut planning = state.planning().clone();
        let mut evaluation = self.task.evaluate(state, context).await?;
        evaluation.missing.truncate(MISSING);
        // Calls that were made before and a judgement that is the same will not find more in another round.
        let stuck = planning.mode == Some(PlanMode::SkipToEvaluator)
            && evaluation.missing == planning.missing;
        planning.forced = !evaluation.sufficient && (planning.round >= self.rounds || stuck);
        planning.missing = match evaluation.sufficient {
            true => Vec::new(),
            false => evaluation.missing.clone(),
        };
        let update = self.task.evaluated(state, &evaluation, planning.forced, context);
        planning.evaluations.push(evaluation);
        Ok(T::State::set_planning(update, planning))
    }
}
