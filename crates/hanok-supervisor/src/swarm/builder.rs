//! Building a swarm.

use std::{collections::BTreeSet, fmt};

use hanok_agent::{HandoffHistory, HandoffTool, Summariser};
use hanok_graph::Runtime;

use super::{
    Swarm,
    error::{SwarmBuildError, SwarmFault},
    settings::SwarmSettings,
};
use crate::member::Member;

/// The default number of hand-offs in a turn.
const MAX_HOPS: u32 = 8;

/// Builds a [`Swarm`].
#[must_use]
pub struct SwarmBuilder<C: Send + Sync + 'static = ()> {
    name: String,
    description: String,
    agents: Vec<Member<C>>,
    first: Option<String>,
    summariser: Option<Summariser>,
    max_hops: u32,
    runtime: Runtime,
}

impl<C: Send + Sync + 'static> fmt::Debug for SwarmBuilder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SwarmBuilder")
            .field("name", &self.name)
            .field("agents", &self.agents)
            .finish_non_exhaustive()
    }
}

impl Swarm {
    /// Begins a swarm.
    pub fn builder() -> SwarmBuilder {
        SwarmBuilder::new()
    }
}

impl SwarmBuilder {
    fn new() -> Self {
        Self {
            name: "swarm".to_owned(),
            description: String::new(),
            agents: Vec::new(),
            first: None,
            summariser: None,
            max_hops: MAX_HOPS,
            runtime: Runtime::default(),
        }
    }

    /// Gives the swarm services: what a run is given, such as its user. All agents that are added after this see them; those
    /// before need none. Default: none. [`Member::with_services`] gives one agent others.
    pub fn services<C: Send + Sync + 'static>(self) -> SwarmBuilder<C> {
        let Self { name, description, agents, first, summariser, max_hops, runtime } = self;
        let agents = agents.into_iter().map(|agent| agent.with_services(|_: &C| ())).collect();
        SwarmBuilder { name, description, agents, first, summariser, max_hops, runtime }
    }
}

