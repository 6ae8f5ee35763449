//! The node that makes the calls.

use std::borrow::Cow;

use futures::future::join_all;
use hanok_core::{BoxError, Call, Effect, Spent};
use hanok_graph::{Context, NotMade, Snapshot, StepError};
use hanok_model::{Tool, ToolError, ToolOutput};
use hanok_state::{State, ToolCall};
use tracing::Instrument;

use crate::{
    conversation,
    error::AgentError,
    handoff::Handoff,
    intercept::{
        ToolRequest,
        admission::{Admitted, admit},
        chain::NextTool,
    },
    nodes::call_record::{CallRecord, OnceResult},
    observation::{FaultKind, Observation},
    progress::AgentProgress,
    prompt,
    settings::AgentSettings,
    state::{AgentState, AgentStateUpdate, Fault, StopReason},
    tools::{
        execution::{metered, suspends, was_not_made},
        handoff_tool,
        registry::Registered,
    },
};

/// A call that the model asks for, and what is known of it before it is judged.
struct PendingCall<'a> {
    call: &'a ToolCall,
    fault: Option<&'a Fault>,
    context: Call,
}

/// The judgement of a call.
enum Judged<'a> {
    /// It is made: as the model wrote it, or as an interceptor changed it.
    Make(Cow<'a, ToolCall>),
    /// It is not made, and this is its observation.
    Observed(Observation),
}

/// Makes the calls of the last reply, all at once, and writes one observation for each, in their order.
///
/// Each call is a memoised step: one that was finished is not made again after a crash. One that must not be repeated is
/// not made again when nobody knows whether it was made: the run ends in doubt, and a person says so.
pub(crate) async fn execute_tool(
    agent: &AgentSettings,
    state: Snapshot<AgentState>,
    context: Context,
) -> Result<AgentStateUpdate, AgentError> {
    let pending = &state.pending_tool_calls;
    // The keys of equal calls differ by their order, which is that of the reply and not that of their ends.
    let calls = pending.iter().map(|call| PendingCall {
        call,
        fault: state.faults.iter().find(|fault| fault.call_id.as_ref() == Some(&call.id)),
        context: context.call("tool", &call.name, call.arguments.as_str()),
    });
    let calls: Vec<_> = calls.collect();
    let judging = calls
        .iter()
        .enumerate()
        .map(|(index, pending)| agent.judge(&context, &state, index, pending));
    let mut judged = join_all(judging).await;
    let handoff = handoff_tool::first(&agent.handoffs, judged.iter().map(to_make));
    agent.refuse_handoffs(pending, handoff.as_ref(), &mut judged);

    let made = calls.into_iter().zip(judged).map(|(pending, judged)| {
        let tool_context = match &judged {
            // What is made with other arguments is another call, and has a key of its own.
            Ok(Judged::Make(Cow::Owned(call))) => {
                context.call("tool", &call.name, call.arguments.as_str())
            }
            _ => pending.context,
        };
        agent.observe(&context, &state, pending.call, judged, tool_context)
    });
    let made: Vec<_> = made.collect();
    // All run to their end, even when one of them has to wait for a person.
    let records = join_all(made).await.into_iter().collect::<Result<Vec<_>, _>>()?;

    let mut usage = state.usage.clone();
    let observed = pending.iter().zip(records).map(|(call, record)| {
        usage.tool(&call.name, record.spent);
        conversation::observed(Some(call), record.observation, Some(&record.mark), agent.protocol)
    });
    let update = observed.fold(AgentState::update(), AgentStateUpdate::message);
    let lone = state.faults.iter().filter(|fault| fault.call_id.is_none());
    let update = lone.fold(update, |update, fault| {
        let observation = Observation::fault(fault.kind, fault.text.as_str());
        agent.emit_observation(&context, None, &observation);
        update.message(conversation::observed(None, observation, None, agent.protocol))
    });
    let update = update.pending_tool_calls(Vec::new()).usage(usage);
    let update = if state.faults.is_empty() { update } else { update.faults(Vec::new()) };
    Ok(match handoff {
        Some((_, handoff)) => agent.hand_off(&context, update, handoff),
        None => update,
    })
}

/// The tool's own error that a step failed with.
fn tool_error(cause: BoxError) -> Result<ToolError, BoxError> {
    let cause = match cause.downcast::<NotMade>() {
        Ok(not_made) => not_made.0,
        Err(cause) => cause,
    };
    cause.downcast::<ToolError>().map(|error| *error)
}

