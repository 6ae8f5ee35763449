//! What a hook gives back.

use std::{fmt, sync::Arc};

use hanok_core::{BoxError, StoredState};
use hanok_state::{Message, State, StateUpdate, StateWrite, UnfitWrite};
use serde::{Deserialize, Serialize};

use crate::{has_agent::HasAgent, state::AgentState};

/// What a [`Hook`](crate::Hook) gives back: an update of the state, tools, and where the turn goes on.
pub struct Hooked<S: State = AgentState> {
    pub(crate) update: S::Update,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) jump: Option<Jump>,
    /// True for the result of a method that the hook does not have: nothing is stored of it.
    absent: bool,
}

/// Where a turn goes on after a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Jump {
    /// At the model, which is asked again.
    Model,
    /// At the tools, with the calls that wait for them.
    Tools,
    /// Nowhere: the turn ends ([`StopReason::Hook`](crate::StopReason::Hook)).
    End,
}

impl<S: HasAgent> Hooked<S> {
    /// Nothing: the turn goes on as it would.
    #[must_use]
    pub fn new() -> Self {
        Self { update: S::update(), tools: None, jump: None, absent: false }
    }

    pub(super) fn absent() -> Self {
        Self { absent: true, ..Self::new() }
    }

    /// Writes `update` into the state, behind what was written so far.
    #[must_use]
    pub fn update(self, update: S::Update) -> Self {
        Self { update: self.update.and(update), ..self }
    }

    /// Adds a message to the conversation, which stays.
    #[must_use]
    pub fn message(self, message: impl Into<Message>) -> Self {
        self.update(S::wrap(AgentState::update().message(message)))
    }

    /// Shows the model these tools alone when it is asked next. Default: all that the agent has.
    #[must_use]
    pub fn only_tools(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { tools: Some(names.into_iter().map(Into::into).collect()), ..self }
    }

    /// Goes on at `jump`. The hooks behind this one do not run. Default: as it would.
    #[must_use]
    pub fn jump(self, jump: Jump) -> Self {
        Self { jump: Some(jump), ..self }
    }
}

impl Hooked<AgentState> {
    /// The same for a state that holds that of the agent.
    pub(super) fn wrapped<S: HasAgent>(self) -> Hooked<S> {
        let Self { update, tools, jump, absent } = self;
        Hooked { update: S::wrap(update), tools, jump, absent }
    }
}

impl<S: HasAgent> Default for Hooked<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: State> fmt::Debug for Hooked<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooked")
            .field("update", &self.update)
            .field("tools", &self.tools)
            .field("jump", &self.jump)
            .finish_non_exhaustive()
    }
}

/// The same as its step stores it.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredHook {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    update: Option<StateWrite>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jump: Option<Jump>,
}

impl StoredHook {
    /// The stored form, `None` of a method that the hook does not have.
    pub(crate) fn of<S: HasAgent>(hooked: &Hooked<S>) -> Result<Option<Self>, BoxError> {
        if hooked.absent {
            return Ok(None);
        }
        let written = !hooked.update.is_empty();
        let update = written.then(|| StateWrite::of(&hooked.update)).transpose()?;
        Ok(Some(Self { update, tools: hooked.tools.clone(), jump: hooked.jump }))
    }

    pub(crate) fn read<S: HasAgent>(
        self,
        state: &S,
        earlier: &[StoredState],
        node: &Arc<str>,
    ) -> Result<Hooked<S>, UnfitWrite> {
        let update = self.update.map(|update| update.read(state, earlier, node)).transpose()?;
        let (tools, jump) = (self.tools, self.jump);
        Ok(Hooked { update: update.unwrap_or_default(), tools, jump, absent: false })
    }
}
