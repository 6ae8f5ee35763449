//! A step is made: the call that was approved first, then what an agent makes of the rest.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hanok_agent::{
    Approval, ApprovalRule, FaultKind, Gate, Interceptor, Language, LargeResult, LargeResults,
    NextTool, Observation, Protocol, ReactAgent, Risk, StopReason, ToolRegistry, ToolRequest,
    ToolRunner, observations, parse::Policy, without_secrets,
};
use hanok_core::{BoxError, Call};
use hanok_graph::{Context, Outcome};
use hanok_mcp::{OfferedTool, ToolApproval};
use hanok_model::{DataMark, SharedTool, ToolChoice, ToolError, ToolOutput};
use hanok_state::{Json, Message, Role, State as _, ToolCall};
use serde_json::Value;

use super::{Precedents, preparation::earlier};
use crate::{
    asking::data,
    events::{OrchestratorEvent, Status},
    memory::{Offer, of_name},
    orchestrator::{Next, Orchestrator, Turn, Update, next},
    state::{
        Execution, OrchestratorState, Preparation, PreparedCall, StepResult, StepStatus, ToolUse,
    },
    wording,
};

/// The most calls of a step: the one that was approved, and those of the model, in all attempts.
const MOST_CALLS: usize = 8;

/// How often a step is prepared again because a tool is gone.
const MOST_PREPARATIONS: u32 = 3;

/// The longest text of a step that later ones and the answer see, in characters. The whole is in its file and in the log.
const LONGEST_TEXT: usize = 4_000;

/// The agent's own tools: what looks for tools or reads a result again is none of a step's work.
const OWN: [&str; 2] = ["search_tools", "read_result"];

impl Orchestrator {
    /// Makes the step.
    pub(crate) async fn tool_execution(&self, state: Turn, context: Context) -> Next {
        let preparation = state.preparation.clone().unwrap_or_default();
        let mut execution = Execution::default();
        match preparation.tools.is_empty() {
            true => execution.failure = Some(wording::NO_TOOLS.to_owned()),
            false => self.execute(&state, &preparation, &mut execution, &context).await?,
        }
        let is_last = preparation.attempts >= MOST_PREPARATIONS;
        if is_last && execution.gone.is_some() {
            execution.failure = Some(wording::GONE.to_owned());
        }
        let is_again = execution.gone.is_some() && !is_last;
        let to = if is_again { "step_preparation" } else { "step_completion" };
        next(OrchestratorState::update().execution(Some(execution)), to)
    }

    /// Makes the call that was approved and what is left of the step, as long as the tools are those that were prepared.
    async fn execute(
        &self,
        state: &OrchestratorState,
        preparation: &Preparation,
        execution: &mut Execution,
        context: &Context,
    ) -> Result<(), BoxError> {
        let offer = self.offer();
        execution.gone = gone(preparation, &offer);
        let approved = preparation.call.as_ref().filter(|call| call.is_approved);
        if let (Some(call), None) = (approved, &execution.gone) {
            let made = Box::pin(self.approved_call(call, &offer, context)).await?;
            if !made.succeeded {
                self.servers.look_again(context.now()).await?;
                execution.gone = gone(preparation, &self.offer());
            }
            execution.calls.push(made);
        }
        if execution.gone.is_none() {
            // The run of an agent takes much of the stack, and few steps take it twice.
            Box::pin(self.by_agent(state, preparation, &offer, execution, context)).await?;
        }
        Ok(())
    }

    /// Makes the call that was approved, as it was.
    async fn approved_call(
        &self,
        call: &PreparedCall,
        offer: &Offer,
        context: &Context,
    ) -> Result<ToolUse, BoxError> {
        let watch = Stopwatch::default();
        let runner = ToolRunner::new(ToolRegistry::new(tools(offer))?)
            .language(Language::Korean)
            .agent("orchestrator")
            .large_results(LargeResults::new())
            .intercept(watch.clone());
        let made = ToolCall::new("approved", call.tool.as_str(), call.arguments.0.to_string());
        let result = runner.run(context, &made).await?;
        Ok(used(&made, result.observation, offer, &watch))
    }

