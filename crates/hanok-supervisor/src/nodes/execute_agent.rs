//! The node that runs the chosen agents: delegations are hand-offs that come back with a result.

use std::{borrow::Cow, sync::Arc};

use hanok_agent::{DataMark, Handoff, HandoffHistory, StopReason};
use hanok_graph::{Context, Snapshot};
use hanok_state::{Message, State};

use crate::{
    conversation,
    error::SupervisorError,
    member::run::{AgentFailure, MemberRun},
    progress::SupervisorProgress,
    prompt,
    settings::{OutputMode, SupervisorSettings},
    state::{SupervisorState, SupervisorStateUpdate},
};

/// Runs the chosen agent as a subgraph, and writes its result. Of several that were chosen at once, each is a task.
pub(crate) async fn execute_agent<C: Send + Sync + 'static>(
    supervisor: Arc<SupervisorSettings<C>>,
    state: Snapshot<SupervisorState>,
    context: Context<C>,
) -> Result<SupervisorStateUpdate, SupervisorError> {
    let sent: Option<Handoff> = context.input().map_err(SupervisorError::Delegation)?;
    // Of several at once, the first result has the notes.
    let is_first = sent.as_ref().is_none_or(|sent| state.delegations.first() == Some(sent));
    let notes = if is_first { &state.notes[..] } else { &[] };
    let delegation = sent.unwrap_or_else(|| {
        let to = state.current_agent.as_deref().unwrap_or_default();
        supervisor.handoff(to, state.task.as_deref())
    });
    supervisor.delegate(delegation, &state, notes, &context).await
}

/// The run of one agent.
struct AgentRun {
    output: String,
    stopped: StopReason,
    /// The messages on the way to the output.
    work: Vec<Message>,
    /// All messages that it saw and wrote.
    messages: Vec<Message>,
    /// To whom it hands over.
    next: Option<Handoff>,
}

impl<C: Send + Sync + 'static> SupervisorSettings<C> {
    /// Runs `delegation` on the supervisor's conversation, and writes the result under the agent's name.
    ///
    /// An agent without an answer is no error: its result says so, and the supervisor goes on.
    pub(crate) async fn delegate(
        &self,
        delegation: Handoff,
        state: &SupervisorState,
        notes: &[String],
        context: &Context<C>,
    ) -> Result<SupervisorStateUpdate, SupervisorError> {
        let messages = state.memory.prompt(&state.messages, self.language).into_iter().collect();
        let view = conversation::model_view(&messages, false, self.language);
        let AgentRun { output, stopped, work, .. } =
            self.to_its_end(&delegation, view, context).await?;
        let mark = DataMark::new(&*context.runtime().rng);
        let Handoff { to: name, task, .. } = delegation;
        let task = task.as_deref();
        let message = conversation::result(&name, task, &output, stopped, &mark, notes);
        let work = work.into_iter().filter(|_| self.output == OutputMode::Full);
        let update = work.fold(SupervisorState::update(), |update, message| {
            update.message(conversation::work(message, &name))
        });
        Ok(update.message(message).insert_agent_outputs(name, output))
    }

    /// Runs the agent and those that it hands over to, and returns the run of the last one.
    async fn to_its_end(
        &self,
        delegation: &Handoff,
        mut view: Vec<Message>,
        context: &Context<C>,
    ) -> Result<AgentRun, SupervisorError> {
        let (mut handoff, mut work, mut hop) = (Cow::Borrowed(delegation), Vec::new(), 0);
        loop {
            let mut ran = self.run(&handoff, &view, hop, context).await?;
            work.append(&mut ran.work);
            let Some(next) = ran.next.take() else { return Ok(AgentRun { work, ..ran }) };
            (handoff, view) = (Cow::Owned(next), ran.messages);
            hop += 1;
        }
    }

    /// Runs the agent that `handoff` names on its part of the conversation.
    async fn run(
        &self,
        handoff: &Handoff,
        view: &[Message],
        hop: u32,
        context: &Context<C>,
    ) -> Result<AgentRun, SupervisorError> {
        let name = handoff.to.clone();
        let Some(agent) = self.agents.iter().find(|agent| agent.name() == name) else {
            // A thread may outlive the agent that it chose.
            return Err(self.undeclared(name));
        };
        context.custom(&SupervisorProgress::AgentStarted { name: name.clone() });
        let language = agent.language().unwrap_or(self.language);
        let summariser = self.summariser.as_ref();
        let step = format!("summary-{hop}");
        let taken = handoff.hand_over(view, summariser, language, context, &step).await;
        let taken = taken.map_err(SupervisorError::Step)?;
        let mark = DataMark::new(&*context.runtime().rng);
        let mut messages = taken.messages;
        match conversation::task(handoff, language, &mark) {
            Some(task) => messages.push(task),
            // It works on what the supervisor itself was told to do.
            None if handoff.history != HandoffHistory::Full => {
                messages.extend(conversation::given_task(view).cloned());
            }
            None => {}
        }
        let ended = agent.run(messages, context).await;
        let ran = self.agent_run(ended.map_err(|failure| failure.of(&name))?, hop, context);
        let (output, stopped) = (ran.output.clone(), ran.stopped);
        context.custom(&SupervisorProgress::AgentFinished { name, output, stopped });
        Ok(ran)
    }

    fn agent_run(&self, ran: MemberRun, hop: u32, context: &Context<C>) -> AgentRun {
        let task = context.task().to_string();
        let task = task.get(..8).unwrap_or(&task);
        let mut work = ran.added(|id| format!("{task}-{hop}-{id}"));
        let next = ran.handoff.filter(|_| hop < self.max_hops);
        let stopped = match ran.stopped {
            StopReason::HandedOff if next.is_none() => StopReason::HopLimit,
            stopped => stopped,
        };
        let output = match (ran.answer.or(ran.words), &next) {
            (Some(answer), _) => answer,
            (None, Some(next)) => prompt::handed_over(&next.to, self.language),
            (None, None) => prompt::no_answer(stopped, ran.calls, self.max_hops, self.language),
        };
        // It is the result, and not the way to it.
        work.pop_if(|last| last.text() == output);
        AgentRun { output, stopped, work, messages: ran.messages.iter().cloned().collect(), next }
    }
}

impl AgentFailure {
    fn of(self, agent: &str) -> SupervisorError {
        let agent = agent.to_owned();
        match self {
            Self::Failed(source) => SupervisorError::Agent { agent, source },
            Self::Stopped | Self::Limit(_) => SupervisorError::Stopped { agent },
        }
    }
}
