//! The progress of a team supervisor.

use hanok_agent::Choice;
use hanok_graph::{Event, EventKind, ToolEvent};
use serde::{Deserialize, Serialize};

use crate::{
    state::Phase,
    step::{ExecutionStep, StepStatus},
};

/// The progress of a [`TeamSupervisor`](crate::TeamSupervisor), as a custom event of its run. Events are for those who watch and
/// may be lost; [`steps_of`](crate::steps_of) reads the same list from the log.
///
/// The texts are a model's and a user's, as they came: neutralise control characters before printing them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum TeamEvent {
    /// Another part of the turn begins.
    PhaseChanged {
        /// The part.
        phase: Phase,
    },
    /// The list of steps has changed.
    TodoUpdated {
        /// All steps.
        execution_steps: Vec<ExecutionStep>,
    },
    /// A team begins.
    TeamStarted {
        /// The step.
        step: String,
        /// The team.
        team: String,
    },
    /// A team has ended.
    TeamFinished {
        /// The step.
        step: String,
        /// The team.
        team: String,
        /// The end.
        status: StepStatus,
        /// The cause, where it failed.
        error: Option<String>,
    },
    /// A call of a tool begins.
    ToolStarted {
        /// The tool.
        tool: String,
        /// The id of the call.
        call: String,
    },
    /// A call of a tool has ended.
    ToolFinished {
        /// The tool.
        tool: String,
        /// The id of the call.
        call: String,
        /// The error, where it failed.
        error: Option<String>,
    },
    /// Something was decided.
    Decision {
        /// The choice.
        choice: Choice,
    },
}

impl TeamEvent {
    /// The progress in `event`, if it is some: what the supervisor sent, or a call of a tool in one of its teams.
    ///
    /// ```
    /// use hanok_graph::{Context, Event};
    /// use hanok_team::TeamEvent;
    ///
    /// fn show(event: &Event) {
    ///     if let Some(TeamEvent::TeamStarted { team, .. }) = TeamEvent::of(event) {
    ///         println!("{team} begins");
    ///     }
    /// }
    /// ```
    pub fn of(event: &Event) -> Option<Self> {
        match &event.kind {
            EventKind::Custom(item) => item.decode().ok(),
            EventKind::Tool(of_tool) => {
                let call = event.call.as_ref()?;
                let (tool, call) = (call.name.to_string(), call.key.to_string());
                match of_tool {
                    ToolEvent::Started { .. } => Some(Self::ToolStarted { tool, call }),
                    ToolEvent::Ended { .. } => Some(Self::ToolFinished { tool, call, error: None }),
                    ToolEvent::Failed { error } => {
                        Some(Self::ToolFinished { tool, call, error: Some(error.clone()) })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
