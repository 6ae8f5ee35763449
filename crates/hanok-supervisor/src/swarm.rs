//! A swarm: agents that hand a thread to one another, and the last one keeps it.

mod builder;
mod error;
mod state;

use std::{collections::BTreeSet, sync::Arc};

use hanok_agent::{
    AgentState, DataMark, Handoff, HandoffHistory, ReactAgent, StopReason, Summariser,
};
use hanok_graph::{Context, END, Graph, Runtime, START, Snapshot};
use hanok_state::{Message, State};

pub use self::{
    builder::SwarmBuilder,
    error::{SwarmBuildError, SwarmError, SwarmFault},
    state::{SwarmState, SwarmStateUpdate},
};
use crate::member;

/// Agents that hand a thread to one another by calls ([`HandoffTool`](hanok_agent::HandoffTool)), without anybody above
/// them. The agent that a thread was handed to keeps it: the next turn is its own. Clones are the same swarm. B115
///
/// ```text
/// START -> the active agent -> another one -> … -> END
/// ```
///
/// Each agent is a node that runs the agent as a subgraph. What it wrote becomes a part of the conversation; how much of
/// that another one sees is said with the hand-off, and holds in later turns too.
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
#[derive(Debug, Clone)]
pub struct Swarm {
    inner: Arc<Inner>,
    graph: Graph<SwarmState>,
}

/// What the nodes share.
#[derive(Debug)]
struct Inner {
    agents: Vec<ReactAgent>,
    /// The agent that has a thread before any is active.
    first: String,
    summariser: Option<Summariser>,
    max_hops: u32,
}

impl Swarm {
    /// Begins a swarm.
    pub fn builder() -> SwarmBuilder {
        SwarmBuilder::new()
    }

    fn new(name: &str, inner: Inner, runtime: Runtime) -> Result<Self, SwarmBuildError> {
        let inner = Arc::new(inner);
        let names: Vec<_> = inner.agents.iter().map(|agent| agent.name().to_owned()).collect();
        let begins = inner.clone();
        let begin = move |state: &SwarmState| begins.active(state).map(str::to_owned);
        let mut graph = Graph::<SwarmState>::builder(name).branch(START, begin, &names);
        for agent in &inner.agents {
            let (runs, agent) = (inner.clone(), agent.clone());
            let name = agent.name().to_owned();
            let node = move |state: Snapshot<SwarmState>, context: Context| {
                take_turn(runs.clone(), agent.clone(), state, context)
            };
            let targets = names.iter().map(String::as_str).chain([END]);
            graph = graph.node(&name, node).branch(&name, goes_on, targets);
        }
        let steps = inner.max_hops.saturating_add(2);
        match graph.recursion_limit(steps.max(100)).runtime(runtime).build() {
            Ok(graph) => Ok(Self { inner, graph }),
            Err(error) => Err(SwarmBuildError { faults: vec![SwarmFault::Graph(error)] }),
        }
    }

    /// The agents.
    pub fn agents(&self) -> &[ReactAgent] {
        &self.inner.agents
    }

    /// The swarm as a graph: run it, or give it a checkpointer for conversations that last.
    pub fn graph(&self) -> &Graph<SwarmState> {
        &self.graph
    }

    /// The input of a turn in which a user says `text`. The agent that has the thread takes it.
    pub fn ask(&self, text: impl Into<String>) -> SwarmStateUpdate {
        SwarmState::update().message(Message::user(text.into())).hops(0).answer(None).stopped(None)
    }
}

impl Inner {
    /// The agent that takes the turn.
    fn active<'s>(&'s self, state: &'s SwarmState) -> Result<&'s str, SwarmError> {
        let active = if state.active.is_empty() { &self.first } else { &state.active };
        match self.agents.iter().any(|agent| agent.name() == active) {
            true => Ok(active),
            false => {
                let members = self.agents.iter().map(|agent| agent.name().to_owned()).collect();
                Err(SwarmError::UnknownActive { active: active.clone(), members })
            }
        }
    }

    /// Gives the thread to the agent that `handoff` names, with what it is to see of `conversation`.
    async fn hand_over(
        &self,
        handoff: &Handoff,
        conversation: &[Message],
        update: SwarmStateUpdate,
        context: &Context,
    ) -> Result<SwarmStateUpdate, SwarmError> {
        let to = self.agents.iter().find(|agent| agent.name() == handoff.to);
        let language = to.map(ReactAgent::language).unwrap_or_default();
        let (brief, since) = match handoff.history {
            HandoffHistory::Full => (Vec::new(), 0),
            _ => {
                let summariser = self.summariser.as_ref();
                let over =
                    handoff.hand_over(conversation, summariser, language, context, "summary");
                (over.await.map_err(SwarmError::Step)?.messages, conversation.len())
            }
        };
        let task = handoff.message(language, &DataMark::new(&*context.runtime().rng));
        Ok(task
            .into_iter()
            .fold(update, SwarmStateUpdate::message)
            .active(handoff.to.as_str())
            .brief(brief)
            .since(u32::try_from(since).unwrap_or(u32::MAX)))
    }
}

/// Runs the active agent on what it sees, adds what it wrote to the conversation, and hands over if it says so.
async fn take_turn(
    swarm: Arc<Inner>,
    agent: ReactAgent,
    state: Snapshot<SwarmState>,
    context: Context,
) -> Result<SwarmStateUpdate, SwarmError> {
    let view = state.view();
    let (given, input) = (view.len(), agent.input(view, None));
    let ended = member::run(&agent, input, &context).await;
    let (ran, stopped) = ended.map_err(|no_end| SwarmError::of(no_end, agent.name()))?;

    let added = added(&state, &ran, given, agent.name());
    let update = added.iter().cloned().fold(SwarmState::update(), SwarmStateUpdate::message);
    let Some(handoff) = ran.handoff else {
        let update = update.active(agent.name()).answer(ran.answer);
        return Ok(update.stopped(Some(stopped)));
    };
    let conversation: Vec<_> = state.messages.iter().cloned().chain(added).collect();
    let update = swarm.hand_over(&handoff, &conversation, update, &context).await?;
    Ok(match state.hops < swarm.max_hops {
        true => update.hops(state.hops + 1),
        false => update.stopped(Some(StopReason::HopLimit)),
    })
}

/// What the agent wrote. Servers number their calls anew in every conversation, and the agent may not have seen all of
/// this one: an id that another call has is changed.
fn added(state: &SwarmState, ran: &AgentState, given: usize, agent: &str) -> Vec<Message> {
    let calls = state.messages.iter().flat_map(Message::tool_calls);
    let mut taken: BTreeSet<_> = calls.map(|call| call.id.clone()).collect();
    let added = member::added(ran, given, |id| {
        let others = (2..).map(|n: u32| format!("{id}-{n}"));
        let mut free = std::iter::once(id.to_owned()).chain(others);
        let id = free.find(|id| !taken.contains(id)).unwrap_or_default();
        taken.insert(id.clone());
        id
    });
    added.into_iter().map(|message| message.with_metadata("agent", agent)).collect()
}

/// Where the turn goes on: to the agent that it was handed to, or to the end.
fn goes_on(state: &SwarmState) -> String {
    if state.stopped.is_some() { END.to_owned() } else { state.active.clone() }
}
