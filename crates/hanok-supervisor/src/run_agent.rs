//! Running one agent as a part of a task.

use std::collections::BTreeMap;

use hanok_agent::{AgentState, AgentStateUpdate, ReactAgent, StopReason};
use hanok_graph::{Context, Outcome, SubgraphError};
use hanok_state::Message;

/// The reason for which an agent came to no end.
#[derive(Debug)]
pub(crate) enum AgentFailure {
    /// It could not go on, or waits for a person.
    Failed(SubgraphError),
    /// The run was asked to stop.
    Stopped,
}

/// Runs `agent` as a subgraph, to its end and why it ended.
pub(crate) async fn run_agent(
    agent: &ReactAgent,
    input: AgentStateUpdate,
    context: &Context,
) -> Result<(AgentState, StopReason), AgentFailure> {
    match context.run(agent.graph(), input, ()).await.map_err(AgentFailure::Failed)? {
        Outcome::Done(state) => {
            let stopped = state.stopped.unwrap_or(StopReason::EmptyReply);
            Ok((state, stopped))
        }
        Outcome::LimitReached { state, .. } => Ok((state, StopReason::MaxIterations)),
        _ => Err(AgentFailure::Stopped),
    }
}

/// The messages that an agent added to its input, its calls and their results under the ids that `rename` returns.
pub(crate) fn added_messages(
    state: &AgentState,
    input_len: usize,
    mut rename: impl FnMut(&str) -> String,
) -> Vec<Message> {
    let mut ids = BTreeMap::new();
    let added = state.messages.iter().skip(input_len).cloned().map(|message| {
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
