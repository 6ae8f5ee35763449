//! The routing supervisor.

use std::{fmt, sync::Arc};

use hanok_agent::{DataMark, Language, Protocol};
use hanok_core::BoxFuture;
use hanok_graph::{Context, Drawing, END, Graph, Runtime, START, SendTo, Target};
use hanok_state::{Map, Message, State};

use crate::{
    conversation,
    error::{SupervisorBuildError, SupervisorFault},
    member::{
        Member, MemberInput, MemberOutput,
        run::{AgentFailure, AnyMember, MemberRun, run_graph},
    },
    nodes::{choose_agent::choose_agent, execute_agent::execute_agent},
    settings::SupervisorSettings,
    state::{SupervisorState, SupervisorStateUpdate},
};

/// A supervisor of agents and of teams ([`Member`]): its model delegates to one agent at a time, reads the result, and so on until it has the answer.
/// Clones are the same supervisor.
///
/// ```text
/// START -> supervisor -> execute_agent -> supervisor -> … -> END
/// ```
///
/// A delegation is a hand-off that comes back: an agent receives the user's messages
/// ([`history`](crate::SupervisorBuilder::history) selects others) and its task; it runs as a subgraph, in a namespace of
/// the thread's log. An agent that hands over to another one of them ([`HandoffTool`](hanok_agent::HandoffTool)) is
/// followed, and the result of the last one counts. The model and the agents belong to the supervisor. It
/// needs no services, or those that [`services`](crate::SupervisorBuilder::services) names: all its agents see them.
///
/// ```
/// use hanok_agent::ReactAgent;
/// use hanok_model::{Exchange, ScriptedModel};
/// use hanok_supervisor::Supervisor;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let model = ScriptedModel::new([
///     Exchange::says("Delegate: rules\nTask: look up the annual leave"),
///     Exchange::says("Final Answer: 15 days").contains("look up the annual leave"),
///     Exchange::says("Final Answer: You have 15 days.").contains("result: 15 days"),
/// ]);
/// let rules = ReactAgent::builder("rules", "Knows the company's rules", model.clone()).build()?;
/// let supervisor = Supervisor::builder(model).agent(rules).build()?;
///
/// let state = supervisor.graph().invoke(supervisor.ask("How much leave do I have?"), ()).await?.done()?;
/// assert_eq!(state.answer.as_deref(), Some("You have 15 days."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Supervisor<C: Send + Sync + 'static = ()> {
    settings: Arc<SupervisorSettings<C>>,
    graph: Graph<SupervisorState, C>,
}

impl<C: Send + Sync + 'static> fmt::Debug for Supervisor<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<C: Send + Sync + 'static> Clone for Supervisor<C> {
    fn clone(&self) -> Self {
        Self { settings: self.settings.clone(), graph: self.graph.clone() }
    }
}

impl<C: Send + Sync + 'static> Supervisor<C> {
    pub(crate) fn new(
        name: &str,
        settings: SupervisorSettings<C>,
        runtime: Runtime,
    ) -> Result<Self, SupervisorBuildError> {
        let settings = Arc::new(settings);
        let steps = settings.max_iterations.saturating_mul(2).saturating_add(2);
        let graph = Graph::<SupervisorState, C>::builder(name)
            .node("supervisor", settings.node(choose_agent))
            .node("execute_agent", settings.node(execute_agent))
            .edge(START, "supervisor")
            .branch("supervisor", next_after_choice, ["execute_agent", END])
            .edge("execute_agent", "supervisor")
            .recursion_limit(steps.max(100))
            .runtime(runtime)
            .build();
        match graph {
            Ok(graph) => Ok(Self { settings, graph }),
            Err(error) => Err(SupervisorBuildError { faults: vec![SupervisorFault::Graph(error)] }),
        }
    }

    /// The purpose, in words for the model of a supervisor above it.
    pub fn description(&self) -> &str {
        &self.settings.description
    }

    /// The agents, in the order the model reads them.
    pub fn agents(&self) -> &[Member<C>] {
        &self.settings.agents
    }

    /// The system prompt, as the model reads it.
    pub fn system_prompt(&self) -> &str {
        &self.settings.system
    }

    /// The supervisor as a graph: run it, or give it a checkpointer for conversations that last.
    pub fn graph(&self) -> &Graph<SupervisorState, C> {
        &self.graph
    }

    /// The drawing of its graph, with those of its agents in it.
    pub fn drawing(&self) -> Drawing {
        let agents = self.agents().iter().map(Member::drawing);
        agents.fold(self.graph.drawing(), |whole, agent| whole.calls("execute_agent", agent))
    }

    /// The input of a turn in which a user says `text`. It resets everything of an earlier turn but the messages.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::Supervisor;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Exchange::says("Final Answer: Hello!")]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).agent(rules).build()?;
    /// let state = supervisor.graph().invoke(supervisor.ask("Hi."), ()).await?.done()?;
    /// assert_eq!(state.answer.as_deref(), Some("Hello!"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn ask(&self, text: impl Into<String>) -> SupervisorStateUpdate {
        self.input([Message::user(text.into())])
    }

    fn input(&self, messages: impl IntoIterator<Item = Message>) -> SupervisorStateUpdate {
        messages
            .into_iter()
            .fold(SupervisorState::update(), SupervisorStateUpdate::message)
            .current_agent(None)
            .overwrite_agent_outputs(Map::new())
            .iteration(0)
            .max_iterations(self.settings.max_iterations)
            .task(None)
            .delegations(Vec::new())
            .notes(Vec::new())
            .answer(None)
            .stopped(None)
    }
}

/// Under the supervisor's [name](crate::SupervisorBuilder::name) and
/// [description](crate::SupervisorBuilder::description).
impl<C: Send + Sync + 'static> From<Supervisor<C>> for Member<C> {
    fn from(supervisor: Supervisor<C>) -> Self {
        Self::team(supervisor)
    }
}

impl<C: Send + Sync + 'static> AnyMember<C> for Supervisor<C> {
    fn name(&self) -> &str {
        self.graph.name()
    }

    fn description(&self) -> &str {
        self.description()
    }

    fn language(&self) -> Option<Language> {
        Some(self.settings.language)
    }

    fn protocol(&self) -> Option<Protocol> {
        Some(self.settings.protocol())
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
            let mark = DataMark::new(&*context.runtime().rng);
            let messages = conversation::with_calls_as_data(input.messages, &mark);
            let input_len = messages.len();
            let ended = run_graph(&self.graph, self.input(messages), name, context).await?;
            let (state, stopped) = ended.with_reason(|state| state.stopped);
            let last = state.messages.iter().next_back();
            let output = MemberOutput::of_messages(state.messages.iter().skip(input_len));
            Ok(MemberRun {
                words: last.map(|message| message.text().into_owned()),
                answer: state.answer,
                stopped,
                calls: Some(state.iteration),
                messages: state.messages,
                input_len,
                handoff: None,
                output,
            })
        })
    }
}

/// The nodes after a choice: the agent, several at once, or the end.
fn next_after_choice(state: &SupervisorState) -> Vec<Target> {
    match state.current_agent.as_deref() {
        None | Some(END) => vec![END.into()],
        Some(_) if state.delegations.is_empty() => vec!["execute_agent".into()],
        Some(_) => {
            let sends = state.delegations.iter().map(|to| SendTo::new("execute_agent", to));
            sends.map(Target::from).collect()
        }
    }
}
