//! Delegations: hand-offs of a supervisor that come back with a result.

use hanok_agent::{AgentState, DataMark, Handoff, StopReason};
use hanok_graph::Context;
use hanok_state::{Message, State};

use crate::{
    OutputMode, SupervisorError, SupervisorProgress, SupervisorState, SupervisorStateUpdate,
    conversation,
    member::{self, NoEnd},
    prompt,
    supervisor::Inner,
};

/// What came of one agent.
struct Ran {
    output: String,
    stopped: StopReason,
    /// What it wrote on the way.
    work: Vec<Message>,
    /// All that it saw and wrote.
    messages: Vec<Message>,
    /// To whom it hands over.
    next: Option<Handoff>,
}

impl Inner {
    /// Runs `delegation` on the supervisor's conversation, and writes what it gave under the agent's name.
    ///
    /// An agent without an answer is no error: what it gave says so, and the supervisor goes on.
    pub(crate) async fn delegate(
        &self,
        delegation: Handoff,
        state: &SupervisorState,
        context: &Context,
    ) -> Result<SupervisorStateUpdate, SupervisorError> {
        let (name, task) = (delegation.to.clone(), delegation.task.clone());
        let seen = conversation::seen(&state.messages, &[], self.language);
        let Ran { output, stopped, work, .. } = self.to_its_end(delegation, seen, context).await?;
        let mark = DataMark::new(&*context.runtime().rng);
        let message = conversation::result(&name, task.as_deref(), &output, stopped, &mark);
        let work = work.into_iter().filter(|_| self.output == OutputMode::Full);
        let update = work.fold(SupervisorState::update(), |update, message| {
            update.message(conversation::work(message, &name))
        });
        Ok(update.message(message).insert_agent_outputs(name, output))
    }

    /// Runs the agent, and those that it hands over to, and gives what the last one gave.
    async fn to_its_end(
        &self,
        mut handoff: Handoff,
        mut seen: Vec<Message>,
        context: &Context,
    ) -> Result<Ran, SupervisorError> {
        let (mut work, mut hop) = (Vec::new(), 0);
        loop {
            let mut ran = self.run(&handoff, &seen, hop, context).await?;
            work.append(&mut ran.work);
            let Some(next) = ran.next.take() else { return Ok(Ran { work, ..ran }) };
            (handoff, seen) = (next, ran.messages);
            hop += 1;
        }
    }

    /// Runs the agent that `handoff` names on what it is to see of the conversation.
    async fn run(
        &self,
        handoff: &Handoff,
        seen: &[Message],
        hop: u32,
        context: &Context,
    ) -> Result<Ran, SupervisorError> {
        let name = handoff.to.clone();
        let Some(agent) = self.agents.iter().find(|agent| agent.name() == name) else {
            // A thread may outlive the agent that it chose.
            return Err(self.undeclared(name));
        };
        context.custom(&SupervisorProgress::AgentStarted { name: name.clone() });
        let (summariser, language) = (Some(&self.summariser), agent.language());
        let step = format!("summary-{hop}");
        let over = handoff.hand_over(seen, summariser, language, context, &step).await;
        let over = over.map_err(SupervisorError::Step)?;
        let mark = DataMark::new(&*context.runtime().rng);
        let given = over.messages.len() + usize::from(handoff.message(language, &mark).is_some());
        let input = agent.take_over(handoff, over.messages, &mark);
        let ended = member::run(agent, input, context).await;
        let (state, stopped) = ended.map_err(|no_end| no_end.of(&name))?;

        let ran = self.ran(state, stopped, given, hop, context);
        let (output, stopped) = (ran.output.clone(), ran.stopped);
        context.custom(&SupervisorProgress::AgentFinished { name, output, stopped });
        Ok(ran)
    }

    fn ran(
        &self,
        state: AgentState,
        stopped: StopReason,
        given: usize,
        hop: u32,
        context: &Context,
    ) -> Ran {
        let task = context.task().to_string();
        let task = task.get(..8).unwrap_or(&task);
        let mut work = member::added(&state, given, |id| format!("{task}-{hop}-{id}"));
        let next = state.handoff.filter(|_| hop < self.max_hops);
        let stopped = match stopped {
            StopReason::HandedOff if next.is_none() => StopReason::HopLimit,
            stopped => stopped,
        };
        let output = match (state.answer, &next) {
            (Some(answer), _) => {
                // It is the result, and not the way to it.
                work.pop_if(|last| last.text() == answer);
                answer
            }
            (None, Some(next)) => prompt::handed_over(&next.to, self.language),
            (None, None) => {
                prompt::no_answer(stopped, state.iteration, self.max_hops, self.language)
            }
        };
        Ran { output, stopped, work, messages: state.messages.iter().cloned().collect(), next }
    }
}

impl NoEnd {
    fn of(self, agent: &str) -> SupervisorError {
        let agent = agent.to_owned();
        match self {
            Self::Failed(source) => SupervisorError::Agent { agent, source },
            Self::Stopped => SupervisorError::Stopped { agent },
        }
    }
}
