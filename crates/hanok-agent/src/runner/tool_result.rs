//! The result of a call as its step stores it.

use hanok_core::Spent;
use hanok_graph::Context;
use hanok_model::{DataMark, ToolTarget};
use hanok_state::{Message, StateWrite, ToolCall};
use serde::{Deserialize, Serialize};

use crate::{conversation, observation::Observation, observation::Observed, protocol::Protocol};

/// The result of a call of a [`ToolRunner`](crate::ToolRunner), as its memoised step stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The observation.
    pub observation: Observation,
    /// The marks between which its text is shown to a model of the text protocol.
    pub mark: DataMark,
    /// The spending of the call, nothing for one that was not made.
    #[serde(default)]
    pub spent: Spent,
    /// What the tool writes into the state, in the schema that it was written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<StateWrite>,
    /// Where the tool lets the run go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<ToolTarget>,
}

impl ToolResult {
    pub(crate) fn new<C>(
        context: &Context<C>,
        observed: impl Into<Observed>,
        spent: Spent,
    ) -> Self {
        let Observed { observation, update, target } = observed.into();
        let mark = DataMark::new(&*context.runtime().rng);
        Self { observation, mark, spent, update, target }
    }

    /// The message of the role tool that answers `call` in a conversation of native calls.
    ///
    /// Its metadata has the tool (`tool`), the code of the fault (`fault`) and the result for programs (`data`), where there is
    /// one.
    #[must_use]
    pub fn message(self, call: &ToolCall) -> Message {
        self.in_protocol(call, Protocol::Native)
    }

    pub(crate) fn in_protocol(self, call: &ToolCall, protocol: Protocol) -> Message {
        conversation::observed(Some(call), self.observation, Some(&self.mark), protocol)
    }
}
