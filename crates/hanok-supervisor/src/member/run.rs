//! The run of a member as a part of a task.

use std::collections::BTreeMap;

use hanok_agent::{DataMark, Handoff, StopReason};
use hanok_graph::{Context, Graph, Outcome, SubgraphError};
use hanok_state::{Message, Messages, State};

use super::{Member, MemberKind, graph::MemberInput};

/// The reason for which a member came to no end.
#[derive(Debug)]
pub(crate) enum AgentFailure {
    /// It could not go on, or waits for a person.
    Failed(SubgraphError),
    /// The run was asked to stop.
    Stopped,
}

/// The run of a member.
#[derive(Debug)]
pub(crate) struct MemberRun {
    pub(crate) answer: Option<String>,
    pub(crate) stopped: StopReason,
    /// The words for the lack of an answer, where it has some of its own.
    pub(crate) words: Option<String>,
    /// The number of its model calls, where it has a model that decides.
    pub(crate) calls: Option<u32>,
    /// All messages that it saw and wrote.
    pub(crate) messages: Messages,
    /// The number of those that it was given.
    pub(crate) input_len: usize,
    /// To whom it hands over.
    pub(crate) handoff: Option<Handoff>,
}

/// The end of a subgraph.
pub(super) enum GraphEnd<S> {
    Done(S),
    LimitReached(S),
}

impl<S> GraphEnd<S> {
    pub(super) fn state_if_done(self) -> Option<S> {
        match self {
            Self::Done(state) => Some(state),
            Self::LimitReached(_) => None,
        }
    }

    /// The state, and the reason for its end where that is in it.
    fn with_reason(self, stopped: impl Fn(&S) -> Option<StopReason>) -> (S, StopReason) {
        match self {
            Self::Done(state) => {
                let stopped = stopped(&state).unwrap_or(StopReason::EmptyReply);
                (state, stopped)
            }
            Self::LimitReached(state) => (state, StopReason::MaxIterations),
        }
    }
}

impl Member {
    /// Runs the member on `messages` as a subgraph, to its end.
    pub(crate) async fn run(
        &self,
        messages: Vec<Message>,
        context: &Context,
    ) -> Result<MemberRun, AgentFailure> {
        let input_len = messages.len();
        match &self.0 {
            MemberKind::Agent(agent) => {
                let ended = run_graph(agent.graph(), agent.input(messages, None), context).await?;
                let (state, stopped) = ended.with_reason(|state| state.stopped);
                Ok(MemberRun {
                    answer: state.answer,
                    stopped,
                    words: None,
                    calls: Some(state.iteration),
                    messages: state.messages,
                    input_len,
                    handoff: state.handoff,
                })
            }
            MemberKind::Supervisor(supervisor) => {
                let mark = DataMark::new(&*context.runtime().rng);
                let (input_len, input) = supervisor.take_over(messages, &mark);
                let ended = run_graph(supervisor.graph(), input, context).await?;
                let (state, stopped) = ended.with_reason(|state| state.stopped);
                let last = state.messages.iter().next_back();
                Ok(MemberRun {
                    words: last.map(|message| message.text().into_owned()),
                    answer: state.answer,
                    stopped,
                    calls: Some(state.iteration),
                    messages: state.messages,
                    input_len,
                    handoff: None,
                })
            }
            MemberKind::Swarm(swarm) => {
                let ended = run_graph(swarm.graph(), swarm.input(messages), context).await?;
                let (state, stopped) = ended.with_reason(|state| state.stopped);
                let (answer, messages) = (state.answer, state.messages);
                let (words, calls, handoff) = (None, None, None);
                Ok(MemberRun { answer, stopped, words, calls, messages, input_len, handoff })
            }
            MemberKind::Graph(graph) => {
                let input = MemberInput::new(messages.clone());
                let result = graph.graph.run(input, context).await?;
                let stopped = match &result {
                    None => StopReason::MaxIterations,
                    Some(None) => StopReason::EmptyReply,
                    Some(Some(_)) => StopReason::Answered,
                };
                let answer = result.flatten();
                let said = answer.clone().map(Message::assistant);
                let messages = messages.into_iter().chain(said).collect();
                let (words, calls, handoff) = (None, None, None);
                Ok(MemberRun { answer, stopped, words, calls, messages, input_len, handoff })
            }
        }
    }
}

/// Runs `graph` as a subgraph, to its end.
pub(super) async fn run_graph<S: State>(
    graph: &Graph<S>,
    input: S::Update,
    context: &Context,
) -> Result<GraphEnd<S>, AgentFailure> {
    match context.run(graph, input, ()).await.map_err(AgentFailure::Failed)? {
        Outcome::Done(state) => Ok(GraphEnd::Done(state)),
        Outcome::LimitReached { state, .. } => Ok(GraphEnd::LimitReached(state)),
        _ => Err(AgentFailure::Stopped),
    }
}

impl MemberRun {
    /// The messages that the member added to its input, its calls and their results under the ids that `rename` returns.
    pub(crate) fn added(&self, mut rename: impl FnMut(&str) -> String) -> Vec<Message> {
        let mut ids = BTreeMap::new();
        let added = self.messages.iter().skip(self.input_len).cloned().map(|message| {
            let mut calls = message.tool_calls().to_vec();
            for call in &mut calls {
                let own = std::mem::take(&mut call.id);
                call.id = ids.entry(own).or_insert_with_key(|id| rename(id)).clone();
            }
            let answers = message.tool_call_id().and_then(|id| ids.get(id));
            let message = message.with_tool_calls(calls);
            match answers {
                Some(id) => message.with_tool_call_id(id),
                None => message,
            }
        });
        added.collect()
    }
}