impl<C: Send + Sync + 'static> SwarmBuilder<C> {
    /// Sets the name: of the graph, for drawings and errors, and as a member of another team. Default: `swarm`.
    ///
    /// ```
    /// # use hanok_agent::ReactAgent;
    /// # use hanok_model::ScriptedModel;
    /// # use hanok_supervisor::Swarm;
    /// # let agent = ReactAgent::builder("front", "Takes calls", ScriptedModel::new([])).build()?;
    /// let swarm = Swarm::builder().name("help_desk").agent(agent).build()?;
    /// assert_eq!(swarm.graph().name(), "help_desk");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets the purpose of the swarm, in words for the model of a supervisor above it. Default: none, and a supervisor
    /// refuses a team without one.
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: description.into(), ..self }
    }

    /// Adds an agent, or a team as one ([`Member`]). To whom it hands over is its own ([`HandoffTool`]).
    ///
    /// ```
    /// # use hanok_agent::{HandoffTool, ReactAgent};
    /// # use hanok_model::ScriptedModel;
    /// # use hanok_supervisor::Swarm;
    /// # let model = ScriptedModel::new([]);
    /// let sales = ReactAgent::builder("sales", "Sells", model.clone()).build()?;
    /// let front = ReactAgent::builder("front", "Takes calls", model).handoff(HandoffTool::to("sales", "What is to be sold")).build()?;
    /// let swarm = Swarm::builder().agent(front).agent(sales).build()?;
    /// # let _ = swarm;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn agent(mut self, agent: impl Into<Member<C>>) -> Self {
        self.agents.push(agent.into());
        self
    }

    /// Adds agents, in this order.
    pub fn agents(mut self, agents: impl IntoIterator<Item: Into<Member<C>>>) -> Self {
        self.agents.extend(agents.into_iter().map(Into::into));
        self
    }

    /// Sets the agent that has a thread before any is active. Default: the first that was added.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::ScriptedModel;
    /// use hanok_supervisor::{Swarm, SwarmFault};
    ///
    /// let agent = ReactAgent::builder("front", "Takes calls", ScriptedModel::new([])).build()?;
    /// let error = Swarm::builder().agent(agent).first("billing").build().unwrap_err();
    /// assert!(matches!(&error.faults[..], [SwarmFault::UnknownFirst { agent, .. }] if agent == "billing"));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn first(self, agent: impl Into<String>) -> Self {
        Self { first: Some(agent.into()), ..self }
    }

    /// Sets the maker of summaries, for [`HandoffHistory::Summary`]. Without one, an agent that hands over with a summary is
    /// refused.
    ///
    /// ```
    /// use hanok_agent::{HandoffHistory, HandoffTool, Language, ReactAgent, Summariser};
    /// use hanok_model::ScriptedModel;
    /// use hanok_supervisor::Swarm;
    ///
    /// let model = ScriptedModel::new([]);
    /// let billing = HandoffTool::to("billing", "Knows invoices").history(HandoffHistory::Summary);
    /// let front = ReactAgent::builder("front", "Takes calls", model.clone()).handoff(billing).build()?;
    /// let billing = ReactAgent::builder("billing", "Knows invoices", model.clone()).build()?;
    /// let swarm = Swarm::builder().agents([front, billing]);
    /// // Without a summariser the hand-off is a fault.
    /// let swarm = swarm.summariser(Summariser::model(model, Language::English)).build()?;
    /// assert_eq!(swarm.agents().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn summariser(self, summariser: Summariser) -> Self {
        Self { summariser: Some(summariser), ..self }
    }

    /// Limits the hand-offs of a turn. Default: 8.
    ///
    /// A turn that is handed over once more ends with [`StopReason::HopLimit`](hanok_agent::StopReason::HopLimit); the agent
    /// that it was handed to takes the next one.
    ///
    /// ```
    /// use hanok_agent::{HandoffTool, ReactAgent, StopReason};
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::Swarm;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let over = |to: &str| Exchange::says(format!("Action: transfer_to_{to}\nAction Input: {{\"task\": \"?\"}}"));
    /// let model = ScriptedModel::new([over("b"), over("a")]);
    /// let agent = |name: &str, to: &str| {
    ///     ReactAgent::builder(name, "", model.clone()).handoff(HandoffTool::to(to, "")).build()
    /// };
    /// let swarm = Swarm::builder().agents([agent("a", "b")?, agent("b", "a")?]).max_hops(1).build()?;
    /// let state = swarm.graph().invoke(swarm.ask("?"), ()).await?.done()?;
    /// assert_eq!((state.stopped, state.active.as_str()), (Some(StopReason::HopLimit), "a"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_hops(self, max_hops: u32) -> Self {
        Self { max_hops, ..self }
    }

    /// Sets the clock, the ids and the randomness, for the agents too. Default: the system's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// The swarm, checked.
    ///
    /// # Errors
    ///
    /// [`SwarmBuildError`] with every fault there is.
    pub fn build(self) -> Result<Swarm<C>, SwarmBuildError> {
        let faults = self.faults();
        if !faults.is_empty() {
            return Err(SwarmBuildError { faults });
        }
        let first = self.first.or_else(|| Some(self.agents.first()?.name().to_owned()));
        let settings = SwarmSettings {
            description: self.description,
            agents: self.agents,
            first: first.unwrap_or_default(),
            summariser: self.summariser,
            max_hops: self.max_hops,
        };
        Swarm::new(&self.name, settings, self.runtime)
    }

    fn faults(&self) -> Vec<SwarmFault> {
        let (mut names, mut faults) = (BTreeSet::new(), Vec::new());
        if self.agents.is_empty() {
            faults.push(SwarmFault::NoAgents);
        }
        let twice = self.agents.iter().map(Member::name).filter(|name| !names.insert(*name));
        faults.extend(twice.map(|name| SwarmFault::TwiceNamed { agent: name.to_owned() }));
        let members = || self.agents.iter().map(|agent| agent.name().to_owned()).collect();
        let first = self.first.as_deref().filter(|first| !names.contains(first));
        faults.extend(
            first.map(|first| SwarmFault::UnknownFirst {
                agent: first.to_owned(),
                members: members(),
            }),
        );
        for agent in &self.agents {
            let from = || agent.name().to_owned();
            let to = |handoff: &HandoffTool| handoff.target().to_owned();
            faults.extend(agent.handoffs().filter_map(|handoff| {
                if !names.contains(handoff.target()) {
                    let (agent, to) = (from(), to(handoff));
                    return Some(SwarmFault::UnknownTarget { agent, to, members: members() });
                }
                let asks = handoff.passes() == HandoffHistory::Summary && self.summariser.is_none();
                asks.then(|| SwarmFault::NoSummariser { agent: from(), to: to(handoff) })
            }));
        }
        faults
    }
}
