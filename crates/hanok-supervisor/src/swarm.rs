//! A swarm: agents that hand a thread to one another, and the last one keeps it.
//!
//! - `builder`: the parts of a swarm, checked.
//! - `settings`: those parts, which the nodes share.
//! - `state`: the state of a thread.
//! - `take_turn`: the node of each agent.
//! - `error`: the errors of building and of running a swarm.

pub(crate) mod builder;
pub(crate) mod error;
mod settings;
pub(crate) mod state;
mod take_turn;

use std::{fmt, sync::Arc};

use hanok_agent::{Language, Protocol};
use hanok_core::BoxFuture;
use hanok_graph::{Context, Drawing, END, Graph, Runtime, START, Snapshot};
use hanok_state::{Message, State};

use self::{
    error::{SwarmBuildError, SwarmFault},
    settings::SwarmSettings,
    state::{SwarmState, SwarmStateUpdate},
    take_turn::{SwarmMember, take_turn},
};
use crate::member::{
    Member, MemberInput, MemberOutput,
    run::{AgentFailure, AnyMember, MemberRun, run_graph},
};

/// Agents that hand a thread to one another by calls ([`HandoffTool`](hanok_agent::HandoffTool)), without a model above
/// them. The agent that a thread was handed to keeps it: the next turn is its own. Clones are the same swarm.
///
/// ```text
/// START -> the active agent -> another one -> … -> END
/// ```
///
/// Each agent is a node that runs the agent as a subgraph. Its messages become a part of the conversation; the hand-off says
/// which part of them another agent sees, in later turns too.
///
/// ```
/// use hanok_agent::{HandoffTool, ReactAgent};
/// use hanok_model::{Exchange, ScriptedModel};
/// use hanok_supervisor::Swarm;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let model = ScriptedModel::new([
///     Exchange::says("Action: transfer_to_billing\nAction Input: {\"task\": \"refund the order\"}"),
///     Exchange::says("Final Answer: It is on its way.").contains("Task: refund the order"),
/// ]);
/// let front = ReactAgent::builder("front", "Takes calls", model.clone())
///     .handoff(HandoffTool::to("billing", "Knows invoices"))
///     .build()?;
/// let billing = ReactAgent::builder("billing", "Knows invoices", model).build()?;
/// let swarm = Swarm::builder().agent(front).agent(billing).build()?;
///
/// let state = swarm.graph().invoke(swarm.ask("My money, please."), ()).await?.done()?;
/// assert_eq!(state.answer.as_deref(), Some("It is on its way."));
/// assert_eq!((state.active.as_str(), state.hops), ("billing", 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Swarm<C: Send + Sync + 'static = ()> {
    settings: Arc<SwarmSettings<C>>,
    graph: Graph<SwarmState, C>,
}

impl<C: Send + Sync + 'static> fmt::Debug for Swarm<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Swarm").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<C: Send + Sync + 'static> Clone for Swarm<C> {
    fn clone(&self) -> Self {
        Self { settings: self.settings.clone(), graph: self.graph.clone() }
    }
}

impl<C: Send + Sync + 'static> Swarm<C> {
    fn new(
        name: &str,
        settings: SwarmSettings<C>,
        runtime: Runtime,
    ) -> Result<Self, SwarmBuildError> {
        let settings = Arc::new(settings);
        let names: Vec<_> = settings.agents.iter().map(|agent| agent.name().to_owned()).collect();
        let begins = settings.clone();
        let begin = move |state: &SwarmState| begins.active(state).map(str::to_owned);
        let mut graph = Graph::<SwarmState, C>::builder(name).branch(START, begin, &names);
        for agent in &settings.agents {
            let member = Arc::new(SwarmMember { swarm: settings.clone(), agent: agent.clone() });
            let node = move |state: Snapshot<SwarmState>, context: Context<C>| {
                take_turn(member.clone(), state, context)
            };
            let targets = names.iter().map(String::as_str).chain([END]);
            graph = graph.node(agent.name(), node).branch(agent.name(), next_agent, targets);
        }
        let steps = settings.max_hops.saturating_add(2);
        match graph.recursion_limit(steps.max(100)).runtime(runtime).build() {
            Ok(graph) => Ok(Self { settings, graph }),
            Err(error) => Err(SwarmBuildError { faults: vec![SwarmFault::Graph(error)] }),
        }
    }

    /// The purpose, in words for the model of a supervisor above it.
    pub fn description(&self) -> &str {
        &self.settings.description
    }

    /// The agents.
    pub fn agents(&self) -> &[Member<C>] {
        &self.settings.agents
    }

    /// The swarm as a graph: run it, or give it a checkpointer for conversations that last.
    pub fn graph(&self) -> &Graph<SwarmState, C> {
        &self.graph
    }

    /// The drawing of its graph, with those of its agents in it.
    pub fn drawing(&self) -> Drawing {
        let agents = self.agents().iter();
        agents.fold(self.graph.drawing(), |whole, agent| whole.calls(agent.name(), agent.drawing()))
    }

    /// The input of a turn in which a user says `text`. The agent that has the thread takes it.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::Swarm;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Exchange::says("Final Answer: 15 days")]);
    /// let rules = ReactAgent::builder("rules", "Knows the rules", model).build()?;
    /// let swarm = Swarm::builder().agent(rules).build()?;
    /// let state = swarm.graph().invoke(swarm.ask("How much leave?"), ()).await?.done()?;
    /// assert_eq!((state.active.as_str(), state.answer.as_deref()), ("rules", Some("15 days")));
    /// # Ok(())
    /// # }
    /// ```
    pub fn ask(&self, text: impl Into<String>) -> SwarmStateUpdate {
        self.input([Message::user(text.into())])
    }

    fn input(&self, messages: impl IntoIterator<Item = Message>) -> SwarmStateUpdate {
        let said = messages.into_iter().fold(SwarmState::update(), SwarmStateUpdate::message);
        said.hops(0).answer(None).stopped(None)
    }
}

/// Under the swarm's [name](crate::SwarmBuilder::name) and [description](crate::SwarmBuilder::description). Its first agent
/// begins whenever it is run.
impl<C: Send + Sync + 'static> From<Swarm<C>> for Member<C> {
    fn from(swarm: Swarm<C>) -> Self {
        Self::team(swarm)
    }
}

impl<C: Send + Sync + 'static> AnyMember<C> for Swarm<C> {
    fn name(&self) -> &str {
        self.graph.name()
    }

    fn description(&self) -> &str {
        self.description()
    }

    fn language(&self) -> Option<Language> {
        self.agents().iter().find_map(Member::language)
    }

    fn protocol(&self) -> Option<Protocol> {
        self.agents().iter().find_map(Member::protocol)
    }

    fn drawing(&self) -> Drawing {
        self.drawing()
    }

    fn run<'a>(
        &'a self,
        input: MemberInput,
        name: Option<&'a str>,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<MemberRun, AgentFailure>> {
        Box::pin(async move {
            let input_len = input.messages.len();
            let ended = run_graph(&self.graph, self.input(input.messages), name, context).await?;
            let (state, stopped) = ended.with_reason(|state| state.stopped);
            let (answer, messages) = (state.answer, state.messages);
            let (words, calls, handoff) = (None, None, None);
            let output = MemberOutput::of_messages(messages.iter().skip(input_len));
            Ok(MemberRun { answer, stopped, words, calls, messages, input_len, handoff, output })
        })
    }
}

/// The node after a turn of an agent: the agent that it was handed to, or the end.
fn next_agent(state: &SwarmState) -> String {
    if state.stopped.is_some() { END.to_owned() } else { state.active.clone() }
}
