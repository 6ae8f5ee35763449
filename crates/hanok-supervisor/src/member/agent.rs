//! An agent as a member.

use std::collections::BTreeSet;

use super::{
    MemberInput,
    output::MemberOutput,
    run::{AgentFailure, AnyMember, MemberRun, run_graph},
};
use hanok_agent::{HasAgent, Language, Protocol, ReactAgent};
use hanok_core::BoxFuture;
use hanok_graph::{Context, Drawing};
use hanok_state::Message;

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

    fn protocol(&self) -> Option<Protocol> {
        Some(self.protocol())
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
            // What it was given is known by its ids: an agent with a memory may take some of it out.
            let given = named(input.messages);
            let ids: BTreeSet<_> =
                given.iter().filter_map(Message::id).map(str::to_owned).collect();
            let input = self.input(given, None);
            let ended = run_graph(self.graph(), input, name, context).await?;
            let (state, stopped) = ended.with_reason(|state| state.agent().stopped);
            let mut state = state.into_agent();
            if !state.memory.is_empty() {
                let messages = state.memory.prompt(&state.messages, self.language());
                state.messages = messages.into_iter().collect();
            }
            // A memory has no id: it stands for what was given too.
            let is_given = |message: &&Message| message.id().is_none_or(|id| ids.contains(id));
            let input_len = state.messages.iter().take_while(is_given).count();
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

/// `messages`, each with an id of its own.
fn named(messages: Vec<Message>) -> Vec<Message> {
    let taken: BTreeSet<_> = messages.iter().filter_map(Message::id).map(str::to_owned).collect();
    let mut free = (0..).map(|n: u64| format!("given-{n}")).filter(|id| !taken.contains(id));
    let named = messages.into_iter().map(|message| match message.id() {
        Some(_) => message,
        None => message.with_id(free.next().unwrap_or_default()),
    });
    named.collect()
}
