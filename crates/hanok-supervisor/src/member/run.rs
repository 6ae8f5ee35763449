//! The run of a member as a part of a task.

use std::{collections::BTreeMap, fmt};

use hanok_agent::{Handoff, Language, Protocol, StopReason};
use hanok_core::{BoxFuture, Limit};
use hanok_graph::{Context, Drawing, Graph, Outcome, SubgraphError};
use hanok_state::{Message, Messages, State};

use super::{MemberInput, output::MemberOutput};

/// The reason for which a member came to no end.
#[derive(Debug)]
pub enum AgentFailure {
    /// It could not go on, or waits for a person.
    Failed(SubgraphError),
    /// The run was asked to stop.
    Stopped,
    /// A limit of the turn ended it, and the caller may go on.
    Limit(Limit),
}

/// The run of a member.
#[derive(Debug)]
#[non_exhaustive]
pub struct MemberRun {
    /// Its answer.
    pub answer: Option<String>,
    /// The reason for its end.
    pub stopped: StopReason,
    /// The words for the lack of an answer, where it has some of its own.
    pub words: Option<String>,
    /// The number of its model calls, where it has a model that decides.
    pub calls: Option<u32>,
    /// All messages that it saw and wrote.
    pub messages: Messages,
    /// The number of those that it was given.
    pub input_len: usize,
    /// To whom it hands over.
    pub handoff: Option<Handoff>,
    /// What it output besides its answer.
    pub output: MemberOutput,
}

/// The end of a subgraph.
pub(crate) enum GraphEnd<S> {
    Done(S),
    LimitReached(S),
}

impl<S> GraphEnd<S> {
    pub(crate) fn state_if_done(self) -> Option<S> {
        match self {
            Self::Done(state) => Some(state),
            Self::LimitReached(_) => None,
        }
    }

    /// The state, and the reason for its end where that is in it.
    pub(crate) fn with_reason(self, stopped: impl Fn(&S) -> Option<StopReason>) -> (S, StopReason) {
        match self {
            Self::Done(state) => {
                let stopped = stopped(&state).unwrap_or(StopReason::EmptyReply);
                (state, stopped)
            }
            Self::LimitReached(state) => (state, StopReason::MaxIterations),
        }
    }
}

/// What can be a member.
pub(crate) trait AnyMember<C>: fmt::Debug + Send + Sync {
    fn name(&self) -> &str;

    fn description(&self) -> &str;

    /// The language of what it is told, if it has one.
    fn language(&self) -> Option<Language>;

    /// The protocol of its calls, if it has a model of its own.
    fn protocol(&self) -> Option<Protocol>;

    fn drawing(&self) -> Drawing;

    /// Runs it as a subgraph, to its end: as the run `name` of this task, or as the next one.
    fn run<'a>(
        &'a self,
        input: MemberInput,
        name: Option<&'a str>,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<MemberRun, AgentFailure>>;
}

/// Runs `graph` as a subgraph, to its end: as the run `name` of this task, or as the next one.
pub(crate) async fn run_graph<S: State, C: Send + Sync + 'static>(
    graph: &Graph<S, C>,
    input: S::Update,
    name: Option<&str>,
    context: &Context<C>,
) -> Result<GraphEnd<S>, AgentFailure> {
    let services = context.shared_services();
    let outcome = match name {
        Some(name) => context.run_named(name, graph, input, services).await,
        None => context.run(graph, input, services).await,
    };
    match outcome.map_err(AgentFailure::Failed)? {
        Outcome::Done(state) => Ok(GraphEnd::Done(state)),
        Outcome::LimitReached { which: Limit::Steps(_), state } => {
            Ok(GraphEnd::LimitReached(state))
        }
        Outcome::LimitReached { which, .. } => Err(AgentFailure::Limit(which)),
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
