//! The node that makes the calls.

use std::sync::Arc;

use futures::future::join_all;
use hanok_core::{Call, Effect};
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::{ToolError, ToolOutput};
use hanok_state::{State, ToolCall};
use serde::{Deserialize, Serialize};
use tracing::Instrument;

use crate::{
    AgentError, AgentProgress, AgentState, AgentStateUpdate, DataMark, Fault, FaultKind, Handoff,
    Observation, StopReason, agent::Inner, conversation, execution::suspends, handoff, prompt,
};

/// An observation as it is kept with its call.
#[derive(Serialize, Deserialize)]
struct Kept {
    observation: Observation,
    mark: DataMark,
}

/// What a call that must not be repeated gave: as it was kept, or as a person who knows says.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Made {
    Kept(Kept),
    Text(String),
    Json(serde_json::Value),
}

/// Makes the calls of the last reply, all at once, and writes one observation for each, in their order. B110, B113
///
/// Each call is a memoised step: one that was finished is not made again after a crash. One that must not be repeated is
/// not made again when nobody knows whether it was made: the run ends in doubt, and a person says so.
pub(crate) async fn execute_tool(
    agent: Arc<Inner>,
    state: Snapshot<AgentState>,
    context: Context,
) -> Result<AgentStateUpdate, AgentError> {
    let fault = |call: &ToolCall| {
        state.faults.iter().find(|fault| fault.call_id.as_ref() == Some(&call.id)).cloned()
    };
    let handoff = handoff::first(&agent.handoffs, state.pending_tool_calls.iter(), |call| {
        fault(call).is_none() && agent.tools.is_valid(call)
    });
    // The keys of equal calls differ by their order, which is that of the reply and not that of their ends.
    let calls = state.pending_tool_calls.iter().enumerate().map(|(index, call)| {
        let fault = fault(call).or_else(|| agent.second_handoff(handoff.as_ref(), index, call));
        (call, fault, context.call("tool", &call.name, call.arguments.as_str()))
    });
    let calls: Vec<_> = calls.collect();
    let made = calls
        .iter()
        .map(|(call, fault, given)| agent.observe(&context, call, fault.as_ref(), given));
    // All run to their end, even when one of them has to wait for a person.
    let kept = join_all(made).await.into_iter().collect::<Result<Vec<_>, _>>()?;

    let observed = calls.iter().zip(&kept).map(|((call, ..), kept)| {
        conversation::observed(Some(call), &kept.observation, Some(&kept.mark), agent.protocol)
    });
    let update = observed.fold(AgentState::update(), AgentStateUpdate::message);
    let lone = state.faults.iter().filter(|fault| fault.call_id.is_none());
    let update = lone.fold(update, |update, fault| {
        let observation = Observation::fault(fault.kind, fault.text.as_str());
        agent.tell_observation(&context, None, &observation);
        update.message(conversation::observed(None, &observation, None, agent.protocol))
    });
    let update = update.pending_tool_calls(Vec::new());
    let update = if state.faults.is_empty() { update } else { update.faults(Vec::new()) };
    Ok(match handoff {
        Some((_, handoff)) => agent.hand_off(&context, update, handoff),
        None => update,
    })
}

impl Inner {
    /// Ends the turn with `handoff`.
    fn hand_off(
        &self,
        context: &Context,
        update: AgentStateUpdate,
        handoff: Handoff,
    ) -> AgentStateUpdate {
        let (to, task) = (handoff.to.clone(), handoff.task.clone());
        context.custom(&AgentProgress::HandedOff { agent: self.name.clone(), to, task });
        update.should_stop(true).stopped(Some(StopReason::HandedOff)).handoff(Some(handoff))
    }

    /// What is wrong with the call at `index` if it hands over and another one before it does so already. B113
    fn second_handoff(
        &self,
        first: Option<&(usize, Handoff)>,
        index: usize,
        call: &ToolCall,
    ) -> Option<Fault> {
        let (first, handoff) = first?;
        (index > *first && handoff::is_one(&self.handoffs, call)).then(|| Fault {
            call_id: Some(call.id.clone()),
            kind: FaultKind::NotMade,
            text: prompt::second_handoff(&handoff.to, self.language),
        })
    }

