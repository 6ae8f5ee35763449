//! The node that makes the calls.

use hanok_graph::{Context, Snapshot};
use hanok_state::{State, ToolCall};

use crate::{
    conversation,
    error::AgentError,
    handoff::Handoff,
    observation::{FaultKind, Observation},
    progress::AgentProgress,
    prompt,
    runner::{Judged, JudgedCall, ToolTurn},
    settings::AgentSettings,
    state::{AgentState, AgentStateUpdate, StopReason},
    tools::handoff_tool,
};

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
    let turn = ToolTurn { messages: &state.messages, usage: &state.usage };
    let fault = |call: &ToolCall| {
        let fault = state.faults.iter().find(|fault| fault.call_id.as_ref() == Some(&call.id));
        fault.map(|fault| Observation::fault(fault.kind, fault.text.as_str()))
    };
    let mut judged = agent.runner.judge_all(&context, turn, pending, fault).await;
    let handoff = handoff_tool::first(&agent.handoffs, judged.iter().map(JudgedCall::to_make));
    agent.refuse_handoffs(handoff.as_ref(), &mut judged);
    let observed = |call: &ToolCall, observation: &Observation| {
        agent.emit_observation(&context, Some(call), observation);
    };
    let made = agent.runner.make_all(&context, turn, pending, judged, &observed).await;
    let results = made.map_err(|error| error.of_agent(&agent.name))?;

    let mut usage = state.usage.clone();
    let observations = pending.iter().zip(results).map(|(call, result)| {
        usage.tool(&call.name, result.spent);
        result.in_protocol(call, agent.protocol)
    });
    let update = observations.fold(AgentState::update(), AgentStateUpdate::message);
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
    fn refuse_handoffs(&self, first: Option<&(usize, Handoff)>, judged: &mut [JudgedCall<'_>]) {
        let Some((first, handoff)) = first else { return };
        let later = judged.iter_mut().skip(first + 1);
        for judged in later.filter(|it| handoff_tool::is_handoff(&self.handoffs, it.call)) {
            let text = prompt::second_handoff(&handoff.to, self.language);
            judged.outcome = Ok(Judged::Observed(Observation::fault(FaultKind::NotMade, text)));
        }
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
}
