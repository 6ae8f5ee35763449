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
//! | `choose_again` | the choices of a log, made again by another model |
//! | `choice`, `prompt` | the choices in the log, and the texts of models and answers |
//!
//! A plan is data in the state, and what ran is data in the log. [`execution`] memoises each team's beginning and end, so
//! [`steps`] and a resumed run read the same.

pub(crate) mod builder;
mod choice;
pub(crate) mod choose_again;
pub(crate) mod definition;
pub(crate) mod error;
pub(crate) mod event;
mod execution;
pub(crate) mod memory;
mod nodes;
pub(crate) mod plan;
mod prompt;
pub(crate) mod question;
mod rules;
mod settings;
pub(crate) mod state;
pub(crate) mod step;
pub(crate) mod steps;
pub(crate) mod supervisor;
pub(crate) mod what_if;
