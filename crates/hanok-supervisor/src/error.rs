//! The errors of building and of running a supervisor.

use std::fmt;

use hanok_core::StoredError;
use hanok_graph::{BuildError, StepError, SubgraphError};
use hanok_model::ModelError;
use hanok_parse::ParseError;
use thiserror::Error;

/// The error of a node that cannot go on. The thread can be resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SupervisorError {
    /// The model did not answer.
    #[error("the supervisor's model did not answer")]
    Model(#[source] ModelError),
    /// The model delegated to an agent that is not there, also after a correction with the names of those that are.
    #[error("the supervisor's model delegates to `{}`, which is not there, though it was told that there are {}", name.escape_debug(), listed(members))]
    UndeclaredAgent {
        /// The agent it named.
        name: String,
        /// The agents there are.
        members: Vec<String>,
    },
    /// The model wrote twice what is neither a delegation nor an answer.
    #[error("the supervisor's model wrote twice what cannot be read")]
    Unreadable(#[source] ParseError),
    /// The model called twice what does not delegate.
    #[error("the supervisor's model called twice what delegates to nobody: {0}")]
    BadCall(String),
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
    /// A delegation was stored in another shape than this build's.
    #[error("a delegation cannot be read")]
    Delegation(#[source] StoredError),
    /// A memoised step could not be stored.
    #[error("a step of the supervisor could not be kept")]
    Step(#[source] StepError),
}

/// The faults of a supervisor, all at once.
#[derive(Debug, Error)]
pub struct SupervisorBuildError {
    /// The faults.
    pub faults: Vec<SupervisorFault>,
}

impl fmt::Display for SupervisorBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the supervisor cannot be built")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))
    }
}

/// One fault of a supervisor.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SupervisorFault {
    /// There is nobody to delegate to.
    #[error("it has no agents")]
    NoAgents,
    /// A name cannot be written in a delegation.
    #[error(
        "an agent cannot be named {agent:?}: it takes 1 to 64 characters without control characters"
    )]
    Name {
        /// The name.
        agent: String,
    },
    /// The model could not tell what a team, or a graph, is for.
    #[error(
        "`{agent}` is a team without a description; give it a `.name(…)` and say with `.description(…)` what it is for"
    )]
    NoDescription {
        /// Its name.
        agent: String,
    },
    /// Two agents have one name.
    #[error("two agents are named `{agent}`")]
    TwiceNamed {
        /// The name.
        agent: String,
    },
    /// The answers of an agent are to be forwarded that is not there.
    #[error("`.forward([\"{agent}\"])` names none of its agents; there are {}", listed(members))]
    Forwards {
        /// The name.
        agent: String,
        /// The names of its agents.
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
    /// No delegation may be run.
    #[error("it may delegate 0 times; it takes at least 1")]
    NoHops,
    /// The model may never be asked.
    #[error("it may ask its model 0 times; it takes at least 1")]
    NoIterations,
    /// Its graph cannot be built.
    #[error("{0}")]
    Graph(#[from] BuildError),
}

pub(crate) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
