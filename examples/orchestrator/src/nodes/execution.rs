//! A step is made: the call that was approved first, then what an agent makes of the rest.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hanok_agent::{
    AgentState, Approval, ApprovalRule, FaultKind, Gate, Interceptor, Language, LargeResult,
    LargeResults, NextTool, Protocol, ReactAgent, Risk, StopReason, ToolRequest, ToolRunner,
    parse::Policy,
};
use hanok_core::{BoxError, Call};
use hanok_graph::{Context, Outcome, Snapshot};
use hanok_mcp::ToolApproval;
use hanok_model::{DataMark, ToolChoice, ToolError, ToolOutput};
use hanok_state::{Message, Role, State as _, ToolCall};
use serde_json::Value;

use crate::{
    asking::data,
    events::{OrchestratorEvent, Status},
    orchestrator::Orchestrator,
    servers::{Offer, Offered},
    state::{
        Execution, OrchestratorState, OrchestratorStateUpdate, Preparation, PreparedCall,
        Statistics, StepResult, StepStatus, ToolUse,
    },
    wording,
};

/// The most calls of a step: the one that was approved, and those of the model, in all attempts.
const MOST_CALLS: u32 = 8;

/// How often a step is prepared again because a tool is gone.
pub(crate) const MOST_PREPARATIONS: u32 = 3;

/// The longest text of a step that later ones and the answer see, in characters. The whole is in its file and in the log.
const LONGEST_TEXT: usize = 4_000;

impl Orchestrator {
    /// Makes the step.
    pub(crate) async fn tool_execution(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let preparation = state.preparation.clone().unwrap_or_default();
        let offer = self.servers.offer();
        let mut execution = Execution::default();
        if preparation.tools.is_empty() {
            execution.failure = Some(wording::NO_TOOLS.to_owned());
            return Ok(OrchestratorState::update().execution(Some(execution)));
        }
        let is_last = preparation.attempts >= MOST_PREPARATIONS;
        if let Some(gone) = gone(&preparation, &offer) {
            execution.gone = Some(gone);
            execution.failure = is_last.then(|| wording::GONE.to_owned());
            return Ok(OrchestratorState::update().execution(Some(execution)));
        }
        let approved = preparation.call.as_ref().filter(|call| call.is_approved);
        if let Some(call) = approved {
            let made = Box::pin(self.approved_call(call, &offer, &context)).await?;
            let failed = !made.succeeded;
            execution.calls.push(made);
            if failed {
                self.servers.look_again(context.now()).await?;
            }
            if failed && let Some(gone) = gone(&preparation, &self.servers.offer()) {
                execution.gone = Some(gone);
                execution.failure = is_last.then(|| wording::GONE.to_owned());
                return Ok(OrchestratorState::update().execution(Some(execution)));
            }
        }
        // The run of an agent takes much of the stack, and few steps take it twice.
        Box::pin(self.by_agent(&state, &preparation, &offer, &mut execution, &context)).await?;
        Ok(OrchestratorState::update().execution(Some(execution)))
    }