/// The call that is to be made, if it is.
fn to_make<'j>(judged: &'j Result<Judged<'_>, AgentError>) -> Option<&'j ToolCall> {
    match judged {
        Ok(Judged::Make(call)) => Some(call),
        _ => None,
    }
}

impl AgentSettings {
    /// Ends the turn with `handoff`.
    fn hand_off(
        &self,
        context: &Context,
        update: AgentStateUpdate,
        handoff: Handoff,
    ) -> AgentStateUpdate {
        let (to, task) = (handoff.to.clone(), handoff.task.clone());
        self.emit(context, |agent| AgentProgress::HandedOff { agent, to, task });
        update.should_stop(true).stopped(Some(StopReason::HandedOff)).handoff(Some(handoff))
    }

    /// Of several calls that hand over, those behind the first are not made.
    fn refuse_handoffs(
        &self,
        calls: &[ToolCall],
        first: Option<&(usize, Handoff)>,
        judged: &mut [Result<Judged<'_>, AgentError>],
    ) {
        let Some((first, handoff)) = first else { return };
        let later = calls.iter().zip(judged).skip(first + 1);
        for (_, judged) in later.filter(|(call, _)| handoff_tool::is_handoff(&self.handoffs, call))
        {
            let text = prompt::second_handoff(&handoff.to, self.language);
            *judged = Ok(Judged::Observed(Observation::fault(FaultKind::NotMade, text)));
        }
    }

    /// Judges the call at `index` by its faults, its schema and the interceptors, once and for all of the
    /// task's runs.
    async fn judge<'a>(
        &self,
        context: &Context,
        state: &AgentState,
        index: usize,
        pending: &PendingCall<'a>,
    ) -> Result<Judged<'a>, AgentError> {
        let PendingCall { call, fault, context: tool_context } = pending;
        if let Some(fault) = fault {
            return Ok(Judged::Observed(Observation::fault(fault.kind, fault.text.as_str())));
        }
        let registered = match self.tools.check(call, self.language) {
            Ok(registered) => registered,
            Err(observation) => return Ok(Judged::Observed(observation)),
        };
        let request = self.request_of(state, index, call, registered);
        let verdict = admit(context, &self.interceptors, registered, request, tool_context).await;
        let verdict = verdict.map_err(|error| self.tool_failed(call, error))?;
        Ok(self.follow(call, verdict))
    }

    fn follow<'a>(&self, call: &'a ToolCall, verdict: Admitted) -> Judged<'a> {
        let arguments = match verdict {
            Admitted::Make => return Judged::Make(Cow::Borrowed(call)),
            Admitted::Refuse(reason) => {
                let text = prompt::refused(&call.name, &reason, self.language);
                return Judged::Observed(Observation::fault(FaultKind::Denied, text));
            }
            Admitted::Give(output) => {
                return Judged::Observed(prompt::result(output, self.language));
            }
            Admitted::Change(arguments) => arguments,
        };
        let call = ToolCall { arguments, ..call.clone() };
        match self.tools.check(&call, self.language) {
            Ok(_) => Judged::Make(Cow::Owned(call)),
            Err(observation) => Judged::Observed(observation),
        }
    }

    /// The call at `index` as interceptors see it.
    fn request_of<'a>(
        &'a self,
        state: &'a AgentState,
        index: usize,
        call: &ToolCall,
        registered: &'a Registered,
    ) -> ToolRequest<'a> {
        ToolRequest {
            call: call.clone(),
            spec: registered.tool.spec(),
            effect: registered.tool.effect(),
            messages: &state.messages,
            before: state.pending_tool_calls.get(..index).unwrap_or_default(),
            turn: self.turn_context(state),
        }
    }

    /// The record of a call, which is made or not as it was judged.
    async fn observe(
        &self,
        context: &Context,
        state: &AgentState,
        pending: &ToolCall,
        judged: Result<Judged<'_>, AgentError>,
        tool_context: Call,
    ) -> Result<CallRecord, AgentError> {
        let record = match judged? {
            Judged::Observed(observation) => {
                CallRecord::new(context, observation, Spent::default())
            }
            Judged::Make(call) => {
                let mut record = self.made(context, state, &call, tool_context).await?;
                if let Cow::Owned(call) = call {
                    let text = &mut record.observation.text;
                    *text = prompt::changed(&call.arguments, text, self.language);
                }
                record
            }
        };
        self.emit_observation(context, Some(pending), &record.observation);
        Ok(record)
    }

    /// Makes `call`, once and for all of the task's runs.
    async fn made(
        &self,
        context: &Context,
        state: &AgentState,
        call: &ToolCall,
        tool_context: Call,
    ) -> Result<CallRecord, AgentError> {
        let work = async |tool_context: &Call| {
            let through = |metered| async move { self.through(state, call, &metered).await };
            let (made, spent) = metered(tool_context, through).await;
            made.map(|observation| CallRecord::new(context, observation, spent))
        };
        let effect = self.tools.effect(&call.name);
        if effect == Some(Effect::Idempotent) {
            // A lost run is not to make another call than this one.
            context.barrier().await.map_err(|error| self.tool_failed(call, error))?;
        }
        if effect != Some(Effect::AtMostOnce) {
            let made = context.step(&format!("tool-{}", call.id), || work(&tool_context)).await;
            return made.map_err(|error| self.tool_failed(call, error));
        }
        // Nobody but a person can tell whether such a call was made, if the run was lost while it was.
        let arguments = call.arguments.as_str();
        let once = |tool_context: Call| async move {
            let made = work(&tool_context).await.map(OnceResult::Record);
            made.map_err(|error| match was_not_made(&error) {
                true => NotMade(error.into()).into(),
                false => BoxError::from(error),
            })
        };
        let (tool, doubt) = (call.name.as_str(), self.in_doubt);
        let made = context.once_as(tool_context, tool, arguments, doubt, once).await;
        let was_made = Spent { tool_calls: 1, ..Spent::default() };
        let by_person = |output: ToolOutput| {
            CallRecord::new(context, prompt::result(output, self.language), was_made)
        };
        match made {
            Ok(OnceResult::Record(made)) => Ok(made),
            Ok(OnceResult::Text(text)) => Ok(by_person(text.into())),
            Ok(OnceResult::Json(value)) => Ok(by_person(value.to_string().into())),
            Err(StepError::GivenUp { .. }) => {
                let text = prompt::in_doubt(&call.name, self.language);
                let observation = Observation::fault(FaultKind::InDoubt, text);
                Ok(CallRecord::new(context, observation, was_made))
            }
            Err(error) => Err(self.tool_failed(call, error)),
        }
    }

    /// Makes `call` with what stands around it, within a span.
    async fn through(
        &self,
        state: &AgentState,
        call: &ToolCall,
        tool_context: &Call,
    ) -> Result<Observation, ToolError> {
        let registered = match self.tools.check(call, self.language) {
            Ok(registered) => registered,
            Err(observation) => return Ok(observation),
        };
        let index = state.pending_tool_calls.iter().position(|pending| pending.id == call.id);
        let request = self.request_of(state, index.unwrap_or_default(), call, registered);
        let span = hanok_telemetry::tool(&call.name, &call.id);
        self.capture.arguments(&span, || call.arguments.as_str().to_owned());
        let next = NextTool::new(&self.interceptors, registered, &request);
        let made = next.run(tool_context).instrument(span.clone()).await;
        let made = self.tools.observed(call, made, self.language);
        if made.as_ref().map_or(true, |made| made.fault.is_some()) {
            hanok_telemetry::record_error(&span, "tool");
        }
        if let Ok(made) = &made {
            self.capture.result(&span, || made.text.clone());
        }
        made
    }

    fn emit_observation(
        &self,
        context: &Context,
        call: Option<&ToolCall>,
        observation: &Observation,
    ) {
        let id = call.map(|call| call.id.clone());
        let (text, fault) = (observation.text.clone(), observation.fault);
        self.emit(context, |agent| AgentProgress::Observation { agent, id, text, fault });
    }

    fn tool_failed(&self, call: &ToolCall, error: StepError) -> AgentError {
        let (agent, tool) = (self.name.clone(), call.name.clone());
        match error {
            StepError::Failed(cause) => match tool_error(cause) {
                Ok(source) if suspends(&source) => AgentError::Tool { agent, tool, source },
                Ok(source) => AgentError::ToolFailed { agent, tool, call: call.id.clone(), source },
                Err(cause) => AgentError::Step { agent, source: StepError::Failed(cause) },
            },
            source => AgentError::Step { agent, source },
        }
    }
}
