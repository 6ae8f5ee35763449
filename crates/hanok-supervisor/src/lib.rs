//! Several agents on one thread: a supervisor that routes, and a swarm that hands over.
//!
//! A [`Supervisor`] has a model of its own, which delegates to one agent after the other until it has the answer. In a
//! [`Swarm`] no model stands above the agents: they hand the thread to one another, and the last one keeps it.
//!
//! A member of either is an agent, another supervisor, another swarm, or a graph of one's own: a [`Member`].
//!
//! The supervisor:
//!
//! | node | does | goes on to |
//! | --- | --- | --- |
//! | `supervisor` | asks the model for a route: a delegation with a task, or the final answer | `execute_agent`, or the end |
//! | `execute_agent` | runs the chosen agent, and those it hands over to, as subgraphs; of several at once each is a task | `supervisor` |
//!
//! - A new message of the user begins a turn ([`Supervisor::ask`]): only the messages last.
//! - Results of agents are data: the model reads them between marks that nobody can guess, in one message before the last
//!   one of the user, and never in the system prompt.
//! - A delegation to an agent that is not there is answered with the names of those that are; twice in a row is a typed
//!   error ([`SupervisorError::UndeclaredAgent`]).
//! - The routing calls and the delegations of a turn are limited; at a limit it ends with the best result and says so.
//! - Options set the part of the conversation that an agent sees ([`SupervisorBuilder::history`]), the part of its work that
//!   comes back ([`SupervisorBuilder::output`]), the fate of the routing replies ([`SupervisorBuilder::keep_routing`]) and
//!   delegations that run at once ([`SupervisorBuilder::parallel`]).
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

mod agent_result;
mod builder;
mod conversation;
mod error;
mod member;
mod native;
mod nodes;
mod progress;
mod prompt;
mod route;
mod selection;
mod settings;
mod state;
mod supervisor;
mod swarm;

// The crates whose types stand in what this one says.
pub use hanok_agent as agent;
pub use hanok_core as core;
pub use hanok_graph as graph;
pub use hanok_model as model;

pub use builder::SupervisorBuilder;
pub use error::{SupervisorBuildError, SupervisorError, SupervisorFault};
pub use member::{AgentFailure, Member, MemberInput, MemberOutput, MemberRun};
pub use progress::SupervisorProgress;
pub use settings::{OutputMode, Unasked, Undecided};
pub use state::{SupervisorState, SupervisorStateUpdate};
pub use supervisor::Supervisor;
pub use swarm::{
    Swarm,
    builder::SwarmBuilder,
    error::{SwarmBuildError, SwarmError, SwarmFault},
    state::{SwarmState, SwarmStateUpdate},
};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