    /// Has an agent make what is left of the step, in a namespace of its own.
    async fn by_agent(
        &self,
        state: &OrchestratorState,
        preparation: &Preparation,
        offer: &Offer,
        execution: &mut Execution,
        context: &Context,
    ) -> Result<(), BoxError> {
        let Some((number, step)) = state.step() else { return Ok(()) };
        let watch = Stopwatch::default();
        // The call that was approved is one of the step's.
        let made = execution.calls.len() + preparation.spent;
        let most = u32::try_from(MOST_CALLS.saturating_sub(made).max(1))?;
        // What was done is not done again.
        let is_done = |call: &ToolUse| {
            let is_read = offer.get(&call.tool).is_some_and(|tool| tool.risk == Risk::Read);
            call.succeeded && !is_read
        };
        let done = execution.calls.iter().filter(|call| is_done(call));
        let denied = preparation.avoided.iter().cloned().chain(done.map(|call| call.tool.clone()));
        let mut agent = ReactAgent::builder("executor", wording::EXECUTOR, self.model.clone())
            .prompt(wording::EXECUTOR)
            .protocol(Protocol::Native)
            // A server without a template for tools hands on what its model writes.
            .text_calls(Policy::default())
            .language(Language::Korean)
            .tools(tools(offer))
            .catalogue(self.servers.index().clone())
            .large_results(LargeResults::new())
            .deny(denied)
            .max_iterations(most)
            .max_tokens(wording::LONGEST_ANSWER)
            .intercept(self.approval(state, preparation, offer))
            .intercept(watch.clone());
        if execution.calls.is_empty() {
            // A step is made by a tool, and not by what is known already.
            let planned = step.tool.clone().filter(|tool| offer.contains_key(tool));
            agent = agent.tool_choice(planned.map_or(ToolChoice::Required, ToolChoice::Tool));
        }
        let agent = agent.build()?;
        let mark = DataMark::of_call(&context.call("agent", "executor", &step.task));
        let approved =
            execution.calls.first().map(|call| data(wording::APPROVED_CALL, &call.text, &mark));
        let messages = earlier(state, &mark).into_iter().chain(approved);
        let input = agent.input(messages.chain([Message::user(step.task.as_str())]), None);
        // A step that is prepared again has an agent of its own.
        let name = match preparation.attempts {
            0 | 1 => format!("step-{number}"),
            attempts => format!("step-{number}-{attempts}"),
        };
        let ended = match context.run_named(&name, agent.graph(), input, ()).await? {
            Outcome::Done(ended) => ended,
            Outcome::LimitReached { state, .. } => state,
            // The run is asked to stop, or waits: nothing is written before it goes on.
            _ => return Err(wording::LIMIT.into()),
        };
        let calls =
            observations(ended.messages.iter()).filter(|(call, _)| !OWN.contains(&&*call.name));
        execution.calls.extend(calls.map(|(call, it)| used(call, it, offer, &watch)));
        let failed = || execution.calls.iter().filter(|call| !call.succeeded);
        // What was done is not done again: the agent's answer stands then.
        if preparation.attempts < MOST_PREPARATIONS
            && !execution.calls.iter().any(is_done)
            && failed().next().is_some()
        {
            self.servers.look_again(context.now()).await?;
            let now = self.offer();
            let hash = |offer: &Offer, tool: &str| offer.get(tool).map(|it| it.hash.clone());
            // It is not there any more, or is another.
            let lost = failed().find(|call| hash(offer, &call.tool) != hash(&now, &call.tool));
            execution.gone = lost.map(|call| call.tool.clone());
            if execution.gone.is_some() {
                return Ok(());
            }
        }
        execution.answer = ended.answer.filter(|answer| !answer.trim().is_empty());
        if execution.answer.is_none() {
            let last = ended.messages.iter().last().filter(|it| it.role() == Role::Assistant);
            execution.failure = Some(match ended.stopped {
                // What it says in place of a call is what it lacks.
                Some(StopReason::NoToolCall) => last
                    .map_or_else(|| wording::NO_CALL.to_owned(), |said| said.text().into_owned()),
                _ if ended.iteration >= most => wording::LIMIT.to_owned(),
                _ => wording::NO_WORDS.to_owned(),
            });
        }
        Ok(())
    }

    /// Whom the agent's own calls are asked of: none where no gate asks, and nobody for what only reads. Where another tool stands in
    /// for the planned one, a person is asked about all that it does but read, whatever the gates and the rules say.
    fn approval(
        &self,
        state: &OrchestratorState,
        preparation: &Preparation,
        offer: &Offer,
    ) -> Approval {
        let asks = self.is_on(&Gate::Tool, state) || self.is_on(&Gate::Step, state);
        offer.iter().fold(Approval::new(), |all, (name, tool)| {
            let stands_in = preparation.stands_in && tool.risk != Risk::Read;
            if !stands_in && !tool.is_asked_about(asks) {
                return all;
            }
            let rule = ApprovalRule::new().risk(tool.risk);
            // What the operator has asked about is asked about, whatever a person once said or was learned of them.
            let is_fixed = stands_in || tool.settings.approval == Some(ToolApproval::Ask);
            let rule = match is_fixed {
                true => rule.may_stand(false),
                false => rule.unless(Precedents(self.clone())),
            };
            all.tool_with(name, rule)
        })
    }

