//! The members of a supervisor or a swarm.
//!
//! - `run`: a member's run, as a part of a task.
//! - `mapped`: a member with other services than its team.
//! - `input`, `output`: what a member is given, and what it brings.
//! - `agent`, `graph`: an agent, and a graph of one's own, as a member. A supervisor and a swarm are that in their own files.

mod agent;
mod graph;
mod input;
mod mapped;
pub(crate) mod output;
pub(crate) mod run;

use std::{any::Any, fmt, sync::Arc};

use hanok_agent::{AgentState, HandoffTool, HasAgent, Language, Protocol, ReactAgent};
use hanok_graph::{Context, Drawing, Graph};
use hanok_state::{Message, State};

use self::{graph::OwnGraph, mapped::Mapped, run::AnyMember};
pub use self::{
    input::MemberInput,
    output::MemberOutput,
    run::{AgentFailure, MemberRun},
};

/// The longest name of a member, in characters.
const LONGEST_NAME: usize = 64;

/// A member of a [`Supervisor`](crate::Supervisor) or a [`Swarm`](crate::Swarm): an agent, a supervisor, a swarm, or a graph of one's own
/// ([`Member::graph`]). Clones are the same member.
///
/// Each runs as a subgraph, in a namespace of the thread's log, however deep teams stand in teams. A question that is asked
/// in one is a question of the whole thread.
///
/// ```
/// use hanok_agent::ReactAgent;
/// use hanok_model::{Exchange, ScriptedModel};
/// use hanok_supervisor::Supervisor;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     Exchange::says("Delegate: research\nTask: find the annual leave"),
///     Exchange::says("Delegate: rules\nTask: look it up").contains("Task: find the annual leave"),
///     Exchange::says("Final Answer: 15 days"),
///     Exchange::says("Final Answer: It is 15 days."),
///     Exchange::says("Final Answer: You have 15 days.").contains("result: It is 15 days."),
/// ]);
/// let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
/// let research = Supervisor::builder(model.clone()).name("research").description("Finds things").agent(rules);
/// let top = Supervisor::builder(model).agent(research.build()?).build()?;
///
/// let state = top.graph().invoke(top.ask("How much leave do I have?"), ()).await?.done()?;
/// assert_eq!(state.answer.as_deref(), Some("You have 15 days."));
/// # Ok(())
/// # }
/// ```
pub struct Member<C: Send + Sync + 'static = ()> {
    member: Arc<dyn AnyMember<C>>,
    /// The members that it may hand over to, if it is an agent.
    handoffs: Option<Vec<HandoffTool>>,
    /// It again, if it is an agent without a state of its own.
    agent: Option<ReactAgent<AgentState, C>>,
}

impl<C: Send + Sync + 'static> fmt::Debug for Member<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("member", &self.member).finish_non_exhaustive()
    }
}

impl<C: Send + Sync + 'static> Clone for Member<C> {
    fn clone(&self) -> Self {
        let Self { member, handoffs, agent } = self;
        Self { member: member.clone(), handoffs: handoffs.clone(), agent: agent.clone() }
    }
}

impl<S: HasAgent, C: Send + Sync + 'static> From<ReactAgent<S, C>> for Member<C> {
    fn from(agent: ReactAgent<S, C>) -> Self {
        let handoffs = Some(agent.handoffs().cloned().collect());
        let plain = (&agent as &dyn Any).downcast_ref::<ReactAgent<AgentState, C>>().cloned();
        Self { member: Arc::new(agent), handoffs, agent: plain }
    }
}

