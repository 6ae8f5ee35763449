//! Inputs of a graph whose type does not matter, and the settings of their runs.

use std::collections::BTreeMap;

use hanok_core::{Budget, Cancellation, Position, RequestId, RunId, Stored};
use hanok_state::{InvalidJson, State};
use serde::Deserialize;

use crate::{
    error::RunError,
    journal::durability::Durability,
    node::command::Target,
    observe::{any::AnyUpdate, event::Mode},
    thread::{
        handle::Thread,
        input::{Input, NewInput},
    },
};

/// An [`Input`] of a graph whose type does not matter. A client writes it as JSON.
///
/// ```
/// use hanok_graph::AnyInput;
/// use serde_json::{from_value, json};
///
/// from_value::<AnyInput>(json!({"new": {"messages": "Hello"}}))?;
/// from_value::<AnyInput>(json!("resume"))?;
/// from_value::<AnyInput>(json!({"answers": {"q-17": true}}))?;
/// from_value::<AnyInput>(json!({"reply": "yes"}))?;
/// from_value::<AnyInput>(json!({"edited": {"answers": {"q-17": true}, "update": {"n": 1}}}))?;
/// from_value::<AnyInput>(json!({"goto": {"targets": ["draft", {"node": "load", "input": "a.txt"}]}}))?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnyInput {
    /// As [`Input::New`].
    New(AnyUpdate),
    /// As [`Input::Begin`].
    Begin(AnyUpdate),
    /// As [`Input::Resume`].
    Resume,
    /// As [`Input::Answers`].
    Answers(BTreeMap<RequestId, Stored>),
    /// As [`Input::Reply`].
    Reply(Stored),
    /// As [`Input::Edited`].
    Edited {
        /// The answers.
        #[serde(default)]
        answers: BTreeMap<RequestId, Stored>,
        /// The update of the state.
        update: AnyUpdate,
    },
    /// As [`Input::Goto`].
    Goto {
        /// The update of the state.
        #[serde(default)]
        update: AnyUpdate,
        /// The nodes that run, or `__end__` for none.
        targets: Vec<Target>,
    },
}

impl AnyInput {
    /// The input of a graph whose initial state is `initial`.
    pub(super) fn read<S: State>(self, initial: &S) -> Result<Input<S>, InvalidJson> {
        Ok(match self {
            Self::New(update) => Input::New(update.read(initial)?),
            Self::Begin(update) => Input::Begin(update.read(initial)?),
            Self::Resume => Input::Resume,
            Self::Answers(answers) => Input::Answers(answers.into_iter().collect()),
            Self::Reply(answer) => Input::Reply(answer),
            Self::Edited { answers, update } => {
                let update = update.read(initial)?;
                Input::Edited { answers: answers.into_iter().collect(), update }
            }
            Self::Goto { update, targets } => {
                Input::Goto { update: update.read(initial)?, targets }
            }
        })
    }
}

/// The settings of a run of an [`AnyThread`](crate::AnyThread): those of a [`Thread`]. What is not set is the app's.
///
/// ```
/// use hanok_graph::{Mode, NewInput, RunSettings};
///
/// let settings = RunSettings { new_input: NewInput::Queue, modes: Some(vec![Mode::Messages]), ..RunSettings::default() };
/// assert!(settings.budget.is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct RunSettings {
    /// [`Thread::new_input`].
    pub new_input: NewInput,
    /// [`Thread::modes`], for a stream.
    pub modes: Option<Vec<Mode>>,
    /// [`Thread::recursion_limit`].
    pub recursion_limit: Option<u32>,
    /// [`Thread::budget`].
    pub budget: Option<Budget>,
    /// [`Thread::durability`].
    pub durability: Option<Durability>,
    /// [`Thread::interrupt_before`].
    pub interrupt_before: Vec<String>,
    /// [`Thread::interrupt_after`].
    pub interrupt_after: Vec<String>,
    /// [`Thread::tag`].
    pub tags: BTreeMap<String, String>,
    /// [`Thread::discarding_doubts`].
    pub discards_doubts: bool,
    /// [`Thread::run_id`]: the run, and the position behind which it stands.
    pub run: Option<(RunId, Position)>,
    /// [`Thread::at`].
    pub at: Option<Position>,
    /// [`Thread::cancellation`].
    pub cancellation: Cancellation,
    /// [`Events::drop_with_reader`](crate::Events::drop_with_reader).
    pub drops_with_reader: bool,
}

impl RunSettings {
    /// The handle with these settings.
    pub(super) fn apply<S: State, C: Send + Sync + 'static>(
        &self,
        thread: Thread<S, C>,
    ) -> Result<Thread<S, C>, RunError> {
        let thread = thread
            .new_input(self.new_input)
            .interrupt_before(&self.interrupt_before)
            .interrupt_after(&self.interrupt_after)
            .cancellation(self.cancellation.clone());
        let tagged =
            self.tags.iter().try_fold(thread, |thread, (key, value)| thread.tag(key, value));
        let mut thread = tagged?;
        if let Some((run, since)) = self.run {
            thread = thread.run_id(run, since);
        }
        if let Some(at) = self.at {
            thread = thread.at(at);
        }
        if let Some(modes) = &self.modes {
            thread = thread.modes(modes.iter().copied());
        }
        if let Some(limit) = self.recursion_limit {
            thread = thread.recursion_limit(limit);
        }
        if let Some(budget) = self.budget {
            thread = thread.budget(budget);
        }
        if let Some(durability) = self.durability {
            thread = thread.durability(durability);
        }
        Ok(if self.discards_doubts { thread.discarding_doubts() } else { thread })
    }
}
