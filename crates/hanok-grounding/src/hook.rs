//! The figures of an agent's answers, as a hook.

use hanok_agent::{AgentState, HasAgent, Hook, Hooked, Jump, StopReason};
use hanok_core::BoxError;
use hanok_graph::Context;
use hanok_state::{Message, Role, State};

use crate::grounded::Grounded;
use crate::sources::{NOTE, Sources};
use crate::{Grounding, Unsupported, UnsupportedFigures};

/// Settles the answer at the end of a turn, with the messages of the agent as its [sources](Sources::messages).
///
/// A marked answer takes the place of the model's, in [`AgentState::answer`] and in the last message. A value of a typed answer
/// has no last line and stays as it is. The messages must be those of a person: a task that a supervisor's model wrote counts as
/// the words of a user, so settle the answers of a team where the user's own words are.
///
/// # Errors
///
/// [`UnsupportedFigures`] fails the run, by the policy [`Unsupported::Refuse`].
impl<S: HasAgent, C: Send + Sync + 'static> Hook<S, C> for Grounding {
    fn name(&self) -> &str {
        "grounding"
    }

    async fn after_agent(&self, state: &S, _: &Context<C>) -> Result<Hooked<S>, BoxError> {
        let agent = state.agent();
        let Some(answer) = &agent.answer else {
            // The model was asked again and came to its limit: what it answered first stands, with its mark.
            let first = noted(agent).filter(|_| agent.stopped == Some(StopReason::MaxIterations));
            let update = first.map(|first| S::wrap(AgentState::update().answer(Some(first))));
            return Ok(update.map_or_else(Hooked::new, |update| Hooked::new().update(update)));
        };
        let units = self.units.iter().cloned();
        let sources = units.fold(Sources::new(), |sources, (key, unit)| sources.unit(key, unit));
        let grounded = self.check(answer.as_str(), &sources.messages(agent.messages.iter()));
        if grounded.is_supported() {
            return Ok(Hooked::new());
        }
        if self.unsupported == Unsupported::Refuse {
            return Err(UnsupportedFigures(grounded).into());
        }
        let hooked = Hooked::new().update(S::wrap(self.marked(agent, &grounded)));
        Ok(match self.unsupported == Unsupported::AskAgain && noted(agent).is_none() {
            true => {
                let note = Message::user(grounded.note(self.language));
                let note = note.with_metadata(NOTE, grounded.marked(self.language));
                hooked.message(note).jump(Jump::Model)
            }
            false => hooked,
        })
    }
}

impl Grounding {
    fn marked(&self, agent: &AgentState, grounded: &Grounded) -> hanok_agent::AgentStateUpdate {
        let marked = grounded.marked(self.language);
        let line = marked.get(grounded.answer.trim_end().len()..).unwrap_or_default().to_owned();
        let update = AgentState::update().answer(Some(marked));
        let last = agent.messages.last().filter(|last| {
            last.role() == Role::Assistant && last.text().contains(grounded.answer.trim())
        });
        match last {
            Some(last) => {
                let text = format!("{}{line}", last.text().trim_end());
                update.message(last.clone().with_content(text))
            }
            None => update,
        }
    }
}

/// The marked answer for which the model was asked again in this turn.
fn noted(agent: &AgentState) -> Option<String> {
    let is_own = |message: &&Message| {
        message.role() == Role::User && !message.metadata().contains_key("tool")
    };
    let last = agent.messages.iter().rev().find(is_own)?;
    last.metadata().get(NOTE)?.0.as_str().map(str::to_owned)
}