impl<C: Send + Sync + 'static> Member<C> {
    /// A graph of one's own as a member: `input` makes its input, and `output` reads the result in its last state: a text,
    /// none, or a [`MemberOutput`] with the data behind it.
    ///
    /// ```
    /// use hanok_graph::{BoxError, Context, END, Graph, START, Snapshot};
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_state::State;
    /// use hanok_supervisor::{Member, Supervisor};
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Count {
    ///     text: String,
    ///     letters: u64,
    /// }
    ///
    /// async fn count(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, BoxError> {
    ///     Ok(Count::update().letters(u64::try_from(state.text.chars().count())?))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let graph = Graph::<Count>::builder("count").node("count", count).edge(START, "count").edge("count", END).build()?;
    /// let counter = Member::graph(
    ///     "counter",
    ///     "Counts the letters of its task",
    ///     graph,
    ///     |input| Count::update().text(input.text()),
    ///     |state| format!("{} letters", state.letters),
    /// );
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Delegate: counter\nTask: hanok"),
    ///     Exchange::says("Final Answer: It has five.").contains("result: 5 letters"),
    /// ]);
    /// let supervisor = Supervisor::builder(model).agent(counter).build()?;
    /// let state = supervisor.graph().invoke(supervisor.ask("How long is hanok?"), ()).await?.done()?;
    /// assert_eq!(state.answer.as_deref(), Some("It has five."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn graph<S: State, A: Into<MemberOutput> + 'static>(
        name: impl Into<String>,
        description: impl Into<String>,
        graph: Graph<S, C>,
        input: impl Fn(MemberInput) -> S::Update + Send + Sync + 'static,
        output: impl Fn(S) -> A + Send + Sync + 'static,
    ) -> Self {
        let (name, description) = (name.into(), description.into());
        Self::team(OwnGraph { name, description, graph, input, output })
    }

    /// A member that is no agent.
    pub(crate) fn team(team: impl AnyMember<C> + 'static) -> Self {
        Self { member: Arc::new(team), handoffs: None, agent: None }
    }

    /// The name, by which it is delegated and handed over to.
    pub fn name(&self) -> &str {
        self.member.name()
    }

    /// The purpose, in words for a supervisor's model.
    pub fn description(&self) -> &str {
        self.member.description()
    }

    /// The same for a team with other services: `services` makes this member's of the team's. Default: the team's own.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::ScriptedModel;
    /// use hanok_supervisor::{Member, Supervisor};
    ///
    /// struct App {
    ///     user: String,
    /// }
    ///
    /// let model = ScriptedModel::new([]);
    /// let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).services::<String>().build()?;
    /// let rules = Member::from(rules).with_services(|app: &App| app.user.clone());
    /// let team = Supervisor::builder(model).services::<App>().agent(rules).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_services<D: Send + Sync + 'static>(
        self,
        services: impl Fn(&D) -> C + Send + Sync + 'static,
    ) -> Member<D> {
        let handoffs = self.handoffs.clone();
        Member { member: Arc::new(Mapped { member: self, services }), handoffs, agent: None }
    }

    /// The agent, if it is one without a state of its own, and with the services of its team.
    pub fn as_agent(&self) -> Option<&ReactAgent<AgentState, C>> {
        self.agent.as_ref()
    }

    /// The drawing of its graph, and in it those of its own members.
    pub fn drawing(&self) -> Drawing {
        self.member.drawing()
    }

    /// Runs it on `messages` as a subgraph, to its end.
    pub(crate) async fn run(
        &self,
        messages: Vec<Message>,
        context: &Context<C>,
    ) -> Result<MemberRun, AgentFailure> {
        self.member.run(MemberInput::new(messages), None, context).await
    }

    /// Runs it on `input` as the run `name` of this task, to its end: for a coordinator of members that is not of this crate.
    ///
    /// # Errors
    ///
    /// [`AgentFailure`] when it came to no end.
    pub async fn run_named(
        &self,
        name: &str,
        input: MemberInput,
        context: &Context<C>,
    ) -> Result<MemberRun, AgentFailure> {
        self.member.run(input, Some(name), context).await
    }

    /// The members that it may hand over to, and how. Only an agent hands over to those beside it.
    pub(crate) fn handoffs(&self) -> impl Iterator<Item = &HandoffTool> {
        self.handoffs.iter().flatten()
    }

    /// The protocol of its calls, if it has a model of its own.
    pub(crate) fn protocol(&self) -> Option<Protocol> {
        self.member.protocol()
    }

    /// The language of what it is told, if it has one.
    pub(crate) fn language(&self) -> Option<Language> {
        self.member.language()
    }

    /// True for a name that can be written in a delegation.
    pub fn is_named(&self) -> bool {
        let name = self.name();
        let is_long = name.chars().count() > LONGEST_NAME;
        !name.trim().is_empty() && !is_long && !name.contains(char::is_control)
    }

    /// True if a supervisor's model could not tell what it is for. An agent says more in its name.
    pub(crate) fn lacks_description(&self) -> bool {
        self.handoffs.is_none() && self.description().trim().is_empty()
    }
}