    /// Makes the call that was approved, as it was.
    async fn approved_call(
        &self,
        call: &PreparedCall,
        offer: &Offer,
        context: &Context,
    ) -> Result<ToolUse, BoxError> {
        let watch = Stopwatch::default();
        let runner = ToolRunner::new(offer.registry()?)
            .language(Language::Korean)
            .agent("orchestrator")
            .large_results(LargeResults::new())
            .intercept(watch.clone());
        let made = ToolCall::new("approved", call.tool.as_str(), call.arguments.0.to_string());
        let result = runner.run(context, &made).await?;
        let fault = result.observation.fault;
        let (arguments, has_secrets) = offer.shown(&call.tool, &call.arguments.0);
        Ok(ToolUse {
            tool: call.tool.clone(),
            of: offer.of(&call.tool),
            arguments,
            has_secrets,
            succeeded: fault.is_none(),
            unmade: fault.is_some_and(is_unmade),
            is_rejected: fault == Some(FaultKind::Rejected),
            text: result.observation.text,
            stored: result.observation.stored,
            millis: watch.millis("approved"),
        })
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
        let made = u32::try_from(execution.calls.len()).unwrap_or(MOST_CALLS);
        let made = made.saturating_add(preparation.spent);
        let most = MOST_CALLS.saturating_sub(made).max(1);
        let done =
            execution.calls.iter().filter(|call| call.succeeded && !is_read(offer, &call.tool));
        // What was done is not done again.
        let denied = preparation.avoided.iter().cloned().chain(done.map(|call| call.tool.clone()));
        let mut agent = ReactAgent::builder("executor", wording::EXECUTOR, self.model.clone())
            .prompt(wording::EXECUTOR)
            .protocol(Protocol::Native)
            // A server without a template for tools hands on what its model writes.
            .text_calls(Policy::default())
            .language(Language::Korean)
            .tools(offer.tools())
            .catalogue(self.servers.index().clone())
            .large_results(LargeResults::new())
            .deny(denied)
            .max_iterations(most)
            .max_tokens(wording::LONGEST_ANSWER)
            .intercept(self.approval(state, preparation, offer))
            .intercept(watch.clone());
        let planned = step.tool.as_ref().filter(|tool| offer.get(tool).is_some());
        // A step is made by a tool, and not by what is known already.
        let first = planned.map_or(ToolChoice::Required, |tool| ToolChoice::Tool(tool.clone()));
        if execution.calls.is_empty() {
            agent = agent.tool_choice(first);
        }
        let agent = agent.build()?;
        let call = context.call("agent", "executor", &step.task);
        let mark = DataMark::of_call(&call);
        let approved =
            execution.calls.first().map(|call| data(wording::APPROVED_CALL, &call.text, &mark));
        let messages = self.earlier(state, &mark).into_iter().chain(approved);
        let messages = messages.chain([Message::user(step.task.as_str())]);
        let input = agent.input(messages, None);
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
        execution.calls.extend(calls_of(&ended, offer, &watch));
        let has_done = |call: &ToolUse| call.succeeded && !is_read(offer, &call.tool);
        // What was done is not done again: the agent's answer stands then.
        let is_again = preparation.attempts < MOST_PREPARATIONS
            && !execution.calls.iter().any(has_done)
            && execution.calls.iter().any(|call| !call.succeeded);
        if is_again {
            self.servers.look_again(context.now()).await?;
            execution.gone = lost(execution, offer, &self.servers.offer());
            if execution.gone.is_some() {
                return Ok(());
            }
        }
        let answer = ended.answer.filter(|answer| !answer.trim().is_empty());
        if answer.is_none() {
            let last = ended.messages.iter().last().filter(|it| it.role() == Role::Assistant);
            execution.failure = Some(match ended.stopped {
                // What it says in place of a call is what it lacks.
                Some(StopReason::NoToolCall) => last
                    .map_or_else(|| wording::NO_CALL.to_owned(), |said| said.text().into_owned()),
                _ if ended.iteration >= most => wording::LIMIT.to_owned(),
                _ => wording::NO_WORDS.to_owned(),
            });
        }
        execution.answer = answer;
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
        let stands_in = preparation.replaced.is_some();
        let asked = offer.iter().filter(|(_, tool)| match tool.approval {
            Some(ToolApproval::Ask) => true,
            _ if stands_in => tool.risk != Risk::Read,
            Some(_) => false,
            None => asks && tool.risk != Risk::Read,
        });
        let rule = |tool: &Offered| {
            let rule = ApprovalRule::new().risk(tool.risk);
            // What the operator has asked about is asked about, whatever a person once said or was learned of them.
            match stands_in || tool.approval == Some(ToolApproval::Ask) {
                true => rule.may_stand(false),
                false => rule.unless(self.precedents()),
            }
        };
        asked.fold(Approval::new(), |all, (name, tool)| all.tool_with(name, rule(tool)))
    }

    /// The step is over: what came of it, by what its calls say of themselves.
    pub(crate) async fn step_completion(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let Some((number, step)) = state.step() else { return Ok(OrchestratorState::update()) };
        let skipped = state.preparation.as_ref().is_some_and(|preparation| preparation.skipped);
        let execution = state.execution.clone().unwrap_or_default();
        let (status, failure) = match skipped {
            true => (StepStatus::Skipped, None),
            false => verdict(&execution),
        };
        let text = match status {
            StepStatus::Skipped => wording::SKIPPED.to_owned(),
            StepStatus::Done => execution.answer.unwrap_or_default(),
            StepStatus::Failed => failure.clone().unwrap_or_default(),
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
            let whole = whole(&result, &context).await?;
            files.step(&self.thread_of(&context), &state, &whole)?;
        }
        result.shorten(LONGEST_TEXT);
        self.memory.step_over(&state, &result, &context)?;
        let ended = Status::Completed { step: number, result: status, failure };
        context.custom(&OrchestratorEvent::Status(ended));
        let results: Vec<_> = state.results.iter().cloned().chain([result]).collect();
        let update = OrchestratorState::update().results(results).steps_over(number);
        Ok(update.preparation(None).execution(None).decided(None))
    }

