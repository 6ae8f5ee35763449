//! An agent as a member.

use super::{
    MemberInput,
    output::MemberOutput,
    run::{AgentFailure, AnyMember, MemberRun, run_graph},
};
use hanok_agent::{HasAgent, Language, ReactAgent};
use hanok_core::BoxFuture;
use hanok_graph::{Context, Drawing};

impl<S: HasAgent, C: Send + Sync + 'static> AnyMember<C> for ReactAgent<S, C> {
    fn name(&self) -> &str {
        self.name()
    }

    fn description(&self) -> &str {
        self.description()
    }

    fn language(&self) -> Option<Language> {
        Some(self.language())
    }

    fn drawing(&self) -> Drawing {
        self.graph().drawing()
    }

    fn run<'a>(
        &'a self,
        input: MemberInput,
        name: Option<&'a str>,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<MemberRun, AgentFailure>> {
        Box::pin(async move {
            let input_len = input.messages.len();
            let input = self.input(input.messages, None);
            let ended = run_graph(self.graph(), input, name, context).await?;
            let (state, stopped) = ended.with_reason(|state| state.agent().stopped);
            let state = state.into_agent();
            let output = MemberOutput::of_messages(state.messages.iter().skip(input_len));
            Ok(MemberRun {
                answer: state.answer,
                stopped,
                words: None,
                calls: Some(state.iteration),
                messages: state.messages,
                input_len,
                handoff: state.handoff,
                output,
            })
        })
    }
}