    /// The step is over: what came of it, by what its calls say of themselves.
    pub(crate) async fn step_completion(&self, state: Turn, context: Context) -> Update {
        let Some((number, step)) = state.step() else { return Ok(OrchestratorState::update()) };
        let execution = state.execution.clone().unwrap_or_default();
        let (status, failure, text) = match &state.preparation {
            Some(Preparation { skipped: true, .. }) => {
                (StepStatus::Skipped, None, wording::SKIPPED.to_owned())
            }
            _ => match failure(&execution) {
                Some(failure) => (StepStatus::Failed, Some(failure.clone()), failure),
                None => (StepStatus::Done, None, execution.answer.unwrap_or_default()),
            },
        };
        let mut result = StepResult {
            number,
            task: step.task.clone(),
            status,
            text,
            calls: execution.calls,
            failure: failure.clone(),
            completed_at: context.now(),
        };
        if let Some(files) = &self.results {
            files.step(context.thread(), &state, &whole(&result, &context).await?)?;
        }
        result.shorten(LONGEST_TEXT);
        self.memory.step_over(&state, &result, &context)?;
        let ended = Status::Completed { step: number, result: status, failure };
        context.custom(&OrchestratorEvent::Status(ended));
        let update = OrchestratorState::update().push_results(result);
        Ok(update.preparation(None).execution(None).decided(None))
    }

    /// Tells how far the steps are, and whether another one is due.
    pub(crate) async fn check_continue(&self, state: Turn, context: Context) -> Next {
        let progress = Status::Progress { over: state.results.len(), total: state.steps().len() };
        context.custom(&OrchestratorEvent::Status(progress));
        let to = if state.step().is_some() { "step_preparation" } else { "synthesis" };
        next(OrchestratorState::update(), to)
    }
}

/// Those to call.
fn tools(offer: &Offer) -> impl Iterator<Item = SharedTool> {
    offer.values().map(|offered| offered.tool.clone())
}

/// The tool that was there when the step was prepared, and is not any more or is another.
fn gone(preparation: &Preparation, offer: &Offer) -> Option<String> {
    let tool = preparation.tools.first()?;
    let is_same = |offered: &OfferedTool| offered.hash.as_str() == preparation.definition;
    (!offer.get(tool).is_some_and(is_same)).then(|| tool.clone())
}

/// Why a step failed, if it did: by the calls that were made, and never by words alone.
fn failure(execution: &Execution) -> Option<String> {
    let last = execution.calls.iter().rev().find(|call| !call.succeeded);
    let failed = || last.map_or_else(|| wording::NO_CALL.to_owned(), |call| call.text.clone());
    let is_done = execution.calls.iter().any(|call| call.succeeded);
    execution.failure.clone().or_else(|| (!is_done).then(failed))
}

/// Whether a fault says that the call was made.
fn is_made(fault: FaultKind) -> bool {
    use FaultKind::{Failed, InDoubt, Panicked, TimedOut, Unavailable};
    matches!(fault, Failed | TimedOut | Panicked | InDoubt | Unavailable)
}

/// A call, and what came of it.
fn used(call: &ToolCall, came: Observation, offer: &Offer, watch: &Stopwatch) -> ToolUse {
    let arguments = call.arguments.decode::<Value>().unwrap_or_default();
    let schema = offer.get(&call.name).map(|tool| tool.spec().schema());
    let shown = schema.map_or_else(|| arguments.clone(), |it| without_secrets(&arguments, it));
    ToolUse {
        tool: call.name.clone(),
        of: of_name(offer, &call.name),
        has_secrets: shown != arguments,
        arguments: Json(shown),
        succeeded: came.fault.is_none(),
        unmade: came.fault.is_some_and(|fault| !is_made(fault)),
        is_rejected: came.fault == Some(FaultKind::Rejected),
        text: came.text,
        stored: came.stored,
        millis: watch.millis(&call.id),
    }
}

/// The step with the whole of what its calls gave.
async fn whole(step: &StepResult, context: &Context) -> Result<StepResult, BoxError> {
    let mut step = step.clone();
    let Some(items) = context.items() else { return Ok(step) };
    for call in &mut step.calls {
        if let Some(name) = &call.stored
            && let Some(stored) = LargeResult::stored(&items, name, context.now()).await?
        {
            call.text = stored.text;
        }
    }
    Ok(step)
}

/// Measures how long calls take, by their ids. What is not made again is not measured again.
#[derive(Debug, Clone, Default)]
struct Stopwatch(Arc<Mutex<BTreeMap<String, Duration>>>);

impl Stopwatch {
    fn millis(&self, id: &str) -> u64 {
        let took = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied();
        took.map_or(0, |took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
    }
}

impl Interceptor for Stopwatch {
    fn name(&self) -> &str {
        "stopwatch"
    }

    async fn around_tool(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
        next: NextTool<'_>,
    ) -> Result<ToolOutput, ToolError> {
        let began = call.clock().monotonic();
        let output = next.run(call).await;
        let took = call.clock().monotonic().saturating_sub(began);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(request.call.id.clone(), took);
        output
    }
}
