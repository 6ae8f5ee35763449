//! A graph of one's own as a member.

use std::{fmt, sync::Arc};

use hanok_core::BoxFuture;
use hanok_graph::{Context, Drawing, Graph};
use hanok_state::{Message, Role, State};

use super::run::{AgentFailure, run_graph};
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

/// A graph under a name.
#[derive(Clone)]
pub(super) struct GraphMember {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) graph: Arc<dyn AnyGraph>,
}

impl fmt::Debug for GraphMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphMember").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A graph of any state.
pub(super) trait AnyGraph: Send + Sync {
    /// Runs it as a subgraph: the result, or `None` when it reached its limit of super-steps.
    fn run<'a>(
        &'a self,
        input: MemberInput,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Option<String>>, AgentFailure>>;

    fn drawing(&self) -> Drawing;
}

/// A graph with its way in and out.
pub(super) struct OwnGraph<S: State, I, O> {
    pub(super) graph: Graph<S>,
    pub(super) input: I,
    pub(super) output: O,
}

impl<S, I, O, A> AnyGraph for OwnGraph<S, I, O>
where
    S: State,
    I: Fn(MemberInput) -> S::Update + Send + Sync,
    O: Fn(S) -> A + Send + Sync,
    A: Into<Option<String>>,
{
    fn run<'a>(
        &'a self,
        input: MemberInput,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Option<String>>, AgentFailure>> {
        let input = (self.input)(input);
        Box::pin(async move {
            let ended = run_graph(&self.graph, input, context).await?;
            Ok(ended.state_if_done().map(|state| (self.output)(state).into()))
        })
    }

    fn drawing(&self) -> Drawing {
        self.graph.drawing()
    }
}
