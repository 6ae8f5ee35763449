//! The reasons why a team supervisor cannot be built, or cannot go on.

use std::fmt;

use hanok_core::BoxError;
use hanok_graph::{BuildError, StepError, SubgraphError};
use thiserror::Error;

/// The reason why a team supervisor could not go on. A team that fails is none: the turn goes on without it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TeamError {
    /// A team waits for a person, stops with its run, or was let down by the store.
    #[error("the team of step `{step}` did not come to an end")]
    Team {
        /// The step.
        step: String,
        /// The cause.
        source: SubgraphError,
    },
    /// The run was asked to stop while a team worked.
    #[error("the team of step `{step}` was stopped")]
    Stopped {
        /// The step.
        step: String,
    },
    /// A memoised step could not be made or stored.
    #[error("a step of the team supervisor could not be kept")]
    Step(#[source] StepError),
    /// What is remembered of the user could not be read or handed on.
    #[error("the memory of the user failed")]
    Memory(#[source] BoxError),
}

/// The faults of a team supervisor, all at once.
#[derive(Debug, Error)]
pub struct TeamBuildError {
    /// The faults.
    pub faults: Vec<TeamFault>,
}

impl fmt::Display for TeamBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the team supervisor cannot be built")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))
    }
}

/// One fault of a team supervisor.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TeamFault {
    /// There is nobody to work.
    #[error("it has no teams")]
    NoTeams,
    /// A name cannot be written in a plan.
    #[error(
        "a team cannot be named {team:?}: it takes 1 to 64 characters without control characters"
    )]
    Name {
        /// The name.
        team: String,
    },
    /// The model could not tell what a team is for.
    #[error("team `{team}` has no description: say what it is for")]
    NoDescription {
        /// The team.
        team: String,
    },
    /// Two teams have one name.
    #[error("two teams are named `{team}`")]
    TwiceNamed {
        /// The name.
        team: String,
    },
    /// A team works on the result of one that is not there.
    #[error("team `{team}` needs `{need}`, which is none of the teams; there are {}", listed(.teams))]
    UnknownNeed {
        /// The team.
        team: String,
        /// What it needs.
        need: String,
        /// The teams that there are.
        teams: Vec<String>,
    },
    /// Teams wait for each other.
    #[error("the teams {} wait for each other", listed(.teams))]
    Circle {
        /// The teams.
        teams: Vec<String>,
    },
    /// A team has no time.
    #[error("team `{team}` has no time: give it a time-out above zero")]
    NoTime {
        /// The team.
        team: String,
    },
    /// Its graph cannot be built.
    #[error("{0}")]
    Graph(#[from] BuildError),
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
