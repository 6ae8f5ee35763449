//! A graph of one's own as a member.

use std::fmt;

use hanok_agent::{Language, Protocol, StopReason};
use hanok_core::BoxFuture;
use hanok_graph::{Context, Drawing, Graph};
use hanok_state::{Message, State};

use super::{
    MemberInput,
    output::MemberOutput,
    run::{AgentFailure, AnyMember, MemberRun, run_graph},
};

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
    A: Into<MemberOutput>,
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

    fn protocol(&self) -> Option<Protocol> {
        None
    }

    fn drawing(&self) -> Drawing {
        self.graph.drawing()
    }

    fn run<'a>(
        &'a self,
        input: MemberInput,
        name: Option<&'a str>,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<MemberRun, AgentFailure>> {
        let messages = input.messages.clone();
        let input = (self.input)(input);
        Box::pin(async move {
            let ended = run_graph(&self.graph, input, name, context).await?;
            let result = ended.state_if_done().map(|state| (self.output)(state).into());
            let (stopped, mut output) = match result {
                None => (StopReason::MaxIterations, MemberOutput::default()),
                Some(output) if output.text.is_none() => (StopReason::EmptyReply, output),
                Some(output) => (StopReason::Answered, output),
            };
            let (input_len, answer) = (messages.len(), output.text.take());
            let said = answer.clone().map(Message::assistant);
            let messages = messages.into_iter().chain(said).collect();
            let (words, calls, handoff) = (None, None, None);
            Ok(MemberRun { answer, stopped, words, calls, messages, input_len, handoff, output })
        })
    }
}
