//! The settings of a swarm.

use std::fmt;

use hanok_agent::{DataMark, Handoff, HandoffHistory, Summariser};
use hanok_graph::Context;
use hanok_state::Message;

use super::{error::SwarmError, state::SwarmState, state::SwarmStateUpdate};
use crate::{conversation, member::Member};

/// The parts and limits of a swarm, which its nodes share.
pub(super) struct SwarmSettings<C: Send + Sync + 'static> {
    pub(super) description: String,
    pub(super) agents: Vec<Member<C>>,
    /// The agent that has a thread before any is active.
    pub(super) first: String,
    pub(super) summariser: Option<Summariser>,
    pub(super) max_hops: u32,
}

impl<C: Send + Sync + 'static> fmt::Debug for SwarmSettings<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SwarmSettings")
            .field("description", &self.description)
            .field("agents", &self.agents)
            .field("first", &self.first)
            .finish_non_exhaustive()
    }
}

impl<C: Send + Sync + 'static> SwarmSettings<C> {
    /// The agent that takes the turn.
    pub(super) fn active<'s>(&'s self, state: &'s SwarmState) -> Result<&'s str, SwarmError> {
        let active = if state.active.is_empty() { &self.first } else { &state.active }.as_str();
        match self.agents.iter().any(|agent| agent.name() == active) {
            true => Ok(active),
            false => {
                let members = self.agents.iter().map(|agent| agent.name().to_owned()).collect();
                Err(SwarmError::UnknownActive { active: active.to_owned(), members })
            }
        }
    }

    /// Gives the thread to the agent that `handoff` names, with its part of `conversation`.
    pub(super) async fn hand_over(
        &self,
        handoff: &Handoff,
        conversation: &[Message],
        update: SwarmStateUpdate,
        context: &Context<C>,
    ) -> Result<SwarmStateUpdate, SwarmError> {
        let to = self.agents.iter().find(|agent| agent.name() == handoff.to);
        let language = to.and_then(Member::language).unwrap_or_default();
        let (brief, since) = match handoff.history {
            HandoffHistory::Full => (Vec::new(), 0),
            _ => {
                let summariser = self.summariser.as_ref();
                let taken =
                    handoff.hand_over(conversation, summariser, language, context, "summary");
                (taken.await.map_err(SwarmError::Step)?.messages, conversation.len())
            }
        };
        let task = conversation::task(handoff, language, &DataMark::new(&*context.runtime().rng));
        Ok(task
            .into_iter()
            .fold(update, SwarmStateUpdate::message)
            .active(handoff.to.as_str())
            .brief(brief)
            .since(u32::try_from(since).unwrap_or(u32::MAX)))
    }
}