    /// Counts how the steps went so far.
    pub(crate) async fn check_continue(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let total = state.plan.as_ref().map_or(0, |plan| plan.steps.len());
        let statistics = Statistics::of(&state.results, total);
        let progress = Status::Progress { over: statistics.over, total };
        context.custom(&OrchestratorEvent::Status(progress));
        Ok(OrchestratorState::update().statistics(statistics))
    }
}

/// The tool that was there when the step was prepared, and is not any more or is another.
fn gone(preparation: &Preparation, offer: &Offer) -> Option<String> {
    let (tool, definition) = match &preparation.call {
        Some(call) => (&call.tool, Some(&call.definition)),
        None => (preparation.tools.first()?, preparation.definition.as_ref()),
    };
    let is_same = |offered: &Offered| definition.is_none_or(|it| offered.definition == *it);
    (!offer.get(tool).is_some_and(is_same)).then(|| tool.clone())
}

/// The tool of a call that failed and that is not there any more, or is another: `before` are those that were offered.
fn lost(execution: &Execution, before: &Offer, offer: &Offer) -> Option<String> {
    let definition = |offer: &Offer, tool: &str| offer.get(tool).map(|it| it.definition.clone());
    let mut failed = execution.calls.iter().filter(|call| !call.succeeded);
    let lost = failed.find(|call| definition(before, &call.tool) != definition(offer, &call.tool));
    lost.map(|call| call.tool.clone())
}

/// How a step ended: by the calls that were made, and never by words alone.
fn verdict(execution: &Execution) -> (StepStatus, Option<String>) {
    let mut made = execution.calls.iter().filter(|call| !call.unmade).peekable();
    let is_any = made.peek().is_some();
    let last_failure = execution.calls.iter().rev().find(|call| !call.succeeded);
    match (&execution.failure, is_any, made.any(|call| call.succeeded)) {
        (Some(failure), ..) => (StepStatus::Failed, Some(failure.clone())),
        (None, true, true) => (StepStatus::Done, None),
        (None, false, _) if last_failure.is_none() => {
            (StepStatus::Failed, Some(wording::NO_CALL.to_owned()))
        }
        _ => (StepStatus::Failed, last_failure.map(|call| call.text.clone())),
    }
}

fn is_read(offer: &Offer, tool: &str) -> bool {
    offer.get(tool).is_some_and(|tool| tool.risk == Risk::Read)
}

/// Whether a fault says that the call was not made at all.
fn is_unmade(fault: FaultKind) -> bool {
    !matches!(
        fault,
        FaultKind::Failed
            | FaultKind::TimedOut
            | FaultKind::Panicked
            | FaultKind::InDoubt
            | FaultKind::Unavailable
    )
}

/// The calls of an agent's turn with what its messages say of them.
fn calls_of(state: &AgentState, offer: &Offer, watch: &Stopwatch) -> Vec<ToolUse> {
    let observed: BTreeMap<_, _> = state
        .messages
        .iter()
        .filter_map(|message| Some((message.tool_call_id()?.to_owned(), message)))
        .collect();
    let calls = state.messages.iter().flat_map(|message| message.tool_calls());
    let of = |call: &ToolCall| {
        let observation = observed.get(&call.id)?;
        let fault = observation
            .metadata()
            .get("fault")
            .and_then(|fault| fault.0.as_str().map(str::to_owned));
        let fault =
            fault.and_then(|fault| serde_json::from_value::<FaultKind>(Value::String(fault)).ok());
        let arguments = call.arguments.decode::<Value>().unwrap_or_default();
        let (arguments, has_secrets) = offer.shown(&call.name, &arguments);
        // What looks for tools or reads a result again is none of the step's work.
        (!matches!(call.name.as_str(), "search_tools" | "read_result")).then(|| ToolUse {
            tool: call.name.clone(),
            of: offer.of(&call.name),
            arguments,
            has_secrets,
            succeeded: fault.is_none(),
            unmade: fault.is_some_and(is_unmade),
            is_rejected: fault == Some(FaultKind::Rejected),
            text: observation.text().into_owned(),
            stored: observation
                .metadata()
                .get("stored")
                .and_then(|name| name.0.as_str().map(str::to_owned)),
            millis: watch.millis(&call.id),
        })
    };
    calls.filter_map(of).collect()
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
