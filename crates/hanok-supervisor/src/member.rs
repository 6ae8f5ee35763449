//! The members of a supervisor or a swarm.
//!
//! - `run`: a member's run, as a part of a task.
//! - `agent`, `graph`: an agent, and a graph of one's own, as a member. A supervisor and a swarm are that in their own files.

mod agent;
mod graph;
pub(crate) mod run;

use std::sync::Arc;

use hanok_agent::{HandoffTool, Language, ReactAgent};
use hanok_graph::{Context, Drawing, Graph};
use hanok_state::{Message, State};

pub use self::graph::MemberInput;
use self::{
    graph::OwnGraph,
    run::{AgentFailure, AnyMember, MemberRun},
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
#[derive(Debug, Clone)]
pub struct Member {
    member: Arc<dyn AnyMember>,
    /// It again, if it is an agent.
    agent: Option<ReactAgent>,
}

impl From<ReactAgent> for Member {
    fn from(agent: ReactAgent) -> Self {
        Self { member: Arc::new(agent.clone()), agent: Some(agent) }
    }
}

impl Member {
    /// A graph of one's own as a member: `input` makes its input, and `output` reads the result in its last state: a text,
    /// or none.
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
    pub fn graph<S: State, A: Into<Option<String>> + 'static>(
        name: impl Into<String>,
        description: impl Into<String>,
        graph: Graph<S>,
        input: impl Fn(MemberInput) -> S::Update + Send + Sync + 'static,
        output: impl Fn(S) -> A + Send + Sync + 'static,
    ) -> Self {
        let (name, description) = (name.into(), description.into());
        Self::team(OwnGraph { name, description, graph, input, output })
    }

    /// A member that is no agent.
    pub(crate) fn team(team: impl AnyMember + 'static) -> Self {
        Self { member: Arc::new(team), agent: None }
    }

    /// The name, by which it is delegated and handed over to.
    pub fn name(&self) -> &str {
        self.member.name()
    }

    /// The purpose, in words for a supervisor's model.
    pub fn description(&self) -> &str {
        self.member.description()
    }

    /// The agent, if it is one.
    pub fn as_agent(&self) -> Option<&ReactAgent> {
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
        context: &Context,
    ) -> Result<MemberRun, AgentFailure> {
        self.member.run(messages, context).await
    }

    /// The members that it may hand over to, and how. Only an agent hands over to those beside it.
    pub(crate) fn handoffs(&self) -> impl Iterator<Item = &HandoffTool> {
        self.as_agent().into_iter().flat_map(ReactAgent::handoffs)
    }

    /// The language of what it is told, if it has one.
    pub(crate) fn language(&self) -> Option<Language> {
        self.member.language()
    }

    /// True for a name that can be written in a delegation.
    pub(crate) fn is_named(&self) -> bool {
        let name = self.name();
        let is_long = name.chars().count() > LONGEST_NAME;
        !name.trim().is_empty() && !is_long && !name.contains(char::is_control)
    }

    /// True if a supervisor's model could not tell what it is for. An agent says more in its name.
    pub(crate) fn lacks_description(&self) -> bool {
        self.as_agent().is_none() && self.description().trim().is_empty()
    }
}
