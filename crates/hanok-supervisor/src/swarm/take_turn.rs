//! The node of each agent of a swarm.

use std::{collections::BTreeSet, sync::Arc};

use hanok_agent::StopReason;
use hanok_graph::{Context, Snapshot};
use hanok_state::{Message, State};

use super::{
    error::SwarmError,
    settings::SwarmSettings,
    state::{SwarmState, SwarmStateUpdate},
};
use crate::{
    conversation,
    member::{Member, run::MemberRun},
};

/// An agent and its swarm.
pub(super) struct SwarmMember<C: Send + Sync + 'static> {
    pub(super) swarm: Arc<SwarmSettings<C>>,
    pub(super) agent: Member<C>,
}

/// Runs the active agent on its view, adds its messages to the conversation, and hands over if it asks for that.
pub(super) async fn take_turn<C: Send + Sync + 'static>(
    member: Arc<SwarmMember<C>>,
    state: Snapshot<SwarmState>,
    context: Context<C>,
) -> Result<SwarmStateUpdate, SwarmError> {
    let SwarmMember { swarm, agent } = &*member;
    let ended = agent.run(state.view(), &context).await;
    let ran = ended.map_err(|failure| SwarmError::of(failure, agent.name()))?;

    let added = added(&state, &ran, agent.name());
    let update = added.iter().cloned().fold(SwarmState::update(), SwarmStateUpdate::message);
    let Some(handoff) = ran.handoff else {
        let update = update.active(agent.name()).answer(ran.answer);
        return Ok(update.stopped(Some(ran.stopped)));
    };
    let conversation: Vec<_> = state.messages.iter().cloned().chain(added).collect();
    let update = swarm.hand_over(&handoff, &conversation, update, &context).await?;
    Ok(match state.hops < swarm.max_hops {
        true => update.hops(state.hops + 1),
        false => update.stopped(Some(StopReason::HopLimit)),
    })
}

/// The messages that the agent wrote; of a supervisor, those that it said.
///
/// Servers number their calls anew in every conversation, and the agent may not have seen all of this one: an id that another
/// call has is changed.
fn added(state: &SwarmState, ran: &MemberRun, agent: &str) -> Vec<Message> {
    let calls = state.messages.iter().flat_map(Message::tool_calls);
    let taken: BTreeSet<_> = calls.map(|call| call.id.as_str()).collect();
    let mut issued = BTreeSet::new();
    let added = ran.added(|id| {
        let others = (2..).map(|n: u32| format!("{id}-{n}"));
        let mut free = std::iter::once(id.to_owned()).chain(others);
        let is_free = |id: &String| !taken.contains(id.as_str()) && !issued.contains(id);
        let id = free.find(is_free).unwrap_or_default();
        issued.insert(id.clone());
        id
    });
    let said = added.into_iter().filter(|message| !conversation::is_inner(message));
    said.map(|message| message.with_metadata("agent", agent)).collect()
}
