//! The errors of building and of running a swarm.

use std::fmt;

use hanok_graph::{BuildError, StepError, SubgraphError};
use thiserror::Error;

use crate::{error::listed, member::run::AgentFailure};

/// The error of a node that cannot go on. The thread can be resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SwarmError {
    /// The thread belongs to an agent that is not one of the swarm: it was stored by another build.
    #[error("the thread's active agent `{}` is not in the swarm; there are {}", active.escape_debug(), listed(members))]
    UnknownActive {
        /// The agent that has the thread.
        active: String,
        /// The agents there are.
        members: Vec<String>,
    },
    /// An agent could not go on, or waits for a person.
    #[error("agent `{agent}` did not come to an end")]
    Agent {
        /// The agent.
        agent: String,
        /// The cause.
        source: SubgraphError,
    },
    /// The run was asked to stop while an agent worked.
    #[error("agent `{agent}` was stopped")]
    Stopped {
        /// The agent.
        agent: String,
    },
    /// A summary could not be kept.
    #[error("a step of the swarm could not be kept")]
    Step(#[source] StepError),
}

impl SwarmError {
    pub(crate) fn of(failure: AgentFailure, agent: &str) -> Self {
        let agent = agent.to_owned();
        match failure {
            AgentFailure::Failed(source) => Self::Agent { agent, source },
            AgentFailure::Stopped | AgentFailure::Limit(_) => Self::Stopped { agent },
        }
    }
}

/// The faults of a swarm, all at once.
#[derive(Debug, Error)]
pub struct SwarmBuildError {
    /// The faults.
    pub faults: Vec<SwarmFault>,
}

impl fmt::Display for SwarmBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the swarm cannot be built")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))
    }
}

/// One fault of a swarm.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SwarmFault {
    /// There is nobody to have the thread.
    #[error("it has no agents")]
    NoAgents,
    /// Two agents have one name.
    #[error("two agents are named `{agent}`")]
    TwiceNamed {
        /// The name.
        agent: String,
    },
    /// The agent that is to begin is not there.
    #[error("`{agent}` is to begin and is not one of its agents; there are {}", listed(members))]
    UnknownFirst {
        /// The name.
        agent: String,
        /// The agents there are.
        members: Vec<String>,
    },
    /// An agent hands over to one that is not there.
    #[error(
        "agent `{agent}` hands over to `{to}`, which is not one of its agents; there are {}",
        listed(members)
    )]
    UnknownTarget {
        /// The agent.
        agent: String,
        /// To whom.
        to: String,
        /// The agents there are.
        members: Vec<String>,
    },
    /// An agent hands over with a summary, and nobody makes one.
    #[error(
        "agent `{agent}` hands over to `{to}` with a summary; say who makes it with `.summariser(…)`"
    )]
    NoSummariser {
        /// The agent.
        agent: String,
        /// To whom.
        to: String,
    },
    /// Its graph cannot be built.
    #[error("{0}")]
    Graph(#[from] BuildError),
}