    /// The observation of `call`, which is not made when there is a fault.
    async fn observe(
        &self,
        context: &Context,
        call: &ToolCall,
        fault: Option<&Fault>,
        given: &Call,
    ) -> Result<Kept, AgentError> {
        let kept = match fault {
            Some(fault) => {
                let observation = Observation::fault(fault.kind, fault.text.as_str());
                Kept { observation, mark: DataMark::new(&*context.runtime().rng) }
            }
            None => self.made(context, call, given).await?,
        };
        self.tell_observation(context, Some(call), &kept.observation);
        Ok(kept)
    }

    /// Makes `call`, once and for all of the task's runs.
    async fn made(
        &self,
        context: &Context,
        call: &ToolCall,
        given: &Call,
    ) -> Result<Kept, AgentError> {
        let kept = |observation| Kept { observation, mark: DataMark::new(&*context.runtime().rng) };
        let work = async |given: &Call| {
            let span = hanok_telemetry::tool(&call.name, &call.id);
            self.capture.arguments(&span, || call.arguments.as_str().to_owned());
            let made =
                self.tools.execute(call, given, self.language).instrument(span.clone()).await;
            if made.as_ref().map_or(true, |made| made.fault.is_some()) {
                hanok_telemetry::record_error(&span, "tool");
            }
            if let Ok(made) = &made {
                self.capture.result(&span, || made.text.clone());
            }
            made.map(kept)
        };
        let effect = self.tools.effect(&call.name);
        if effect == Some(Effect::Idempotent) {
            // A lost run is not to make another call than this one.
            context.barrier().await.map_err(|error| self.tool_failed(call, error))?;
        }
        if effect != Some(Effect::AtMostOnce) {
            let made = context.step(&format!("tool-{}", call.id), || work(given)).await;
            return made.map_err(|error| self.tool_failed(call, error));
        }
        // Nobody but a person can tell whether such a call was made, if the run was lost while it was.
        let arguments = call.arguments.as_str();
        let once = |given: Call| async move { work(&given).await.map(Made::Kept) };
        let made = context.once_as(given.clone(), &call.name, arguments, self.in_doubt, once).await;
        let said = |output: ToolOutput| kept(prompt::result(output, self.language));
        match made {
            Ok(Made::Kept(made)) => Ok(made),
            Ok(Made::Text(text)) => Ok(said(text.into())),
            Ok(Made::Json(value)) => Ok(said(value.to_string().into())),
            Err(StepError::GivenUp { .. }) => {
                let text = prompt::in_doubt(&call.name, self.language);
                Ok(kept(Observation::fault(FaultKind::InDoubt, text)))
            }
            Err(error) => Err(self.tool_failed(call, error)),
        }
    }

    fn tell_observation(
        &self,
        context: &Context,
        call: Option<&ToolCall>,
        observation: &Observation,
    ) {
        context.custom(&AgentProgress::Observation {
            agent: self.name.clone(),
            id: call.map(|call| call.id.clone()),
            text: observation.text.clone(),
            fault: observation.fault,
        });
    }

    fn tool_failed(&self, call: &ToolCall, error: StepError) -> AgentError {
        let (agent, tool) = (self.name.clone(), call.name.clone());
        match error {
            StepError::Failed(cause) => match cause.downcast::<ToolError>() {
                Ok(source) if suspends(&source) => {
                    AgentError::Tool { agent, tool, source: *source }
                }
                Ok(source) => {
                    AgentError::ToolFailed { agent, tool, call: call.id.clone(), source: *source }
                }
                Err(cause) => AgentError::Step { agent, source: StepError::Failed(cause) },
            },
            source => AgentError::Step { agent, source },
        }
    }
}
