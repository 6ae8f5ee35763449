//! A supervisor that plans, and teams that begin when what they need is there.
//!
//! | files | what they hold |
//! | --- | --- |
//! | `definition`, `builder`, `error`, `settings` | what a team supervisor is made of |
//! | `supervisor` | the supervisor over its graph |
//! | `state`, `step`, `plan`, `question` | the state of a turn: what is asked, the steps and their ends |
//! | `nodes` | the nodes, in the order in which a turn goes through them |
//! | `execution` | the run of a plan |
//! | `rules` | a plan without a model |
//! | `steps`, `event` | the progress, from the log and live |
//! | `memory` | what is known of the user |
//! | `what_if` | another choice, tried in a fork |
//! | `tool_planner` | the tools of a team with their arguments, chosen in one request |
//! | `choose_again` | the choices of a log, made again by another model |
//! | `choice`, `prompt` | the choices in the log, and the texts of models and answers |
//!
//! A plan is data in the state, and what ran is data in the log. `execution` memoises each team's beginning and end, so
//! `steps` and a resumed run read the same.

#![doc = include_str!("../README.md")]

mod builder;
mod choice;
mod choose_again;
mod definition;
mod error;
mod event;
mod execution;
mod memory;
mod nodes;
mod plan;
mod prompt;
mod question;
mod rules;
mod settings;
mod state;
mod step;
mod steps;
mod supervisor;
mod tool_planner;
mod what_if;

// The crates whose types stand in what this one says.
pub use hanok_agent as agent;
pub use hanok_graph as graph;
pub use hanok_grounding as grounding;
pub use hanok_model as model;

pub use builder::TeamSupervisorBuilder;
pub use choose_again::ChooseAgainError;
pub use definition::Team;
pub use error::{TeamBuildError, TeamError, TeamFault};
pub use event::TeamEvent;
pub use memory::{Remembered, TeamMemory};
pub use plan::{PlanFault, PlanStep, Strategy};
pub use question::QuestionPart;
pub use state::{Aggregated, Instead, Missing, Phase, TeamPlan, TeamState, TeamStateUpdate};
pub use step::{ExecutionStep, StepStatus, TeamResult};
pub use steps::steps_of;
pub use supervisor::TeamSupervisor;
pub use tool_planner::{ToolOption, ToolPlan, ToolPlanner};
pub use what_if::{Compared, WhatIf, WhatIfError, WhatIfSide};
