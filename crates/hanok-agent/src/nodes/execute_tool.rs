//! The node that makes the calls.

use std::{any::TypeId, borrow::Cow, sync::Arc};

use hanok_core::Call;
use hanok_graph::{Command, Context, END, Snapshot};
use hanok_model::ToolTarget;
use hanok_state::{Json, State, StateUpdate, ToolCall};

use crate::{
    bound_tool::{BindingCause, BoundTool},
    catalogue::SEARCH_TOOLS,
    conversation,
    error::AgentError,
    handoff::Handoff,
    has_agent::HasAgent,
    nodes::turn::Turn,
    observation::{FaultKind, Observation},
    progress::AgentProgress,
    prompt,
    runner::{
        Judged, JudgedCall, ToolRound, ToolTurn,
        tool_result::ToolResult,
        writes::{ToolWrites, Written},
    },
    settings::{AgentParts, AgentSettings},
    state::{AgentState, AgentStateUpdate, StopReason},
    tools::handoff_tool,
};

/// Makes the calls of the last reply, all at once, and writes one observation for each, in their order, and behind them what
/// the tools write.
///
/// Each call is a memoised step: one that was finished is not made again after a crash. One that must not be repeated is
/// not made again when nobody knows whether it was made: the run ends in doubt, and a person says so.
pub(crate) async fn execute_tool<S: HasAgent, C: Send + Sync + 'static>(
    parts: &AgentParts<S, C>,
    state: Snapshot<S>,
    context: Context<C>,
) -> Result<Command<S>, AgentError> {
    let agent = &parts.settings;
    let whole: Arc<S> = state.clone().into();
    let own = whole.agent();
    let pending = &own.pending_tool_calls;
    let mut runner = parts.by_run.runner(agent, &whole, context.services())?;
    if let Some(catalogue) = &agent.catalogue {
        let restrictions = catalogue.restrictions(&own.bound_tools, pending, context.now()).await?;
        runner = Cow::Owned(runner.into_owned().restricted(restrictions));
    }
    let provide = |call: Call| provided(call, &whole);
    // Whoever judges a call sees what the model has read of earlier messages too.
    let with_memory = (!own.memory.is_empty())
        .then(|| own.memory.prompt(&own.messages, agent.language).into_iter().collect());
    let messages = with_memory.as_ref().unwrap_or(&own.messages);
    let turn = ToolTurn { messages, usage: &own.usage };
    let round = ToolRound { turn, calls: pending, provide: &provide };
    let fault = |call: &ToolCall| {
        let fault = own.faults.iter().find(|fault| fault.call_id.as_ref() == Some(&call.id));
        fault.map(|fault| Observation::fault(fault.kind, fault.text.as_str()))
    };
    let mut judged = runner.judge_all(&context, round, fault).await;
    let handoff = handoff_tool::first(&agent.handoffs, judged.iter().map(JudgedCall::to_make));
    agent.refuse_handoffs(handoff.as_ref(), &mut judged);
    let called = judged.iter().filter_map(|judged| runner.called_unbound(judged)).collect();
    let observed = |call: &ToolCall, observation: &Observation| {
        agent.emit_observation(&context, Some(call), observation);
    };
    let made = runner.make_all(&context, round, judged, &observed).await;
    let results = made.map_err(|error| error.of_agent(&agent.name))?;

    let results: Vec<_> = pending.iter().zip(results).collect();
    let mut usage = own.usage.clone();
    for (call, result) in &results {
        usage.tool(&call.name, result.spent);
        if result.observation.fault == Some(FaultKind::Rejected) {
            usage.reject(call);
        }
    }
    let rest = agent.own_update(own, &context).usage(usage);
    let rest = match agent.bind(own, called, &results, &context).await? {
        Some(bound) => rest.bound_tools(bound),
        None => rest,
    };
    let written = ToolWrites::of_agent(&*whole, &context, agent.language).join(
        results,
        |results: &[(&ToolCall, ToolResult)]| {
            let messages =
                results.iter().map(|(call, it)| it.clone().in_protocol(call, agent.protocol));
            let update = messages.fold(AgentState::update(), AgentStateUpdate::message);
            S::wrap(update.and(rest.clone()))
        },
    );
    for (call, observation) in &written.refused {
        agent.emit_observation(&context, Some(call), observation);
    }
    let ending = agent.ending(&context, handoff, &written);
    let parent = agent.parent_target(written.target.as_ref())?;
    let mut turn = Turn::new(parts, state, &context);
    turn.write(written.update)?;
    if let Some(ending) = ending {
        turn.write_agent(ending)?;
    }
    turn.parent = parent;
    turn.into_command(None).await
}

/// A call with the state behind it, and the agent's part of it.
fn provided<S: HasAgent>(call: Call, state: &Arc<S>) -> Call {
    let call = match TypeId::of::<S>() == TypeId::of::<AgentState>() {
        true => call,
        false => call.provide(Arc::new(state.agent().clone())),
    };
    call.provide(state.clone())
}

