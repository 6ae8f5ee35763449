//! One team of a team supervisor.

use std::{fmt, time::Duration};

use hanok_agent::{HasAgent, ReactAgent};

use hanok_supervisor::{Member, Supervisor, Swarm};

/// The time that a team has, if nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A team of a [`TeamSupervisor`](crate::TeamSupervisor): a [`Member`], and what it needs of the others.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_agent::ReactAgent;
/// use hanok_model::ScriptedModel;
/// use hanok_supervisor::Member;
/// use hanok_team::Team;
///
/// let agent = ReactAgent::builder("analysis", "Compares prices", ScriptedModel::new([])).build()?;
/// let analysis: Team = Team::new(agent).needs(["search"]).timeout(Duration::from_secs(20));
/// # drop(analysis);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct Team<C: Send + Sync + 'static = ()> {
    pub(crate) member: Member<C>,
    pub(crate) needs: Vec<String>,
    pub(crate) takes_if_there: Vec<String>,
    pub(crate) timeout: Duration,
    pub(crate) asks: bool,
    pub(crate) acts: bool,
}

impl<C: Send + Sync + 'static> Team<C> {
    /// A team that needs no other one.
    pub fn new(member: impl Into<Member<C>>) -> Self {
        let (needs, takes_if_there) = (Vec::new(), Vec::new());
        Self {
            member: member.into(),
            needs,
            takes_if_there,
            timeout: TIMEOUT,
            asks: false,
            acts: false,
        }
    }

    /// The teams whose results it cannot work without. It begins when they have one, and not at all when they have none.
    pub fn needs(self, teams: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { needs: teams.into_iter().map(Into::into).collect(), ..self }
    }

    /// The teams whose results it works on where the plan has them. It waits for their ends, and begins without what they do not have.
    pub fn takes_if_there(self, teams: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { takes_if_there: teams.into_iter().map(Into::into).collect(), ..self }
    }

    /// Limits its time. Time in which a person is asked does not count. Default: 60 seconds.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Says that it may ask a person. A plan that is made without a model leaves it out, and a what-if skips it unless
    /// [`WhatIf::with_effects`](crate::WhatIf::with_effects) lets it. Default: it asks nobody.
    pub fn asks(self) -> Self {
        Self { asks: true, ..self }
    }

    /// Says that it does more than read. A plan that is made without a model leaves it out, and a what-if skips it unless
    /// [`WhatIf::with_effects`](crate::WhatIf::with_effects) lets it. Default: it only reads.
    pub fn acts(self) -> Self {
        Self { acts: true, ..self }
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.member.name()
    }
}

impl<C: Send + Sync + 'static> From<Member<C>> for Team<C> {
    fn from(member: Member<C>) -> Self {
        Self::new(member)
    }
}

impl<S: HasAgent, C: Send + Sync + 'static> From<ReactAgent<S, C>> for Team<C> {
    fn from(agent: ReactAgent<S, C>) -> Self {
        Self::new(agent)
    }
}

impl<C: Send + Sync + 'static> From<Supervisor<C>> for Team<C> {
    fn from(supervisor: Supervisor<C>) -> Self {
        Self::new(supervisor)
    }
}

impl<C: Send + Sync + 'static> From<Swarm<C>> for Team<C> {
    fn from(swarm: Swarm<C>) -> Self {
        Self::new(swarm)
    }
}

impl<C: Send + Sync + 'static> fmt::Debug for Team<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team")
            .field("member", &self.member)
            .field("needs", &self.needs)
            .field("takes_if_there", &self.takes_if_there)
            .field("timeout", &self.timeout)
            .field("asks", &self.asks)
            .field("acts", &self.acts)
            .finish_non_exhaustive()
    }
}
