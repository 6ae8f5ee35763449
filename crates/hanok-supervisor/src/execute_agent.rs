//! The node that runs the chosen agent.

use std::sync::Arc;

use hanok_agent::{AgentState, DataMark, ReactAgent, StopReason};
use hanok_graph::{Context, Outcome, Snapshot};
use hanok_state::{Message, Role, State};

use crate::{
    SupervisorError, SupervisorProgress, SupervisorState, SupervisorStateUpdate, conversation,
    prompt, supervisor::Inner,
};

/// Runs the chosen agent as a subgraph on what the user said and its task, and writes what it gave.
///
/// An agent without an answer is no error: what it gave says so, and the supervisor goes on.
pub(crate) async fn execute_agent(
    supervisor: Arc<Inner>,
    state: Snapshot<SupervisorState>,
    context: Context,
) -> Result<SupervisorStateUpdate, SupervisorError> {
    let name = state.current_agent.clone().unwrap_or_default();
    let Some(agent) = supervisor.agents.iter().find(|agent| agent.name() == name) else {
        // A thread may outlive the agent that it chose.
        return Err(supervisor.undeclared(name));
    };
    context.custom(&SupervisorProgress::AgentStarted { name: name.clone() });
    let said = state.messages.iter().filter(|message| message.role() == Role::User).cloned();
    let (output, stopped) = run(&supervisor, agent, said, state.task.as_deref(), &context).await?;

    let mark = DataMark::new(&*context.runtime().rng);
    let message = conversation::result(&name, state.task.as_deref(), &output, stopped, &mark);
    context.custom(&SupervisorProgress::AgentFinished {
        name: name.clone(),
        output: output.clone(),
        stopped,
    });
    Ok(SupervisorState::update().message(message).insert_agent_outputs(name, output))
}

/// What the agent gave, and why it ended.
async fn run(
    supervisor: &Inner,
    agent: &ReactAgent,
    said: impl Iterator<Item = Message>,
    task: Option<&str>,
    context: &Context,
) -> Result<(String, StopReason), SupervisorError> {
    let name = || agent.name().to_owned();
    let outcome = context
        .run(agent.graph(), agent.input(said, task), ())
        .await
        .map_err(|source| SupervisorError::Agent { agent: name(), source })?;
    let (state, stopped) = match outcome {
        Outcome::Done(state) => {
            let stopped = state.stopped.unwrap_or(StopReason::EmptyReply);
            (state, stopped)
        }
        Outcome::LimitReached { state, .. } => (state, StopReason::MaxIterations),
        _ => return Err(SupervisorError::Stopped { agent: name() }),
    };
    let AgentState { answer, iteration, .. } = state;
    Ok(match answer {
        Some(answer) => (answer, stopped),
        None => (prompt::no_answer(stopped, iteration, supervisor.language), stopped),
    })
}
