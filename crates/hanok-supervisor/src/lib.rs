//! A supervisor that routes: its model delegates to one agent after the other until it has the answer.
//!
//! | node | does | goes on to |
//! | --- | --- | --- |
//! | `supervisor` | asks the model for a route: a delegation with a task, or the final answer | `execute_agent`, or the end |
//! | `execute_agent` | runs the chosen agent as a subgraph on what the user said and its task | `supervisor` |
//!
//! - A new message of the user begins a turn ([`Supervisor::ask`]): only the messages last.
//! - What agents found is data: the model reads it between marks that nobody can guess, in one message before the last
//!   one of the user, and never in the system prompt. P41
//! - An agent that is not there is told to the model with those that are; twice in a row is a typed error
//!   ([`SupervisorError::UndeclaredAgent`]).
//! - A turn has so many routing calls; at the limit it ends with the best that was found and says so.
//!
//! ```
//! use hanok_agent::{Language, ReactAgent};
//! use hanok_model::ScriptedModel;
//! use hanok_supervisor::Supervisor;
//!
//! let model = ScriptedModel::new([]);
//! let agent = |name, description| ReactAgent::builder(name, description, model.clone()).build();
//! let supervisor = Supervisor::builder(model.clone())
//!     .agent(agent("rag_agent", "사내 규정과 문서를 찾는다")?)
//!     .agent(agent("external_agent", "날짜와 계산")?)
//!     .language(Language::Korean)
//!     .build()?;
//! assert!(supervisor.system_prompt().contains("- rag_agent: 사내 규정과 문서를 찾는다"));
//!
//! let twice = Supervisor::builder(model.clone()).agents([agent("a", "")?, agent("a", "")?]).build();
//! assert_eq!(
//!     twice.unwrap_err().to_string(),
//!     "the supervisor cannot be built\n- two agents are named `a`"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod conversation;
mod error;
mod execute_agent;
mod progress;
mod prompt;
mod route;
mod routing;
mod state;
mod supervisor;

pub use builder::SupervisorBuilder;
pub use error::{SupervisorBuildError, SupervisorError, SupervisorFault};
pub use progress::SupervisorProgress;
pub use state::{SupervisorState, SupervisorStateUpdate};
pub use supervisor::{Supervisor, Undecided};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