impl AgentSettings {
    /// The tools that are bound after these calls, if there are more than before: those that were `called` and not offered, and
    /// those that searches found.
    async fn bind<C>(
        &self,
        state: &AgentState,
        called: Vec<BoundTool>,
        results: &[(&ToolCall, ToolResult)],
        context: &Context<C>,
    ) -> Result<Option<Vec<BoundTool>>, AgentError> {
        let Some(catalogue) = &self.catalogue else { return Ok(None) };
        let (mut bound, before) = (state.bound_tools.clone(), state.bound_tools.len());
        let names = BoundTool::append(&mut bound, called);
        self.emit_bound(context, BindingCause::Call, names);
        for (call, result) in results {
            let observation = &result.observation;
            if call.name != SEARCH_TOOLS || observation.fault.is_some() {
                continue;
            }
            let data = observation.data.as_ref().map(|Json(data)| data);
            let tools = catalogue.searched(data, context.now()).await?;
            let names = BoundTool::append(&mut bound, tools);
            self.emit_bound(context, BindingCause::Search, names);
        }
        Ok((bound.len() > before).then_some(bound))
    }

    /// What the node writes by itself, beside the results: the lone faults of the reply, and that nothing waits any more.
    fn own_update<C>(&self, state: &AgentState, context: &Context<C>) -> AgentStateUpdate {
        let lone = state.faults.iter().filter(|fault| fault.call_id.is_none());
        let update = lone.fold(AgentState::update(), |update, fault| {
            let observation = Observation::fault(fault.kind, fault.text.as_str());
            self.emit_observation(context, None, &observation);
            update.message(conversation::observed(None, observation, None, self.protocol))
        });
        let update = update.pending_tool_calls(Vec::new());
        if state.faults.is_empty() { update } else { update.faults(Vec::new()) }
    }

    /// The end of the turn, if a call brings it: a hand-off, a tool whose result is the answer, or one that goes on elsewhere.
    fn ending<C, S: HasAgent>(
        &self,
        context: &Context<C>,
        handoff: Option<(usize, Handoff)>,
        written: &Written<'_, S>,
    ) -> Option<AgentStateUpdate> {
        let update = AgentState::update();
        if let Some((_, handoff)) = handoff {
            return Some(self.hand_off(context, update, handoff));
        }
        let ends = |call: &ToolCall| self.ends_turn.contains(&call.name);
        let target = written.target.as_ref();
        let ends_by_target = target.filter(|(_, it)| {
            matches!(it, ToolTarget::End | ToolTarget::Parent(_))
                || matches!(it, ToolTarget::Node(node) if node == END)
        });
        let by_target = ends_by_target.map(|(call, _)| *call);
        let by_name = written
            .results
            .iter()
            .rev()
            .find(|(call, result)| ends(call) && result.fault.is_none());
        let call = by_target.or(by_name.map(|(call, _)| *call))?;
        let (_, observation) = written.results.iter().find(|(other, _)| other.id == call.id)?;
        let text = observation.text.clone();
        self.emit(context, |agent| AgentProgress::Answer { agent, text: text.clone() });
        let update = update.should_stop(true).stopped(Some(StopReason::ToolResult));
        Some(update.answer(Some(text)))
    }

    /// The node of the calling graph at which a tool lets that go on.
    ///
    /// # Errors
    ///
    /// [`AgentError::Target`] when it is not declared; so is a node of the agent's own that is not the model's.
    fn parent_target(
        &self,
        target: Option<&(&ToolCall, ToolTarget)>,
    ) -> Result<Option<String>, AgentError> {
        let Some((call, target)) = target else { return Ok(None) };
        let (node, is_declared) = match target {
            ToolTarget::Parent(node) => (node.as_str(), self.targets.contains(node)),
            ToolTarget::Node(node) if node == "call_model" => return Ok(None),
            ToolTarget::Node(node) if node != END => (node.as_str(), false),
            _ => {
                let declared = self.targets.iter().any(|target| target == END);
                (END, declared || self.ends_turn.contains(&call.name))
            }
        };
        if is_declared {
            return Ok(Some(node.to_owned()).filter(|node| node != END));
        }
        let declared: Vec<_> = self.targets.iter().map(|node| format!("`{node}`")).collect();
        Err(AgentError::Target {
            agent: self.name.clone(),
            tool: call.name.clone(),
            target: node.to_owned(),
            declared: if declared.is_empty() { "none".to_owned() } else { declared.join(", ") },
        })
    }

    /// Ends the turn with `handoff`.
    fn hand_off<C>(
        &self,
        context: &Context<C>,
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
            let fault = Observation::fault(FaultKind::NotMade, text);
            judged.outcome = Ok(Judged::Observed(fault.into()));
        }
    }

    fn emit_observation<C>(
        &self,
        context: &Context<C>,
        call: Option<&ToolCall>,
        observation: &Observation,
    ) {
        let id = call.map(|call| call.id.clone());
        let (text, fault) = (observation.text.clone(), observation.fault);
        self.emit(context, |agent| AgentProgress::Observation { agent, id, text, fault });
    }
}
