//! A graph of one's own as a member.

use std::fmt;

use hanok_agent::{Language, StopReason};
use hanok_core::BoxFuture;
use hanok_graph::{Context, Drawing, Graph};
use hanok_state::{Message, Role, State};

use super::run::{AgentFailure, AnyMember, MemberRun, run_graph};
use crate::conversation;

/// The input of a member that is a [graph of one's own](super::Member::graph).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MemberInput {
    /// The part of the conversation that it sees, and behind it the task, as a message.
    pub messages: Vec<Message>,
    /// The task, if it is given one.
    pub task: Option<String>,
}

impl MemberInput {
    pub(super) fn new(messages: Vec<Message>) -> Self {
        let task = messages.last().and_then(conversation::task_text).map(str::to_owned);
        Self { messages, task }
    }

    /// The task, or else the last message of a user; empty when there is neither.
    pub fn text(&self) -> String {
        let last = || self.messages.iter().rfind(|message| message.role() == Role::User);
        let said = || last().map(|message| message.text().into_owned());
        self.task.clone().or_else(said).unwrap_or_default()
    }
}

/// A graph under a name, with its way in and out.
pub(super) struct OwnGraph<S: State, C: Send + Sync + 'static, I, O> {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) graph: Graph<S, C>,
    pub(super) input: I,
    pub(super) output: O,
}

impl<S: State, C: Send + Sync + 'static, I, O> fmt::Debug for OwnGraph<S, C, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnGraph").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<S, C, I, O, A> AnyMember<C> for OwnGraph<S, C, I, O>
where
    C: Send + Sync + 'static,
    S: State,
    I: Fn(MemberInput) -> S::Update + Send + Sync,
    O: Fn(S) -> A + Send + Sync,
    A: Into<Option<String>>,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn language(&self) -> Option<Language> {
        None
    }

    fn drawing(&self) -> Drawing {
        self.graph.drawing()
    }

    fn run<'a>(
        &'a self,
        messages: Vec<Message>,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<MemberRun, AgentFailure>> {
        let input = (self.input)(MemberInput::new(messages.clone()));
        Box::pin(async move {
            let ended = run_graph(&self.graph, input, context).await?;
            let result = ended.state_if_done().map(|state| (self.output)(state).into());
            let stopped = match &result {
                None => StopReason::MaxIterations,
                Some(None) => StopReason::EmptyReply,
                Some(Some(_)) => StopReason::Answered,
            };
            let (input_len, answer) = (messages.len(), result.flatten());
            let said = answer.clone().map(Message::assistant);
            let messages = messages.into_iter().chain(said).collect();
            let (words, calls, handoff) = (None, None, None);
            Ok(MemberRun { answer, stopped, words, calls, messages, input_len, handoff })
        })
    }
}
